//! The driver chooses the connection of each command.

use alloc::sync::Arc;

use fencepost_core::{
    Command, CommandId, Failure, Instant, Refusal,
    lowered::{Operation, Outcome, Request},
    redis::Reply,
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use redis::Cmd;

use super::{
    connection, health,
    state::{ConnectionState, Driver},
    subscriptions::{self, Order},
};
use crate::engine::driver::{Completed, ConnectionTask, Driver as Commands, Sink};

impl Driver {
    fn call(&self, id: CommandId, arguments: &[Vec<u8>]) -> BoxFuture<'static, Completed> {
        let (outcome, native) = match &*self.connection_state() {
            ConnectionState::Up(calls, health) if !health.is_dead() => {
                let size = arguments.iter().map(Vec::len).sum();
                let mut command = Cmd::with_capacity(arguments.len(), size);
                for argument in arguments {
                    command.arg(argument.as_slice());
                }
                health.sent();
                // The library gets the command at the first poll, outside the engine's lock. The order does not matter
                // here.
                return calls.call(id, command, Arc::clone(health));
            }
            ConnectionState::Up(_, _) if self.server.is_none() => (Outcome::Failed(Failure::Closed), None),
            ConnectionState::Up(_, _) => (Outcome::Failed(Failure::NotSent), None),
            ConnectionState::Down(native) => (Outcome::Failed(Failure::NotSent), native.clone()),
            ConnectionState::Refused(error, native) => (
                Outcome::Redis(Reply::Error(error.clone())),
                Some(Arc::clone(native)),
            ),
            ConnectionState::Closed => (Outcome::Failed(Failure::Closed), None),
        };
        future::ready(Completed::outcome(id, outcome, native)).boxed()
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
            // An operation of ZooKeeper or of a later core, which a Redis server does not have.
            other => {
                let error = format!("ERR unknown command '{}'", other.name());
                let outcome = Outcome::Redis(Reply::Error(error));
                return future::ready(Completed::outcome(id, outcome, None)).boxed();
            }
        };
        match &self.orders {
            Some(orders) => orders.give(id, order),
            None => {
                let error = "NOPERM there is nothing to subscribe with: see Builder::subscribe_with";
                let outcome = Outcome::Redis(Reply::Error(error.into()));
                future::ready(Completed::outcome(id, outcome, None)).boxed()
            }
        }
    }
}

impl ConnectionTask for Driver {
    fn run(self: Arc<Self>, sink: Arc<dyn Sink>) -> BoxFuture<'static, ()> {
        let commands = {
            let (driver, sink) = (Arc::clone(&self), Arc::clone(&sink));
            async move {
                match driver.server.clone() {
                    Some(server) => connection::run(&driver, &server, &*sink).await,
                    None => {
                        sink.connected();
                        let health = match &*driver.connection_state() {
                            ConnectionState::Up(_, health) => Arc::clone(health),
                            _ => return,
                        };
                        let native = Arc::new(health::look_after(&health, &*sink).await);
                        sink.rejected(Refusal::ConnectionClosed, native);
                    }
                }
            }
        };
        let subscriptions = async move {
            if let Some(orders) = &self.orders {
                subscriptions::run(orders, &*sink).await;
            }
        };
        async move {
            future::join(commands, subscriptions).await;
        }
        .boxed()
    }

    fn finish(self: Arc<Self>, _limit: Instant) -> BoxFuture<'static, ()> {
        *self.connection_state() = ConnectionState::Closed;
        future::ready(()).boxed()
    }
}
