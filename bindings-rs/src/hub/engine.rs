//! A client's machines under their lock.
//!
//! Every input goes through [`Engine::put`]: one critical section puts it in, polls dry, and hands commands to the client library in
//! the order polled. What they come to is awaited outside: by the task whose contender it is (see [`Pocket`](super::pocket::Pocket)),
//! so that an acquire costs no hop to another task, and by the background task for everything else.

use alloc::sync::{Arc, Weak};
use core::{mem, sync::atomic::AtomicBool, time::Duration};
use std::{
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fencepost_core::{Instant, Intent, Key, Misuse, Patience, Settings, lowered::Notice};
use tokio::sync::Notify;

use super::{
    machines::{Flight, Landed, Machines},
    pocket::Bag,
    runtime::Runtime,
    seat::{End, Seat},
    state::{Drained, Mine, State},
};
use crate::{Error, Shown, clock};

/// How long a release waits for the server's word.
pub(crate) const CONFIRM_WITHIN: Duration = Duration::from_secs(5);

/// A client's machines under their lock.
pub(crate) struct Engine {
    /// Where it was made.
    process: u32,
    pub(crate) runtime: Runtime,
    /// Where its server is, for people.
    pub(super) at: String,
    state: Mutex<State>,
    errands: Mutex<Errands>,
    /// Rung when the background task has something to do.
    pub(crate) bell: Notify,
    pub(super) connected_once: AtomicBool,
    /// Rung when the connection has come or been refused, and when nobody need wait for it any more.
    pub(super) link_changed: Notify,
}

/// What others leave to the background task.
#[derive(Default)]
struct Errands {
    flights: Vec<Flight>,
    intents: Vec<(Key, Intent)>,
    closing: Vec<Key>,
    hang_up: bool,
}

impl Engine {
    pub(crate) fn new(
        runtime: Runtime,
        at: String,
        seed: u64,
        machines: impl FnOnce(&Weak<Self>) -> Box<dyn Machines>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            process: process::id(),
            runtime,
            at,
            state: Mutex::new(State::new(machines(this), seed)),
            errands: Mutex::default(),
            bell: Notify::new(),
            connected_once: AtomicBool::new(false),
            link_changed: Notify::new(),
        })
    }

    /// Fails in a fork of the process. Asked before anything is locked: who had locked it may be another thread, which no fork has.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        if process::id() == self.process {
            Ok(())
        } else {
            Err(Error::WrongProcess)
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn errands(&self) -> MutexGuard<'_, Errands> {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something in, and does everything that follows from it. Gives the commands that the caller has to await.
    pub(super) fn put<T>(
        &self,
        mine: Mine,
        input: impl FnOnce(&mut State, Instant) -> T,
    ) -> (T, Vec<Flight>) {
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
        lock: &Shown,
        settings: &Settings,
        patience: Patience,
    ) -> Result<(Key, Arc<Seat>, Vec<Flight>), Error> {
        let (opened, flights) = self.put(Mine::Newest, |state, now| {
            state.newest = None;
            state.check_open()?;
            if let Some(refused) = &state.link.rejected {
                return Err(refused.clone().of(lock).into());
            }
            state.seed = state.seed.wrapping_add(1);
            let owner = state.owners.next()?;
            let key = state.machines.open(now, settings, owner, state.seed)?;
            state.machines.intent(now, key, Intent::Acquire(patience))?;
            let seat = Arc::new(Seat::new(lock.clone()));
            state.seats.insert(key, Arc::clone(&seat));
            state.newest = Some(key);
            Ok((key, seat))
        });
        match opened {
            Ok((key, seat)) => Ok((key, seat, flights)),
            Err(error) => {
                self.entrust(flights);
                Err(error)
            }
        }
    }

    /// Says what the application wants of a contender. Its commands are the caller's to await.
    pub(crate) fn intent(&self, key: Key, intent: Intent) -> (Result<(), Misuse>, Vec<Flight>) {
        self.put(Mine::Only(key), |state, now| state.intent(now, key, intent))
    }

    /// Takes what a flight has come to.
    pub(crate) fn land(&self, mine: Mine, key: Key, landed: Landed) -> Vec<Flight> {
        if let Landed::Fault(native) = landed {
            self.fail(native);
            return Vec::new();
        }
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
    #[cfg(feature = "zookeeper")]
    pub(crate) fn forsake(&self) {
        use fencepost_core::{Failure, lowered::Outcome};
        self.put(Mine::Nothing, |state, now| {
            for id in mem::take(&mut state.under_way).iter() {
                let _issued = state
                    .machines
                    .handle_outcome(now, *id, Outcome::Failed(Failure::Unknown));
            }
        });
    }

    /// Remembers what a task awaits itself: it is recalled if the task takes long.
    pub(super) fn lend(&self, bag: &Arc<Bag>) {
        let earlier = {
            let mut state = self.state();
            let now = clock::now();
            state.loans.lend(now, bag);
            let due = state.loans.due();
            state.arm(now, due)
        };
        if earlier {
            self.bell.notify_one();
        }
    }

    /// Leaves something under way to the background task.
    pub(crate) fn entrust(&self, flights: Vec<Flight>) {
        self.errands().flights.extend(flights);
        self.bell.notify_one();
    }

    /// Has the background task say what the application wants of a contender.
    pub(crate) fn say(&self, key: Key, intent: Intent) {
        self.errands().intents.push((key, intent));
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

    /// The background task's turn: errands and, when its alarm has rung, timers.
    pub(crate) fn tend(&self, rung: bool) -> Turn {
        let errands = mem::take(&mut *self.errands());
        let mut flights = errands.flights;
        let mut late = Vec::new();
        let mut recalled = Vec::new();
        let ((), more) = self.put(Mine::All, |state, now| {
            for (key, intent) in errands.intents {
                // It may have ended meanwhile.
                let _said = state.intent(now, key, intent);
            }
            for key in errands.closing {
                if let Some(seat) = state.seats.remove(&key) {
                    // Nobody listens any more, except for its watches: they go with it.
                    seat.end(End::Closed);
                    late.push(seat);
                }
                state.machines.close(now, key);
            }
            if !rung {
                return;
            }
            recalled = state.loans.recall(now);
            late.extend(state.give_back(now));
            state.machines.handle_timeout(now);
            while let Some((_, key)) = state.releases.pop_front_if(|(due, _)| *due <= now) {
                if let Some(seat) = state.seats.get(&key) {
                    seat.told().unconfirmed = true;
                    late.push(Arc::clone(seat));
                }
            }
        });
        for seat in late {
            seat.ring();
        }
        flights.extend(recalled);
        flights.extend(more);
        Turn {
            flights,
            hang_up: errands.hang_up,
            until: self.state().armed,
        }
    }

    /// How many contenders the server has not answered for.
    pub(crate) fn pending(&self) -> usize {
        self.state().machines.pending()
    }

    /// How many contenders a closed client has to leave behind: the server has not answered for them, or has not let go.
    pub(crate) fn left(&self) -> usize {
        let state = self.state();
        state
            .machines
            .pending()
            .saturating_add(state.machines.unreleased())
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
