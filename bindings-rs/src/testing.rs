//! Control over `memory:NAME`, for tests: sessions that expire, connections that are cut, clients that pause.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
//! use fencepost::{Error, Loss, testing::MemoryServer};
//!
//! let server = MemoryServer::open("memory:stock")?;
//! let client = fencepost::connect("memory:stock").await?;
//! let grant = client.lock("42")?.acquire().await?;
//! server.session(&client)?.expire()?;
//! let lost = grant.lost().await;
//! assert_eq!(lost.reason(), Loss::SessionExpired);
//! # Ok(()) }
//! ```

use alloc::sync::Arc;
use core::fmt;

use fencepost_core::{ConfigError, Instant, Misuse, url::Address};
pub use fencepost_models::memory::{Kind as MessageKind, State as SessionState};
use fencepost_models::{hub::MemoryServer as Model, memory::Connected};

use crate::{Client, Error, drivers::memory::Place};

/// The server of the clients whose address is `memory:NAME`. It exists as long as one of them or this value exists.
/// Clones are the same server, and any thread may use it. No method waits.
///
/// The server has no clock. A session ends when its client is closed, or by [`Session::expire`], and never by itself.
#[derive(Clone)]
pub struct MemoryServer {
    place: Arc<Place>,
    address: String,
}

impl MemoryServer {
    /// The server of the clients with this address.
    ///
    /// # Errors
    /// [`Error::Config`] for an address other than `memory:NAME`.
    pub fn open(url: &str) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        match &address {
            Address::Memory { name, .. } if name.is_empty() => Err(ConfigError::InvalidUrl {
                url: url.into(),
                why: "without a name, each client has a new server: give memory:NAME".into(),
            }
            .into()),
            Address::Memory { name, .. } => Ok(Self {
                place: Place::named(name),
                address: address.shown(),
            }),
            other => Err(ConfigError::InvalidUrl {
                url: other.shown(),
                why: "it is not a server in this process: use memory:NAME".into(),
            }
            .into()),
        }
    }

    /// The session of a client.
    ///
    /// # Errors
    /// [`Error::Config`] for a client of another server; [`Misuse::Closed`] if the client is closed.
    pub fn session(&self, client: &Client) -> Result<Session, Error> {
        let driver = client.in_memory();
        let Some(driver) = driver.filter(|driver| Arc::ptr_eq(&driver.place, &self.place)) else {
            return Err(ConfigError::InvalidOption {
                option: "client",
                value: format!("{client:?}"),
                why: "it is not connected to this server: give a client with this server's address",
            }
            .into());
        };
        let session = self.of(driver.id);
        session.known()?;
        Ok(session)
    }

    /// The sessions of all clients that are not closed, in the order in which they connected.
    #[must_use]
    pub fn sessions(&self) -> Vec<Session> {
        let server = &self.place.server;
        let ids: Vec<u64> = server.with(|server| server.sessions().map(|known| known.hub).collect());
        ids.into_iter().map(|id| self.of(id)).collect()
    }

    /// All nodes, in the order of their paths, without the root.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        self.place.server.with(|server| {
            let nodes = server.nodes().map(|node| Node {
                path: node.path.into(),
                data: node.data.into(),
                hub: (node.hub != 0).then_some(node.hub),
            });
            nodes.collect()
        })
    }

    /// Starts or stops recording all messages between clients and the server. A start empties the list of messages; a
    /// stop keeps it. A new server does not record. The list grows until the next start.
    pub fn record(&self, on: bool) {
        self.place.server.with(|server| server.record(on));
    }

    /// The recorded messages with a number above `after`, in their order.
    #[must_use]
    pub fn messages(&self, after: u64) -> Vec<Message> {
        self.place.server.with(|server| {
            let messages = server.messages(after).iter();
            messages.map(Message::from).collect()
        })
    }

    fn of(&self, hub: u64) -> Session {
        Session {
            place: Arc::clone(&self.place),
            hub,
        }
    }
}

impl fmt::Debug for MemoryServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryServer").field(&self.address).finish()
    }
}

/// The present session of a client, also after an earlier session has expired. Clones are the same session.
///
/// A control changes nothing if the client is already in the requested state. It wakes the clients that it concerns.
/// All methods but [`hub`](Self::hub) fail with [`Misuse::Closed`] if the client is closed.
#[derive(Clone)]
pub struct Session {
    place: Arc<Place>,
    hub: u64,
}

