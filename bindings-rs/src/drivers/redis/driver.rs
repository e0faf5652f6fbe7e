//! The driver: what is sent where, and by which of its connections.

use alloc::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    Command, CommandId, ConfigError, Failure, Instant, Refusal,
    lowered::{Operation, Outcome, Request},
    redis::Reply,
    url::RedisAddress,
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use redis::{Cmd, aio::ConnectionLike};

use super::{
    connection::{self, Calls, Given, Health},
    server::Server,
    subscriptions::{self, Order, Orders, Source},
};
use crate::{
    Native,
    engine::{
        inputs::Engine,
        machines::{Completed, ConnectionTask, Driver as Commands},
    },
};

/// The driver of one client.
pub(crate) struct Driver {
    /// Where to connect to; nothing for a connection that was given.
    server: Option<Server>,
    line: Mutex<Line>,
    /// Nothing if there is nothing to subscribe with.
    orders: Option<Orders>,
}

/// What can be sent at present.
pub(super) enum Line {
    /// Nothing: there is no connection; and why.
    Down(Option<Native>),
    /// Commands.
    Up(Arc<dyn Calls>, Arc<Health>),
    /// Nothing: the server has refused us.
    Refused(String, Native),
    /// Nothing ever again.
    Over,
}

impl Driver {
    /// A driver that makes its own connections.
    pub(crate) fn own(address: &RedisAddress) -> Result<Self, ConfigError> {
        let server = Server::new(address)?;
        Ok(Self {
            orders: Some(Orders::new(Source::Server(server.clone()))),
            server: Some(server),
            line: Mutex::new(Line::Down(None)),
        })
    }

    /// A driver on a connection that somebody else keeps.
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
            line: Mutex::new(Line::Up(Arc::new(Given(connection)), Arc::new(health))),
            orders: subscribe_with.map(Source::Library).map(Orders::new),
        }
    }

    pub(super) fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The subscriptions may be with a server that is not the one of the address any more.
    pub(super) fn leave_subscriptions(&self) {
        if let Some(orders) = &self.orders {
            orders.leave();
        }
    }

    fn call(&self, id: CommandId, arguments: &[Vec<u8>]) -> BoxFuture<'static, Completed> {
        let (outcome, native) = match &*self.line() {
            Line::Up(calls, health) if !health.is_dead() => {
                let size = arguments.iter().map(Vec::len).sum();
                let mut command = Cmd::with_capacity(arguments.len(), size);
                for argument in arguments {
                    command.arg(argument.as_slice());
                }
                health.sent();
                // The library takes it when it is first polled, outside of the engine's lock: order does not matter here.
                return calls.call(id, command, Arc::clone(health));
            }
            Line::Up(_, _) if self.server.is_none() => (Outcome::Failed(Failure::Closed), None),
            Line::Up(_, _) => (Outcome::Failed(Failure::NotSent), None),
            Line::Down(native) => (Outcome::Failed(Failure::NotSent), native.clone()),
            Line::Refused(error, native) => (
                Outcome::Redis(Reply::Error(error.clone())),
                Some(Arc::clone(native)),
            ),
            Line::Over => (Outcome::Failed(Failure::Closed), None),
        };
        future::ready(completed(id, outcome, native)).boxed()
    }
}

impl Commands for Driver {
    fn start(&self, command: Command<Request>) -> BoxFuture<'static, Completed> {
        let Command { id, mut request, .. } = command;
        let mut channel = || request.arguments.pop().unwrap_or_default();
        let order = match request.operation {
            Operation::Call => return self.call(id, &request.arguments),
            Operation::Subscribe => Order::Subscribe {
                id,
                channel: channel(),
            },
            Operation::Unsubscribe => Order::Unsubscribe {
                id,
                channel: channel(),
            },
            // ZooKeeper's operations, or those of a later core: nothing that a Redis server could do.
            other => {
                let error = format!("ERR unknown command '{}'", other.name());
                let outcome = Outcome::Redis(Reply::Error(error));
                return future::ready(completed(id, outcome, None)).boxed();
            }
        };
        match &self.orders {
            Some(orders) => orders.give(id, order),
            None => {
                let error = "NOPERM there is nothing to subscribe with: see Builder::subscribe_with";
                let outcome = Outcome::Redis(Reply::Error(error.into()));
                future::ready(completed(id, outcome, None)).boxed()
            }
        }
    }
}

impl ConnectionTask for Driver {
    fn run(self: Arc<Self>, engine: Arc<Engine>) -> BoxFuture<'static, ()> {
        let commands = {
            let (driver, engine) = (Arc::clone(&self), Arc::clone(&engine));
            async move {
                match driver.server.clone() {
                    Some(server) => connection::run(&driver, &server, &engine).await,
                    None => {
                        engine.connected();
                        let health = match &*driver.line() {
                            Line::Up(_, health) => Arc::clone(health),
                            _ => return,
                        };
                        let native = Arc::new(connection::look_after(&health, &engine).await);
                        engine.rejected(Refusal::ConnectionClosed, native);
                    }
                }
            }
        };
        let subscriptions = async move {
            if let Some(orders) = &self.orders {
                subscriptions::run(orders, &engine).await;
            }
        };
        async move {
            future::join(commands, subscriptions).await;
        }
        .boxed()
    }

    fn finish(self: Arc<Self>, _limit: Instant) -> BoxFuture<'static, ()> {
        *self.line() = Line::Over;
        future::ready(()).boxed()
    }
}

pub(super) const fn completed(id: CommandId, outcome: Outcome, native: Option<Native>) -> Completed {
    Completed::Outcome {
        id,
        outcome,
        native,
        watch: None,
    }
}
