//! A scope of operations on a server, for commands.

use fencepost::{Client, Idempotency};

use crate::failure::Failure;

/// Opens a scope. The first request connects, after its checks.
pub(crate) fn open(url: &str, scope: &str) -> Result<(Client, Idempotency), Failure> {
    let client = Client::builder().connect_lazily(url)?;
    let operations = client.idempotency(scope)?;
    Ok((client, operations))
}
