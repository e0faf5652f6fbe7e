//! A scope of operations on a server, for commands.

use fencepost::{Client, Idempotency};

use crate::failure::Failure;

/// Connects, and opens a scope.
pub(crate) async fn open(url: &str, scope: &str) -> Result<(Client, Idempotency), Failure> {
    let (scheme, _) = url.split_once(':').unwrap_or_default();
    if scheme.eq_ignore_ascii_case("memory") {
        return Err(Failure::usage(
            "memory: keeps records within one process, and no other process sees them: give the address of a server, such as redis://HOST:PORT",
        ));
    }
    let client = fencepost::connect(url).await?;
    let operations = client.idempotency(scope)?;
    Ok((client, operations))
}
