//! Inspections of a lock: who holds it and who waits; to ask one of them for the lock, or to take its place from it.

mod contenders;
mod status;

use clap::{Args, ValueEnum};
use fencepost::{Client, Error, Found, Layout, Lock, LockOptions};
use fencepost_core::url::Address;

pub(crate) use contenders::{List, One};
pub(crate) use status::Status;

use crate::{address::address, failure::Failure};

const NODE_PREFIX: &str = "node_";

/// Which lock.
#[derive(Args, Clone, Debug)]
struct Which {
    /// Where the lock is: zk://HOST:PORT/PREFIX or redis://HOST:PORT; by default the value of FENCEPOST_URL
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The lock's name
    name: String,
    /// What kind of lock it is; Redis has the kind mutex only
    #[arg(long, value_name = "KIND", default_value = "mutex")]
    of: Kind,
    /// How many permits the semaphore has
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
    /// Redis stores the holder alone, and other facts about it.
    on_redis: bool,
}

impl Opened {
    /// Lists the contenders, and closes the client. The list is right even if the close fails.
    async fn contenders(self) -> Result<Vec<Found>, Error> {
        let found = self.lock.contenders().await;
        let _closed = self.client.close().await;
        found
    }
}

impl Which {
    /// Returns the address. Fails for options with which the command would inspect another lock than the user means.
    fn check(&self, before: Option<String>) -> Result<String, Failure> {
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
        address(before, self.url.clone()).map_err(Failure::usage)
    }

    /// Connects. `before` is the address before the command's name.
    async fn open(&self, before: Option<String>) -> Result<Opened, Failure> {
        let url = self.check(before)?;
        let client = fencepost::connect(&url).await?;
        let lock = self.lock(&client)?;
        let on_redis = matches!(Address::parse(&url), Ok(Address::Redis(_)));
        Ok(Opened {
            client,
            lock,
            on_redis,
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
