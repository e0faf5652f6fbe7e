//! Commands under way that the task of a contender awaits itself.

use core::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use fencepost_core::Key;

use super::{
    engine::Engine,
    machines::{Flight, Landed},
    seat::{Seat, Told},
    state::Mine,
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
                let Some((key, answer)) = self.answer(cx) else {
                    // First in line for the next change, then a look: nothing is missed in between.
                    while changed.as_mut().poll(cx).is_ready() {
                        changed.set(seat.changed());
                    }
                    return look(&seat.told()).map_or(Poll::Pending, Poll::Ready);
                };
                // What comes of the answer is seen here at once: out of the line, or this task would wake itself, and an idle thread
                // would come and take it away.
                changed.set(seat.changed());
                let more = self.engine.land(Mine::Only(self.key), key, answer);
                self.flights.extend(more);
                if let Some(seen) = look(&seat.told()) {
                    return Poll::Ready(seen);
                }
            }
        })
        .await
    }

    /// Polls what is under way until something has been answered, and takes it out.
    fn answer(&mut self, cx: &mut Context<'_>) -> Option<(Key, Landed)> {
        let mut flights = self.flights.iter_mut().enumerate();
        let (at, answer) = flights.find_map(|(at, flight)| match Pin::new(flight).poll(cx) {
            Poll::Ready(answer) => Some((at, answer)),
            Poll::Pending => None,
        })?;
        self.flights.remove(at);
        Some(answer)
    }
}

impl Drop for Pocket<'_> {
    fn drop(&mut self) {
        if !self.flights.is_empty() {
            self.engine.entrust(mem::take(&mut self.flights));
        }
    }
}
