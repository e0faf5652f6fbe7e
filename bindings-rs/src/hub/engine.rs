//! A client's machines under their lock.
//!
//! Every input goes through [`Engine::put`]: one critical section puts it in, polls dry, and hands commands to the client library in
//! the order polled. What they come to is awaited outside: by the task whose contender it is (see [`Pocket`](super::pocket::Pocket)),
//! so that an acquire costs no hop to another task, and by the background task for everything else.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};
use core::{mem, time::Duration};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use fencepost_core::{
    CommandId, Event, Failure, Instant, Intent, Key, Loss, Misuse, OwnerId, Patience, Refusal, Settings,
    lowered::{Notice, Outcome},
};
use futures_util::future::{self, Either};
use tokio::sync::Notify;

use super::{
    machines::{Flight, Landed, Machines, Polled},
    seat::{End, Seat},
};
use crate::{Lost, Native, Refused, clock};

/// How long a release waits for the server's word.
pub(crate) const CONFIRM_WITHIN: Duration = Duration::from_secs(5);

/// A client's machines under their lock.
pub(crate) struct Engine {
    state: Mutex<State>,
    errands: Mutex<Errands>,
    /// Rung when the background task has something to do.
    pub(crate) bell: Notify,
    /// How the first connection has come about, once it has or never will.
    first: OnceLock<Result<(), Refused>>,
    first_changed: Notify,
}

struct State {
    machines: Box<dyn Machines>,
    seats: BTreeMap<Key, Arc<Seat>>,
    /// Commands without an outcome: a lost session settles them all.
    under_way: BTreeSet<CommandId>,
    /// Releases, by the time when their callers stop waiting.
    releases: BTreeSet<(Instant, Key)>,
    /// When the background task wakes by itself.
    armed: Option<Instant>,
    seed: u64,
    /// The connection's own last error, while it is not there.
    trouble: Option<Native>,
    closed: bool,
}

/// What others leave to the background task.
#[derive(Default)]
struct Errands {
    flights: Vec<Flight>,
    closing: Vec<Key>,
    hang_up: bool,
}

/// Whose commands the caller awaits itself; the rest goes to the background task.
#[derive(Clone, Copy)]
pub(crate) enum Mine {
    Nothing,
    Only(Key),
    /// Those of the contender with the highest key: it has just been opened.
    Newest,
    All,
}

