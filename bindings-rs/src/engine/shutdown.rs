//! The end of a client: a close, a failure, or the end of its runtime.

use alloc::sync::Arc;
use core::mem;

use fencepost_core::{Loss, Refusal};

use super::{
    contender_state::SharedState,
    end::End,
    inputs::Engine,
    state::{ABANDONED, Awaits},
};
use crate::{DriverFailed, Error, Lost, Native, Refused, clock};

impl Engine {
    /// Fails if the client has been closed or abandoned, or has failed.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        self.state().check_open()
    }

    /// Ends the client, because the client library cannot carry out a call and a retry would fail in the same way.
    pub(super) fn end_failed(&self, native: Native) {
        let failed = DriverFailed::new(native);
        self.state().failed.get_or_insert_with(|| failed.clone());
        self.end_all(|contender, held| {
            if held {
                let (why, native) = (failed.to_string(), Arc::clone(failed.native()));
                End::Lost(Lost::new(Loss::ConnectionClosed, Some(why), Some(native)).of(&contender.lock))
            } else {
                End::Failed(failed.clone())
            }
        });
        self.wake.notify_one();
    }

    /// The failure of the client library, if it has ended the client.
    pub(crate) fn failure(&self) -> Option<DriverFailed> {
        self.state().failed.clone()
    }

    /// Closes the client: its grants are lost and released, and its acquires are cancelled.
    pub(crate) fn shutdown(&self) {
        let contenders = self
            .put(Awaits::Nothing, |state, _now| {
                (state.closed, state.abandoned) = (true, false);
                state.hub.shutdown();
                mem::take(&mut state.contenders)
            })
            .0;
        for contender in contenders.values() {
            contender.close();
            contender.unwatch();
            contender.wake();
        }
        self.connection_changed.notify_waiters();
    }

    /// Ends the client, because its background task has ended, and no outcome or notice can come.
    pub(crate) fn abandon(&self) {
        {
            let mut state = self.state();
            state.abandoned = !state.closed;
        }
        self.end_all(|contender, held| {
            let detail = Some(ABANDONED.into());
            if held {
                End::Lost(Lost::new(Loss::ConnectionClosed, detail, None).of(&contender.lock))
            } else {
                End::Refused(Refused::new(Refusal::ConnectionClosed, detail, None).of(&contender.lock))
            }
        });
    }

    /// Ends every contender without a request to the server. `how` returns the end; its argument is whether the
    /// contender had a grant.
    fn end_all(&self, how: impl Fn(&SharedState, bool) -> End) {
        let contenders = {
            let mut state = self.state();
            state.closed = true;
            state.hub.at(clock::now()).disconnect();
            mem::take(&mut state.contenders)
        };
        self.driver.flush();
        for contender in contenders.values() {
            let held = contender.state().grant.is_some();
            contender.end(how(contender, held));
            contender.unwatch();
            contender.wake();
        }
        self.connection_changed.notify_waiters();
    }
}
