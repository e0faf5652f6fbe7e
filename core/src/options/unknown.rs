//! The errors for options that a kind of lock or a server does not have.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::ConfigError;

use super::{Kind, OPTIONS, Server, find};

/// The hint for ZooKeeper, which has no leases.
const LEASES: &str =
    "on ZooKeeper a grant lasts as long as its session: give a session_timeout in the address, or max_hold; ";

/// The error for an option that locks of this kind do not have on this server. It contains the server that has the
/// option, and the options of this kind of lock.
pub(super) fn option(option: &str, server: Server, kind: Kind) -> ConfigError {
    let elsewhere = find(option).filter(|spec| !spec.is_on(server));
    let mut known = String::new();
    if elsewhere.is_some() {
        let (other, hint) = match server {
            Server::Redis => (Server::ZooKeeper, ""),
            Server::ZooKeeper | Server::Memory => (Server::Redis, LEASES),
        };
        known.extend(["it is for ", other.shown(), "; ", hint]);
    }
    let names: Vec<&str> = OPTIONS
        .iter()
        .filter(|spec| spec.is_option_of(server, kind))
        .map(super::OptionSpec::name)
        .collect();
    known.extend([kind.article(), " on ", server.shown(), " has ", &names.join(", ")]);
    error(option, known.into())
}

/// The error for a kind of lock that a server does not have.
pub(super) fn kind(kind: Kind) -> ConfigError {
    let why = "it is for ZooKeeper; Redis has the kind lock and operations only";
    error(kind.constructor(), why.into())
}

/// The error for an inspection of a multi-lock, which does not have its own queue.
pub(super) fn inspection() -> ConfigError {
    let why = "a multi-lock has no queue of its own: inspect each of its locks";
    error("contenders", why.into())
}

/// The error for a revocation request to a holder on Redis, which would not receive it.
pub(super) fn revocation() -> ConfigError {
    let why = "only ZooKeeper has it: a holder on Redis does not receive requests; to take the lock from it, break it";
    error("revoke", why.into())
}

fn error(option: &str, known: Cow<'static, str>) -> ConfigError {
    let option = option.into();
    ConfigError::UnknownOption { option, known }
}