impl Engine {
    pub(crate) fn new(seed: u64, machines: impl FnOnce(&Weak<Self>) -> Box<dyn Machines>) -> Arc<Self> {
        Arc::new_cyclic(|this| {
            let state = State {
                machines: machines(this),
                seats: BTreeMap::new(),
                under_way: BTreeSet::new(),
                releases: BTreeSet::new(),
                armed: None,
                seed,
                trouble: None,
                closed: false,
            };
            Self {
                state: Mutex::new(state),
                errands: Mutex::default(),
                bell: Notify::new(),
                first: OnceLock::new(),
                first_changed: Notify::new(),
            }
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn errands(&self) -> MutexGuard<'_, Errands> {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something in, and does everything that follows from it. Gives the commands that the caller has to await.
    fn put<T>(&self, mine: Mine, input: impl FnOnce(&mut State, Instant) -> T) -> (T, Vec<Flight>) {
        let mut drained = Drained::default();
        let (result, woken) = {
            let mut state = self.state();
            // The clock is read before anything is sent: a lease starts no later than its command.
            let now = clock::now();
            let result = input(&mut state, now);
            state.drain(now, mine, &mut drained);
            (result, state.machines.woken())
        };
        // From here on wakers run, and no lock is held.
        for seat in drained.told {
            seat.ring();
        }
        for engine in woken {
            engine.bell.notify_one();
        }
        if !drained.others.is_empty() {
            self.entrust(drained.others);
        } else if drained.ring {
            self.bell.notify_one();
        }
        (result, drained.mine)
    }

    /// Opens a contender and has it acquire. Its commands are the caller's to await.
    pub(crate) fn acquire(
        &self,
        settings: &Settings,
        owner: OwnerId,
        patience: Patience,
    ) -> Result<(Key, Arc<Seat>, Vec<Flight>), Misuse> {
        let (opened, flights) = self.put(Mine::Newest, |state, now| {
            if state.closed {
                return Err(Misuse::Closed);
            }
            state.seed = state.seed.wrapping_add(1);
            let key = state.machines.open(now, settings, owner, state.seed)?;
            state.machines.intent(now, key, Intent::Acquire(patience))?;
            let seat = Arc::new(Seat::default());
            state.seats.insert(key, Arc::clone(&seat));
            Ok((key, seat))
        });
        match opened {
            Ok((key, seat)) => Ok((key, seat, flights)),
            Err(misuse) => {
                self.entrust(flights);
                Err(misuse)
            }
        }
    }

    /// Says what the application wants of a contender. Its commands are the caller's to await.
    pub(crate) fn intent(&self, key: Key, intent: Intent) -> (Result<(), Misuse>, Vec<Flight>) {
        self.put(Mine::Only(key), |state, now| {
            state.machines.intent(now, key, intent)?;
            if intent == Intent::Release {
                if let Some(seat) = state.seats.get(&key) {
                    seat.told().releasing = true;
                }
                state.releases.insert((now.plus(CONFIRM_WITHIN), key));
            }
            Ok(())
        })
    }

    /// Takes what a flight has come to.
    pub(crate) fn land(&self, mine: Mine, key: Key, landed: Landed) -> Vec<Flight> {
        let (watch, mut flights) = self.put(mine, |state, now| state.land(now, key, landed));
        flights.extend(watch);
        flights
    }

    /// Takes what the server or connection has said unasked.
    pub(crate) fn notice(&self, notice: Notice) {
        self.put(Mine::Nothing, |state, now| {
            // A notice of a driver names only commands that it was given.
            let _accepted = state.machines.handle_notice(now, notice);
        });
    }

    /// Everything under way counts as in doubt: its connection is gone.
    pub(crate) fn forsake(&self) {
        self.put(Mine::Nothing, |state, now| {
            for id in mem::take(&mut state.under_way) {
                let _issued = state
                    .machines
                    .handle_outcome(now, id, Outcome::Failed(Failure::Unknown));
            }
        });
    }

    /// Leaves something under way to the background task.
    pub(crate) fn entrust(&self, flights: Vec<Flight>) {
        self.errands().flights.extend(flights);
        self.bell.notify_one();
    }

    /// Has the background task close a contender.
    pub(crate) fn discard(&self, key: Key) {
        self.errands().closing.push(key);
        self.bell.notify_one();
    }

    /// Nobody has a use for this client any more: the background task closes it.
    pub(crate) fn hang_up(&self) {
        self.errands().hang_up = true;
        self.bell.notify_one();
    }

    /// The background task's turn: errands and timers.
    pub(crate) fn tend(&self) -> Turn {
        let errands = mem::take(&mut *self.errands());
        let mut flights = errands.flights;
        let mut late = Vec::new();
        let ((), more) = self.put(Mine::All, |state, now| {
            for key in errands.closing {
                state.seats.remove(&key);
                state.machines.close(now, key);
            }
            state.machines.handle_timeout(now);
            while let Some((due, key)) = state.releases.first().copied().filter(|(due, _)| *due <= now) {
                state.releases.remove(&(due, key));
                if let Some(seat) = state.seats.get(&key) {
                    seat.told().unconfirmed = true;
                    late.push(Arc::clone(seat));
                }
            }
        });
        for seat in late {
            seat.ring();
        }
        flights.extend(more);
        Turn {
            flights,
            hang_up: errands.hang_up,
            until: self.state().armed,
        }
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
        for seat in seats.into_values() {
            seat.end(End::Closed);
            seat.ring();
        }
        self.first_changed.notify_waiters();
    }

    /// How many contenders the server has not answered for.
    pub(crate) fn pending(&self) -> usize {
        self.state().machines.pending()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// There is no background task any more: nothing will come.
    pub(crate) fn abandon(&self) {
        let (seats, woken) = {
            let mut state = self.state();
            state.closed = true;
            state.machines.end(clock::now());
            (mem::take(&mut state.seats), state.machines.woken())
        };
        for engine in woken {
            engine.bell.notify_one();
        }
        for seat in seats.into_values() {
            let held = seat.told().grant.is_some();
            let detail = Some("the client's runtime was shut down".into());
            seat.end(if held {
                End::Lost(Lost::new(Loss::ConnectionClosed, detail, None))
            } else {
                End::Refused(Refused::new(Refusal::ConnectionClosed, detail, None))
            });
            seat.ring();
        }
        self.first_changed.notify_waiters();
    }

    /// The connection is there.
    pub(crate) fn connected(&self) {
        self.state().trouble = None;
        if self.first.set(Ok(())).is_ok() {
            self.first_changed.notify_waiters();
        }
    }

    /// The connection cannot be made, or is lost; perhaps later.
    pub(crate) fn troubled(&self, native: Native) {
        self.state().trouble = Some(native);
    }

    /// The connection will never be made.
    pub(crate) fn rejected(&self, reason: Refusal, native: Native) {
        self.state().trouble = Some(Arc::clone(&native));
        let refused = Refused::new(reason, None, Some(native));
        if self.first.set(Err(refused)).is_ok() {
            self.first_changed.notify_waiters();
        }
    }

    /// Whether there has ever been a connection.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.first.get(), Some(Ok(())))
    }

    /// Waits for the first connection.
    pub(crate) async fn ready(&self, limit: Duration) -> Result<(), crate::Error> {
        let first = async {
            loop {
                let mut changed = core::pin::pin!(self.first_changed.notified());
                changed.as_mut().enable();
                if let Some(first) = self.first.get() {
                    return first.clone().map_err(crate::Error::from);
                }
                if self.is_closed() {
                    return Err(Misuse::Closed.into());
                }
                changed.await;
            }
        };
        match tokio::time::timeout(limit, first).await {
            Ok(first) => first,
            Err(_elapsed) => {
                let native = self.state().trouble.clone();
                Err(Refused::new(Refusal::Unreachable, None, native).into())
            }
        }
    }
}

/// What the background task has to do next.
pub(crate) struct Turn {
    pub(crate) flights: Vec<Flight>,
    /// Nobody has a use for this client any more.
    pub(crate) hang_up: bool,
    /// There is nothing to do before that time.
    pub(crate) until: Option<Instant>,
}

/// What a drain has brought.
#[derive(Default)]
struct Drained {
    mine: Vec<Flight>,
    others: Vec<Flight>,
    told: Vec<Arc<Seat>>,
    /// The background task has to look.
    ring: bool,
}

impl State {
    fn drain(&mut self, now: Instant, mine: Mine, drained: &mut Drained) {
        loop {
            match self.machines.poll(now) {
                Polled::Flight(id, flight) => {
                    self.under_way.insert(id);
                    match mine {
                        Mine::All => drained.mine.push(flight),
                        Mine::Only(key) if key == flight.key => drained.mine.push(flight),
                        Mine::Newest if self.newest() == Some(flight.key) => drained.mine.push(flight),
                        Mine::Only(_) | Mine::Newest | Mine::Nothing => drained.others.push(flight),
                    }
                }
                Polled::Event(key, event) => drained.told.extend(self.tell(now, key, event)),
                Polled::Wait(until) => {
                    let earlier = self.arm(now, self.earliest(until));
                    let done = self.closed && self.machines.pending() == 0;
                    // The background task itself sees both before it goes to sleep.
                    drained.ring = (earlier || done) && !matches!(mine, Mine::All);
                    return;
                }
            }
        }
    }

    /// Sees to it that the background task wakes in time; whether it has to be told. It is left asleep for a time that has become too
    /// early: of the many timers that locks set, hardly one ever fires.
    fn arm(&mut self, now: Instant, until: Option<Instant>) -> bool {
        let armed = self.armed.filter(|armed| *armed > now);
        let earlier = until.is_some_and(|until| armed.is_none_or(|armed| until < armed));
        self.armed = if earlier { until } else { armed };
        earlier
    }

    fn newest(&self) -> Option<Key> {
        self.seats.last_key_value().map(|(key, _)| *key)
    }

    fn earliest(&self, until: Option<Instant>) -> Option<Instant> {
        let release = self.releases.first().map(|(due, _)| *due);
        until.into_iter().chain(release).min()
    }

    fn tell(&mut self, now: Instant, key: Key, event: Event) -> Option<Arc<Seat>> {
        let seat = self.seats.get(&key)?;
        let over = seat.tell(event, self.trouble.as_ref());
        if !over {
            return Some(Arc::clone(seat));
        }
        self.releases.retain(|(_, releasing)| *releasing != key);
        self.machines.close(now, key);
        self.seats.remove(&key)
    }

    /// Takes what a flight has come to; gives the watch that is to be awaited next.
    fn land(&mut self, now: Instant, key: Key, landed: Landed) -> Option<Flight> {
        let seat = self.seats.get(&key);
        match landed {
            Landed::Outcome {
                id,
                outcome,
                native,
                watch,
            } => {
                self.under_way.remove(&id);
                if let (Some(seat), Some(native)) = (seat, native) {
                    seat.keep(id, native);
                }
                // A watch is awaited for as long as its contender is there: dropped, it is removed from the server.
                let watch = watch.zip(seat.cloned()).map(|(watch, seat)| Flight {
                    key,
                    future: Box::pin(async move {
                        let over = core::pin::pin!(seat.until(|told| told.end.as_ref().map(|_| ())));
                        match future::select(watch, over).await {
                            Either::Left((notice, _)) => Landed::Notice(notice),
                            Either::Right(_) => Landed::Nothing,
                        }
                    }),
                });
                if let Err(misuse) = self.machines.handle_outcome(now, id, outcome)
                    && let Some(seat) = self.seats.get(&key)
                {
                    // A reply of the wrong shape: the command counts as unknown, and this is why.
                    seat.keep(id, Arc::new(misuse));
                }
                watch
            }
            Landed::Notice(notice) => {
                let _accepted = self.machines.handle_notice(now, notice);
                None
            }
            Landed::Nothing => None,
        }
    }
}
