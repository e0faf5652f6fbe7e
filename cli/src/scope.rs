//! A scope of operations on a server, for commands.

use fencepost::{Client, Idempotency};

use crate::failure::Failure;

/// Connects, and opens a scope.
pub(crate) async fn open(url: &str, scope: &str) -> Result<(Client, Idempotency), Failure> {
    let client = fencepost::connect(url).await?;
    let operations = client.idempotency(scope)?;
    Ok((client, operations))
}
