//! Handles the reports of drivers: the outcomes of their commands, and the notices of their connections.

use core::sync::atomic::Ordering;

use fencepost_core::{Key, Refusal, lowered::Notice};

use super::{
    driver::{CommandFuture, Completed, Sink},
    inputs::Engine,
    state::{Awaits, ConnectionStatus},
};
use crate::{Native, Refused};

impl Engine {
    /// Handles the outcome of a command, or the event of a watch.
    pub(crate) fn complete(&self, awaits: Awaits, key: Key, completed: Completed) -> Vec<CommandFuture> {
        if let Completed::Fault(native) = completed {
            self.end_failed(native);
            return Vec::new();
        }
        let (watch, mut commands) = self.put(awaits, |state, _now| state.complete(key, completed));
        commands.extend(watch);
        commands
    }
}

impl Sink for Engine {
    fn connected(&self) {
        self.state().connection = ConnectionStatus::default();
        self.connected_once.store(true, Ordering::Release);
        self.connection_changed.notify_waiters();
    }

    fn connection_failed(&self, native: Native) {
        self.state().connection.last_error = Some(native);
    }

    fn rejected(&self, reason: Refusal, native: Native) {
        self.state().connection = ConnectionStatus {
            last_error: Some(native.clone()),
            rejected: Some(Refused::new(reason, None, Some(native))),
        };
        self.connection_changed.notify_waiters();
    }

    #[cfg(feature = "zookeeper")]
    fn fail(&self, native: Native) {
        self.end_failed(native);
    }

    fn notice(&self, notice: Notice) {
        self.put(Awaits::Nothing, |state, _now| {
            // A driver's notice names only commands that the driver got from the hub.
            let _accepted = state.hub.handle_notice(notice);
        });
    }

    #[cfg(feature = "zookeeper")]
    fn fail_in_flight(&self) {
        use fencepost_core::{Failure, lowered::Outcome};
        self.put(Awaits::Nothing, |state, _now| {
            for id in core::mem::take(&mut state.in_flight).keys() {
                let _issued = state.hub.handle_outcome(*id, Outcome::Failed(Failure::Unknown));
            }
        });
    }

    fn wake(&self) {
        self.wake.notify_one();
    }
}
