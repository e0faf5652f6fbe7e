//! The shared state of a driver: the server's address, and the state of the connection.

use alloc::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{ConfigError, url::RedisAddress};
use redis::aio::ConnectionLike;

use super::{
    calls::{Calls, Given},
    health::Health,
    server::Server,
    subscriptions::{Orders, Source},
};
use crate::Native;

/// The driver of one client.
pub(crate) struct Driver {
    /// The server to connect to; `None` for a connection of the program.
    pub(super) server: Option<Server>,
    state: Mutex<ConnectionState>,
    /// `None` if the driver cannot subscribe.
    pub(super) orders: Option<Orders>,
}

/// The state of the connection: which requests the driver can send.
pub(super) enum ConnectionState {
    /// No requests, because there is no connection; with the reason.
    Down(Option<Native>),
    /// Commands.
    Up(Arc<dyn Calls>, Arc<Health>),
    /// No requests, because the server has refused the client.
    Refused(String, Native),
    /// No requests any more: the client is closed.
    Closed,
}

impl Driver {
    /// A driver that makes its own connections.
    pub(crate) fn own(address: &RedisAddress) -> Result<Self, ConfigError> {
        let server = Server::new(address)?;
        Ok(Self {
            orders: Some(Orders::new(Source::Server(server.clone()))),
            server: Some(server),
            state: Mutex::new(ConnectionState::Down(None)),
        })
    }

    /// A driver on a connection of the program.
    pub(crate) fn given<C>(connection: C, subscribe_with: Option<redis::Client>) -> Self
    where
        C: ConnectionLike + Clone + Send + Sync + 'static,
    {
        let health = if Given::<C>::is_made_again() {
            Health::default()
        } else {
            Health::mortal()
        };
        Self {
            server: None,
            state: Mutex::new(ConnectionState::Up(Arc::new(Given(connection)), Arc::new(health))),
            orders: subscribe_with.map(Source::Library).map(Orders::new),
        }
    }

    pub(super) fn connection_state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection for subscriptions: the address may now lead to another server.
    pub(super) fn leave_subscriptions(&self) {
        if let Some(orders) = &self.orders {
            orders.leave();
        }
    }
}
