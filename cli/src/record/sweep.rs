//! Deletes the records of a scope that are no longer needed.

use clap::Args;
use serde_json::json;

use crate::{failure::Failure, output::print, scope::open};

/// The arguments of `record sweep`.
#[derive(Args, Clone, Debug)]
pub(super) struct Sweep {
    /// The scope, as in client.idempotency(SCOPE)
    scope: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sweep {
    pub(super) async fn run(self, url: &str) -> Result<(), Failure> {
        let (client, operations) = open(url, &self.scope)?;
        let deleted = operations.sweep().await;
        // The records are deleted, even if the close fails.
        let _closed = client.close().await;
        let deleted = deleted?;
        let text = if self.json {
            format!("{:#}", json!({ "scope": self.scope, "deleted": deleted }))
        } else {
            format!("deleted: {deleted} of scope {:?}", self.scope)
        };
        print(&text).map_err(Failure::of_output)
    }
}
