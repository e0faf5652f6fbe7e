//! Addresses, parsed into parts for the drivers.

use std::{fmt, mem::offset_of};

use fencepost_core::{ConfigError, url::Address};

use crate::{
    boundary::{Fault, give, guard, require, shared, take_back},
    result::fencepost_result,
    sized::{self, Filled},
    view::{self, fencepost_view},
};

/// The scheme of an address. It says which parts the address has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_scheme {
    /// `memory:NAME`. Its parts are `name`, which may be empty, and `session_timeout`.
    Memory = 1,
    /// `zk://…`. Its parts are `hosts`, `prefix` and `session_timeout`.
    Zookeeper = 2,
    /// `redis://…`. Its parts are `hosts` (one host), `port`, `user`, `password` and `database`.
    Redis = 3,
    /// `rediss://…`: Redis over TLS. It also has the part `ca`.
    RedisTls = 4,
}

/// A parsed address. It never changes, and threads may share it.
#[derive(Debug)]
pub struct fencepost_address(Parts);

#[derive(Default)]
struct Parts {
    scheme: Option<fencepost_scheme>,
    hosts: String,
    name: String,
    prefix: String,
    user: String,
    password: String,
    ca: String,
    port: u16,
    database: u32,
    session_timeout: u64,
}

impl fmt::Debug for Parts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without user and password.
        formatter
            .debug_struct("Parts")
            .field("scheme", &self.scheme)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The parts of an address. A part that the scheme does not have is empty or 0. The views are valid until the
/// address is freed. Later versions may add members at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_address_parts {
    /// The size of the caller's structure. The caller sets it to `sizeof(fencepost_address_parts)` before the
    /// call. The library writes no more bytes than that.
    pub size: usize,
    /// The scheme.
    pub scheme: fencepost_scheme,
    /// `memory:` the name of the server.
    pub name: fencepost_view,
    /// `zk:` all servers, as `HOST:PORT,HOST:PORT`. `redis:` the host; an IPv6 address has no brackets.
    pub hosts: fencepost_view,
    /// `zk:` the path below which the locks are; empty for the root.
    pub prefix: fencepost_view,
    /// `redis:` the user, decoded; may be empty.
    pub user: fencepost_view,
    /// `redis:` the password, decoded; may be empty.
    pub password: fencepost_view,
    /// `zk:` the session timeout to request, in microseconds. `memory:` the session timeout that the client
    /// assumes.
    pub session_timeout: u64,
    /// `redis:` the number of the database.
    pub database: u32,
    /// `redis:` the port.
    pub port: u16,
    /// `rediss:` the path of the file with the certificates that the client trusts, decoded. Empty: the
    /// client trusts the system's certificates.
    pub ca: fencepost_view,
}

/// Parses an address: `memory:`, `memory:NAME?session_timeout=MS`,
/// `zk://HOST:PORT,…/PREFIX?session_timeout=MS`,
/// `redis://USER:PASSWORD@HOST:PORT/DATABASE` or `rediss://…?ca=PATH`. The scheme may have capital letters.
/// The caller frees the address with `fencepost_address_free`. Errors: `INVALID_URL`, `UNKNOWN_SCHEME` and
/// other 1xx; the text of `fencepost_detail` contains neither the user nor the password.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_address_parse(
    url: *const u8,
    url_size: usize,
    address: *mut *mut fencepost_address,
) -> fencepost_result {
    guard(|| {
        require(address)?;
        // SAFETY: the header requires a readable view.
        let url = unsafe { view::text(url, url_size) }?;
        let parts = parse(url)?;
        // SAFETY: checked above.
        unsafe { give(address, fencepost_address(parts)) };
        Ok(())
    })
}

// SAFETY: its size comes first.
unsafe impl Filled for fencepost_address_parts {
    const NAME: &'static str = "fencepost_address_parts";
    const FIRST: usize = offset_of!(Self, ca) + size_of::<fencepost_view>();
}

/// Writes the parts of an address. Errors: `BAD_ARGUMENT` if `parts->size` is not set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_address_read(
    address: *const fencepost_address,
    parts: *mut fencepost_address_parts,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires parts with their size, or NULL.
        let size = unsafe { sized::check(parts) }?;
        // SAFETY: the header requires a valid address or NULL.
        let ours = &unsafe { shared(address) }?.0;
        let shown = fencepost_address_parts {
            size,
            scheme: ours.scheme.ok_or_else(|| {
                Fault::bad_argument("the address has no scheme: make it with fencepost_address_parse")
            })?,
            name: fencepost_view::of(ours.name.as_bytes()),
            hosts: fencepost_view::of(ours.hosts.as_bytes()),
            prefix: fencepost_view::of(ours.prefix.as_bytes()),
            user: fencepost_view::of(ours.user.as_bytes()),
            password: fencepost_view::of(ours.password.as_bytes()),
            session_timeout: ours.session_timeout,
            database: ours.database,
            port: ours.port,
            ca: fencepost_view::of(ours.ca.as_bytes()),
        };
        // SAFETY: checked above.
        unsafe { sized::fill(parts, size, &shown) };
        Ok(())
    })
}

/// Frees an address. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_address_free(address: *mut fencepost_address) {
    // SAFETY: the header requires an address that is not used again.
    unsafe { take_back(address) }
}

fn parse(url: &str) -> Result<Parts, ConfigError> {
    Ok(match Address::parse(url)? {
        Address::Memory {
            name,
            session_timeout,
        } => Parts {
            scheme: Some(fencepost_scheme::Memory),
            name,
            session_timeout: u64::try_from(session_timeout.as_micros()).unwrap_or(u64::MAX),
            ..Parts::default()
        },
        Address::ZooKeeper {
            hosts,
            prefix,
            session_timeout,
        } => Parts {
            scheme: Some(fencepost_scheme::Zookeeper),
            hosts: hosts.join(","),
            prefix,
            session_timeout: u64::try_from(session_timeout.as_micros()).unwrap_or(u64::MAX),
            ..Parts::default()
        },
        Address::Redis(server) => Parts {
            scheme: Some(if server.tls {
                fencepost_scheme::RedisTls
            } else {
                fencepost_scheme::Redis
            }),
            hosts: server.host,
            user: server.credentials.user,
            password: server.credentials.password,
            ca: server.ca.unwrap_or_default(),
            port: server.port,
            database: server.database,
            ..Parts::default()
        },
        other => {
            return Err(ConfigError::InvalidUrl {
                url: other.shown(),
                why: "this libfencepost is too old for this kind of address: use a newer one".into(),
            });
        }
    })
}
