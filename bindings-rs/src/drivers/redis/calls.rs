//! Sends commands on a connection of the program, or of the driver.

use alloc::sync::Arc;
use core::{any::TypeId, panic::AssertUnwindSafe};

use fencepost_core::CommandId;
use futures_util::{FutureExt as _, future::BoxFuture};
use redis::{
    Cmd,
    aio::{ConnectionLike, MultiplexedConnection},
};

use super::{health::Health, outcomes};
use crate::engine::driver::Completed;

/// A connection that can send commands.
pub(super) trait Calls: Send + Sync {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed>;
}

/// A connection of the program.
pub(super) struct Given<C>(pub(super) C);

impl<C: 'static> Given<C> {
    /// Whether the library reconnects when the connection has ended. A multiplexed connection ends with its socket.
    /// Managers and clusters reconnect. The driver assumes that other types also reconnect.
    pub(super) fn is_made_again() -> bool {
        TypeId::of::<C>() != TypeId::of::<MultiplexedConnection>()
    }
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Calls for Given<C> {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed> {
        let mut connection = self.0.clone();
        Box::pin(async move {
            // The program's connection may have a type of the program, which may panic.
            let answer = AssertUnwindSafe(connection.req_packed_command(&command)).catch_unwind();
            match answer.await {
                Ok(answer) => {
                    health.answered(&answer);
                    outcomes::completed(id, answer)
                }
                Err(panic) => outcomes::panicked(&*panic),
            }
        })
    }
}

/// The driver's own connection.
pub(super) struct Own(pub(super) MultiplexedConnection);

impl Calls for Own {
    fn call(&self, id: CommandId, command: Cmd, health: Arc<Health>) -> BoxFuture<'static, Completed> {
        let mut connection = self.0.clone();
        Box::pin(async move {
            let answer = connection.send_packed_command(&command).await;
            health.answered(&answer);
            if outcomes::is_from_replica(&answer) {
                health.leave();
            }
            outcomes::completed(id, answer)
        })
    }
}
