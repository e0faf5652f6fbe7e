//! A server inside the process, for `memory:` addresses, and the hubs on it.
//!
//! - [`Hub`]: a hub that executes its own commands on a [`Server`]. There is no driver: [`Hub::poll_output`] returns
//!   only events. A command of one hub may cause notices for others. [`Server::take_woken`] returns the hubs that have
//!   outputs to poll.
//! - [`Server`]: the ZooKeeper model, and one connection for each hub. Its controls simulate effects of a network, an
//!   ensemble or an operating system on a connection: [`Server::expire`], [`Server::suspend`], [`Server::pause`].
//! - [`Message`]: a message between a hub and the server.
//!
//! The server has no clock. A session ends only when its hub disconnects, or by [`Server::expire`].

mod connection;
mod hub;
mod messages;
mod server;

pub use connection::{Connected, State};
pub use hub::Hub;
pub use messages::{Kind, Message};
pub use server::{Node, Server};

pub use fencepost_core::url::MEMORY_SESSION_TIMEOUT as SESSION_TIMEOUT;
