//! How a client ends: closed, failed, or abandoned by its runtime.

use alloc::sync::Arc;
use core::mem;

use fencepost_core::{Loss, Refusal};

use super::{
    engine::Engine,
    seat::{End, Seat},
    state::Mine,
};
use crate::{DriverFailed, Error, Lost, Native, Refused, clock};

impl Engine {
    /// Fails if the client has been closed, or has failed.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        self.state().check_open()
    }

    /// The client library cannot carry out a call. It would fail again, so nothing is tried again: everything ends at once.
    pub(crate) fn fail(&self, native: Native) {
        let failed = DriverFailed::new(native);
        self.state().failed.get_or_insert_with(|| failed.clone());
        self.end_all(|seat, held| {
            if held {
                let (why, native) = (failed.to_string(), Arc::clone(failed.native()));
                End::Lost(Lost::new(Loss::ConnectionClosed, Some(why), Some(native)).of(&seat.lock))
            } else {
                End::Failed(failed.clone())
            }
        });
        self.bell.notify_one();
    }

    /// Why the client library could not be used, if that has ended the client.
    pub(crate) fn failure(&self) -> Option<DriverFailed> {
        self.state().failed.clone()
    }

    /// Closes the client: everything held is released, everything waited for is given up.
    pub(crate) fn shutdown(&self) {
        let seats = self
            .put(Mine::Nothing, |state, now| {
                state.closed = true;
                state.machines.shutdown(now);
                mem::take(&mut state.seats)
            })
            .0;
        for seat in seats.values() {
            seat.end(End::Closed);
            seat.ring();
        }
        self.link_changed.notify_waiters();
    }

    /// There is no background task any more: nothing will come.
    pub(crate) fn abandon(&self) {
        self.end_all(|seat, held| {
            let detail = Some("the client's runtime was shut down".into());
            if held {
                End::Lost(Lost::new(Loss::ConnectionClosed, detail, None).of(&seat.lock))
            } else {
                End::Refused(Refused::new(Refusal::ConnectionClosed, detail, None).of(&seat.lock))
            }
        });
    }

    /// Ends every contender without the server: `how` says in which way, by whether it has been granted.
    fn end_all(&self, how: impl Fn(&Seat, bool) -> End) {
        let (seats, woken) = {
            let mut state = self.state();
            state.closed = true;
            state.machines.end(clock::now());
            (mem::take(&mut state.seats), state.machines.woken())
        };
        for engine in woken {
            engine.bell.notify_one();
        }
        for seat in seats.values() {
            let held = seat.told().grant.is_some();
            seat.end(how(seat, held));
            seat.ring();
        }
        self.link_changed.notify_waiters();
    }
}
