//! The address of the server, from an option or from the environment, and checks of that server's features.

use fencepost::Error;
use fencepost_core::{
    ConfigError,
    options::{Kind, Server},
    url::Address,
};

use crate::output::with_causes;

/// The variable with the address, if no option has it. Other users can see the arguments of a process, and an address
/// may contain a password.
const VARIABLE: &str = "FENCEPOST_URL";

/// The error for `memory:`, whose server is inside one process.
const MEMORY: &str = "memory: is a server inside one process, which no other process sees: give the address of a server, such as redis://HOST:PORT or zk://HOST:PORT/PREFIX";

/// Returns the address of a server that other processes can also use, as text and in parts.
pub(crate) fn address(before: Option<String>, after: Option<String>) -> Result<(String, Address), String> {
    let url = given(before, after)?;
    let (scheme, _) = url.split_once(':').unwrap_or_default();
    if scheme.eq_ignore_ascii_case("memory") {
        return Err(MEMORY.into());
    }
    match Address::parse(&url) {
        Ok(address) => Ok((url, address)),
        Err(error) => {
            let advises_memory = matches!(error, ConfigError::UnknownScheme { .. });
            let text = with_causes(&Error::from(error));
            Err(if advises_memory {
                text.replace("memory:, ", "")
            } else {
                text
            })
        }
    }
}

/// The kind of server at an address.
pub(crate) fn server(address: &Address) -> Server {
    match address {
        Address::Redis(_) => Server::Redis,
        _ => Server::ZooKeeper,
    }
}

/// Fails if the server does not have the kind of lock that `option` needs. `lock` is the name of the kind in the error.
pub(crate) fn demand(server: Server, kind: Kind, option: &str, lock: &str) -> Result<(), String> {
    if server.has(kind) {
        return Ok(());
    }
    let server = server.shown();
    Err(format!(
        "{option} needs a {lock}, which {server} does not have: use ZooKeeper (zk://HOST:PORT/PREFIX), or leave out {option}"
    ))
}

/// Returns the address, which the user wrote before or after the command's name.
fn given(before: Option<String>, after: Option<String>) -> Result<String, &'static str> {
    match (before, after) {
        (Some(_), Some(_)) => Err("--url is given twice: give one address"),
        (Some(url), None) | (None, Some(url)) => Ok(url),
        (None, None) => match std::env::var(VARIABLE) {
            Ok(url) if url.is_empty() => Err(
                "there is no address: FENCEPOST_URL is empty: set it to redis://HOST:PORT or zk://HOST:PORT/PREFIX, or give --url",
            ),
            Ok(url) => Ok(url),
            Err(std::env::VarError::NotPresent) => Err(
                "there is no address: give --url redis://HOST:PORT or zk://HOST:PORT/PREFIX, or set FENCEPOST_URL",
            ),
            Err(std::env::VarError::NotUnicode(_)) => Err("the value of FENCEPOST_URL is not text"),
        },
    }
}