impl Session {
    /// The number of the client on its server.
    #[must_use]
    pub const fn hub(&self) -> u64 {
        self.hub
    }

    /// The number of the session. It changes when the client gets a new session.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn id(&self) -> Result<i64, Error> {
        Ok(self.known()?.session.0)
    }

    /// The state of the session.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn state(&self) -> Result<SessionState, Error> {
        Ok(self.known()?.state)
    }

    /// Whether the client is paused.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn is_paused(&self) -> Result<bool, Error> {
        Ok(self.known()?.paused)
    }

    /// Ends the session, as a server does when it receives nothing from a client for the session timeout: its locks are
    /// free. A connected client loses its grants at once, a suspended client when it reconnects, and a paused client
    /// when it resumes. The client then gets a new session.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn expire(&self) -> Result<(), Error> {
        self.control(Model::expire)
    }

    /// Cuts the connection. The server keeps the session until it is [expired](Self::expire). The client ends its
    /// grants itself when the session timeout has passed by its own clock.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn suspend(&self) -> Result<(), Error> {
        self.control(Model::suspend)
    }

    /// Lets the client connect again: in its session, or in a new one if the server has ended the session.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn reconnect(&self) -> Result<(), Error> {
        self.control(Model::reconnect)
    }

    /// Pauses the client, as if its process were stopped: it receives nothing, sends nothing, and its calls wait. Its
    /// grants stay held, even if another client gets the lock. A close resumes it.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn pause(&self) -> Result<(), Error> {
        self.control(Model::pause)
    }

    /// Resumes the client. It then receives the notices and replies that it has missed.
    ///
    /// # Errors
    /// [`Misuse::Closed`] if the client is closed.
    pub fn resume(&self) -> Result<(), Error> {
        self.control(Model::resume)
    }

    /// Runs a control. The server knows every client that is not closed.
    fn control(&self, control: fn(&Model, u64) -> Result<(), ConfigError>) -> Result<(), Error> {
        control(&self.place.server, self.hub).map_err(|_closed| Misuse::Closed)?;
        self.place.wake_others(0);
        Ok(())
    }

    fn known(&self) -> Result<Connected, Error> {
        let known = self
            .place
            .server
            .with(|server| server.sessions().find(|known| known.hub == self.hub));
        Ok(known.ok_or(Misuse::Closed)?)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("hub", &self.hub)
            .field("known", &self.known().ok())
            .finish()
    }
}

/// A node on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// The path.
    pub path: String,
    /// The data.
    pub data: Vec<u8>,
    /// The [client](Session::hub) whose session owns the node; `None` if the node is not ephemeral.
    pub hub: Option<u64>,
}

/// A message between a client and the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Its number in the list, from 1.
    pub number: u64,
    /// When it was sent, by [`clock::now`](crate::clock::now). An event has the time at which the client got it.
    pub time: Instant,
    /// The [client](Session::hub) that sent or got it.
    pub hub: u64,
    /// The session in which it was sent.
    pub session: i64,
    /// The kind of the message.
    pub kind: MessageKind,
    /// The id of the client's command: the command of the request; of the request that a reply answers; or of the
    /// request that set a watch. `None` for a change of the session.
    pub command: Option<u64>,
    /// A request: `create`, `children`, `get`, `set`, `delete`, `sync` or `multi`. A reply: `created`, `children`,
    /// `data`, `done` or `error`. An event: what has happened to the watched node (`created`, `deleted`, `changed`, or
    /// `children` if its children have changed), or the session's new state (`connecting`, `connected`, `suspended`,
    /// `expired` or `closed`).
    pub name: &'static str,
    /// The node; of a `multi`, that of each part; of the reply `children`, the names in it.
    pub paths: Vec<String>,
    /// The error code of the reply `error`, such as -101.
    pub error: Option<i32>,
    /// The same as a text for people. Later versions may change its wording.
    pub text: String,
}

impl From<&fencepost_models::memory::Message> for Message {
    fn from(message: &fencepost_models::memory::Message) -> Self {
        Self {
            number: message.number,
            time: message.time,
            hub: message.hub,
            session: message.session.0,
            kind: message.kind,
            command: (message.command.0 != 0).then_some(message.command.0),
            name: message.name,
            paths: message.paths.clone(),
            error: (message.error != 0).then_some(message.error),
            text: message.text.clone(),
        }
    }
}
