//! Inspections of a lock: they list its holders and waiters, and revoke or break one of them.

mod contenders;
mod status;

use clap::{Args, ValueEnum};
use fencepost::{Client, Error, Found, Layout, Lock, LockOptions};
use fencepost_core::options::{self, Server};

pub(crate) use contenders::{List, One};
pub(crate) use status::Status;

use crate::{
    address::{address, demand, server},
    failure::Failure,
};

const NODE_PREFIX: &str = "node_";

/// The lock to inspect.
#[derive(Args, Clone, Debug)]
struct Which {
    /// The address of the lock's server: zk://HOST:PORT/PREFIX or redis://HOST:PORT; by default the value of
    /// FENCEPOST_URL
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The lock's name
    name: String,
    /// The kind of lock; Redis has only mutex
    #[arg(long, value_name = "KIND", default_value = "mutex")]
    of: Kind,
    /// The number of permits of the semaphore
    #[arg(long, value_name = "N", required_if_eq("of", "semaphore"))]
    permits: Option<u32>,
    /// The layout of the node names on ZooKeeper; curator by default
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Names>,
    /// The prefix of the node names, only with --layout plain; node_ by default
    #[arg(long, value_name = "PREFIX")]
    node_prefix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Mutex,
    /// An unfair lock: one node
    Single,
    ReadWrite,
    Election,
    Semaphore,
}

impl Kind {
    /// The kind as a value of `--of`.
    fn shown(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().into())
    }

    /// The core's kind of lock.
    const fn in_the_core(self) -> options::Kind {
        match self {
            Self::Mutex => options::Kind::Mutex,
            Self::Single => options::Kind::Single,
            Self::ReadWrite => options::Kind::Writer,
            Self::Election => options::Kind::Election,
            Self::Semaphore => options::Kind::Semaphore,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Names {
    Curator,
    Kazoo,
    Plain,
}

/// A lock on a server.
struct Opened {
    client: Client,
    lock: Lock,
    /// Redis stores only the holder, with other data.
    on_redis: bool,
}

impl Opened {
    /// Lists the contenders, and closes the client. The list is valid even if the close fails.
    async fn contenders(self) -> Result<Vec<Found>, Error> {
        let found = self.lock.contenders().await;
        let _closed = self.client.close().await;
        found
    }
}

impl Which {
    /// Returns the address and its server. Fails for options that do not fit together, because the command would
    /// inspect a different lock than the user intends; and for a kind that the server does not have.
    fn check(&self, before: Option<String>) -> Result<(String, Server), Failure> {
        if self.node_prefix.is_some() && self.layout != Some(Names::Plain) {
            return Err(Failure::usage(
                "--node-prefix is for the layout plain alone: add --layout plain, or leave it out",
            ));
        }
        if self.permits.is_some() && self.of != Kind::Semaphore {
            return Err(Failure::usage(
                "--permits is for semaphores alone: add --of semaphore, or leave it out",
            ));
        }
        let (url, address) = address(before, self.url.clone()).map_err(Failure::usage)?;
        let (server, of) = (server(&address), self.of.shown());
        let (option, lock) = (format!("--of {of}"), format!("lock of the kind {of}"));
        demand(server, self.of.in_the_core(), &option, &lock).map_err(Failure::usage)?;
        Ok((url, server))
    }

    /// Opens the lock. The first request connects. `before` is the address before the command's name.
    fn open(&self, before: Option<String>) -> Result<Opened, Failure> {
        let (url, server) = self.check(before)?;
        let client = Client::builder().connect_lazily(&url)?;
        let lock = self.lock(&client)?;
        Ok(Opened {
            client,
            lock,
            on_redis: server == Server::Redis,
        })
    }

    fn lock(&self, client: &Client) -> Result<Lock, Error> {
        let mut options = LockOptions::new();
        if let Some(layout) = self.layout {
            options = options.layout(match layout {
                Names::Curator => Layout::Curator,
                Names::Kazoo => Layout::Kazoo,
                Names::Plain => Layout::Plain {
                    prefix: self.node_prefix.as_deref().unwrap_or(NODE_PREFIX).into(),
                },
            });
        }
        Ok(match self.of {
            Kind::Mutex => client.lock_with(&self.name, options)?,
            Kind::Single => client.lock_with(&self.name, options.fair(false))?,
            Kind::ReadWrite => client.read_write_lock_with(&self.name, options)?.writer().clone(),
            Kind::Election => client.election_with(&self.name, options)?,
            Kind::Semaphore => {
                client.semaphore_with(&self.name, self.permits.unwrap_or_default(), options)?
            }
        })
    }
}
