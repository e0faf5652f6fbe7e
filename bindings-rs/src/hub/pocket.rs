//! Commands under way that the task of a contender awaits itself.
//!
//! They are lent to it for a short time only. A task may stop polling a call of ours, in a `select!` whose handler waits for something
//! else; an answer that it leaves lying would be a lock that no task knows of. So the background task recalls what is out for longer,
//! and goes on with it.

use alloc::{
    collections::VecDeque,
    sync::{Arc, Weak},
};
use core::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Instant, Key};

use super::{
    engine::Engine,
    machines::{Flight, Landed},
    seat::{Seat, Told},
    state::Mine,
};

/// How long commands are lent to a task. A good deal shorter than any session's timeout, because the confirmations of a session may be
/// among them.
const LENT_FOR: Duration = Duration::from_millis(250);

/// Commands that are lent to a task.
#[derive(Default)]
pub(super) struct Bag(Mutex<Lent>);

#[derive(Default)]
struct Lent {
    flights: Vec<Flight>,
    recalled: bool,
}

impl Bag {
    fn lock(&self) -> MutexGuard<'_, Lent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts commands in; gives them back if the background task has recalled the bag.
    fn put(&self, flights: Vec<Flight>) -> Vec<Flight> {
        let mut lent = self.lock();
        if lent.recalled {
            return flights;
        }
        lent.flights.extend(flights);
        Vec::new()
    }

    /// Takes the commands out, for good.
    fn recall(&self) -> Vec<Flight> {
        let mut lent = self.lock();
        lent.recalled = true;
        mem::take(&mut lent.flights)
    }

    /// Polls what is under way until something has been answered, and takes it out.
    fn answer(&self, cx: &mut Context<'_>) -> Option<(Key, Landed)> {
        let mut lent = self.lock();
        let mut flights = lent.flights.iter_mut().enumerate();
        let (at, answer) = flights.find_map(|(at, flight)| match Pin::new(flight).poll(cx) {
            Poll::Ready(answer) => Some((at, answer)),
            Poll::Pending => None,
        })?;
        lent.flights.remove(at);
        Some(answer)
    }
}

/// The bags that are out, by the time when they are recalled: each is lent for as long, so they stand in that order.
#[derive(Default)]
pub(super) struct Loans(VecDeque<(Instant, Weak<Bag>)>);

impl Loans {
    pub(super) fn lend(&mut self, now: Instant, bag: &Arc<Bag>) {
        self.0.push_back((now.plus(LENT_FOR), Arc::downgrade(bag)));
    }

    /// When the next bag is to be recalled.
    pub(super) fn due(&mut self) -> Option<Instant> {
        while self.0.pop_front_if(|(_, bag)| bag.strong_count() == 0).is_some() {}
        self.0.front().map(|(due, _)| *due)
    }

    /// Recalls what has been out for too long.
    pub(super) fn recall(&mut self, now: Instant) -> Vec<Flight> {
        let mut recalled = Vec::new();
        while let Some((_, bag)) = self.0.pop_front_if(|(due, _)| *due <= now) {
            recalled.extend(bag.upgrade().map(|bag| bag.recall()).into_iter().flatten());
        }
        recalled
    }
}

/// Commands of one contender. Dropped, it leaves what is still under way to the background task.
pub(crate) struct Pocket<'a> {
    engine: &'a Engine,
    key: Key,
    bag: Option<Arc<Bag>>,
}

impl<'a> Pocket<'a> {
    pub(crate) fn new(engine: &'a Engine, key: Key, flights: Vec<Flight>) -> Self {
        let bag = (!flights.is_empty()).then(|| {
            let bag = Arc::<Bag>::default();
            let _empty = bag.put(flights);
            engine.lend(&bag);
            bag
        });
        Self { engine, key, bag }
    }

    /// Carries the commands through until `look` has seen what it looks for.
    pub(crate) async fn until<T>(&mut self, seat: &Seat, mut look: impl FnMut(&mut Told) -> Option<T>) -> T {
        let mut changed = pin!(seat.changed());
        poll_fn(|cx| {
            loop {
                let Some((bag, (key, answer))) = self.answer(cx) else {
                    // First in line for the next change, then a look: nothing is missed in between.
                    while changed.as_mut().poll(cx).is_ready() {
                        changed.set(seat.changed());
                    }
                    return look(&mut seat.told()).map_or(Poll::Pending, Poll::Ready);
                };
                // What comes of the answer is seen here at once: out of the line, or this task would wake itself, and an idle thread
                // would come and take it away.
                changed.set(seat.changed());
                let more = self.engine.land(Mine::Only(self.key), key, answer);
                let left = bag.put(more);
                if !left.is_empty() {
                    self.engine.entrust(left);
                }
                if let Some(seen) = look(&mut seat.told()) {
                    return Poll::Ready(seen);
                }
            }
        })
        .await
    }

    fn answer(&self, cx: &mut Context<'_>) -> Option<(&Bag, (Key, Landed))> {
        let bag = self.bag.as_deref()?;
        let _inside = self.engine.runtime.inside();
        Some((bag, bag.answer(cx)?))
    }
}

impl Drop for Pocket<'_> {
    fn drop(&mut self) {
        let flights = self.bag.take().map(|bag| bag.recall()).unwrap_or_default();
        if !flights.is_empty() {
            self.engine.entrust(flights);
        }
    }
}
