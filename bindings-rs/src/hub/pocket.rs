//! Commands under way that the task of a contender awaits itself.

use core::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use fencepost_core::Key;

use super::{
    engine::{Engine, Mine},
    machines::Flight,
    seat::{Seat, Told},
};

/// Commands of one contender. Dropped, it leaves what is still under way to the background task.
pub(crate) struct Pocket<'a> {
    engine: &'a Engine,
    key: Key,
    flights: Vec<Flight>,
}

impl<'a> Pocket<'a> {
    pub(crate) const fn new(engine: &'a Engine, key: Key, flights: Vec<Flight>) -> Self {
        Self { engine, key, flights }
    }

    /// Carries the commands through until `look` has seen what it looks for.
    pub(crate) async fn until<T>(&mut self, seat: &Seat, mut look: impl FnMut(&Told) -> Option<T>) -> T {
        let mut changed = pin!(seat.changed());
        poll_fn(|cx| {
            loop {
                // First in line for the next change, then a look: nothing is missed in between.
                while changed.as_mut().poll(cx).is_ready() {
                    changed.set(seat.changed());
                }
                let landed = self.land(cx);
                if let Some(seen) = look(&seat.told()) {
                    return Poll::Ready(seen);
                }
                if !landed {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Takes in what has been answered; whether anything has.
    fn land(&mut self, cx: &mut Context<'_>) -> bool {
        let mut landed = Vec::new();
        self.flights.retain_mut(|flight| match Pin::new(flight).poll(cx) {
            Poll::Ready(answer) => {
                landed.push(answer);
                false
            }
            Poll::Pending => true,
        });
        let any = !landed.is_empty();
        for (key, answer) in landed {
            let more = self.engine.land(Mine::Only(self.key), key, answer);
            self.flights.extend(more);
        }
        any
    }
}

impl Drop for Pocket<'_> {
    fn drop(&mut self) {
        if !self.flights.is_empty() {
            self.engine.entrust(mem::take(&mut self.flights));
        }
    }
}
