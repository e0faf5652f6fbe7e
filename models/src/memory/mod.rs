//! A server inside the process, for `memory:` addresses, and the hubs on it.
//!
//! - [`Hub`]: a hub that executes its own commands on a [`Server`]. There is no driver: [`Hub::poll_output`] returns
//!   only events. A command of one hub may cause notices for others. [`Server::take_woken`] returns the hubs that have
//!   something to poll.
//! - [`Server`]: the ZooKeeper model, and one connection for each hub. Its controls do to a connection what a network,
//!   an ensemble or an operating system does: [`Server::expire`], [`Server::suspend`], [`Server::pause`].
//! - [`Message`]: what a hub and the server have sent each other.
//!
//! The server has no clock. A session ends when its hub disconnects, or by [`Server::expire`], and never by itself.

mod connection;
mod hub;
mod record;
mod server;

pub use connection::{Connected, State};
pub use hub::Hub;
pub use record::{Kind, Message};
pub use server::{Node, Server};

use core::time::Duration;

/// The session timeout of a hub that asks for no other. The server does not enforce it, so it is long: a grant then
/// survives a program that computes for a while.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(60);
