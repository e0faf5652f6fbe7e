//! What an engine's lock guards.

use alloc::{collections::VecDeque, sync::Arc};

use fencepost_core::{
    CommandId, Event, Instant, Intent, Key, Misuse,
    sorted::{SortedMap, SortedSet},
};
use futures_util::future::{self, Either};

use super::{
    connection::Link,
    engine::CONFIRM_WITHIN,
    machines::{Flight, Landed, Machines, Polled},
    owners::Owners,
    pocket::Loans,
    seat::Seat,
    untaken::Untaken,
};
use crate::{DriverFailed, Error};

/// Machines, and who waits for them.
pub(super) struct State {
    pub(super) machines: Box<dyn Machines>,
    pub(super) seats: SortedMap<Key, Arc<Seat>>,
    /// The contender that was opened last.
    pub(super) newest: Option<Key>,
    /// Commands without an outcome, in the order in which they were sent: a lost session settles them all.
    pub(super) under_way: SortedSet<CommandId>,
    /// Releases under way, by the time when their callers stop waiting: each waits as long, so they stand in that order.
    pub(super) releases: VecDeque<(Instant, Key)>,
    /// Commands that tasks await themselves, for a while.
    pub(super) loans: Loans,
    pub(super) untaken: Untaken,
    /// When the background task wakes by itself.
    pub(super) armed: Option<Instant>,
    pub(super) seed: u64,
    pub(super) owners: Owners,
    pub(super) link: Link,
    pub(super) closed: bool,
    /// Why the client library could not be used, if that has ended the client.
    pub(super) failed: Option<DriverFailed>,
}

/// Whose commands the caller awaits itself; the rest goes to the background task.
#[derive(Clone, Copy)]
pub(crate) enum Mine {
    Nothing,
    Only(Key),
    /// Those of the contender that has just been opened.
    Newest,
    All,
}

/// What a drain has brought.
#[derive(Default)]
pub(super) struct Drained {
    pub(super) mine: Vec<Flight>,
    pub(super) others: Vec<Flight>,
    pub(super) told: Vec<Arc<Seat>>,
    /// The background task has to look.
    pub(super) ring: bool,
}

impl State {
    pub(super) fn new(machines: Box<dyn Machines>, seed: u64) -> Self {
        Self {
            machines,
            seats: SortedMap::new(),
            newest: None,
            under_way: SortedSet::new(),
            releases: VecDeque::new(),
            loans: Loans::default(),
            untaken: Untaken::default(),
            armed: None,
            seed,
            owners: Owners::new(),
            link: Link::default(),
            closed: false,
            failed: None,
        }
    }

    /// Fails if the client has been closed, or has failed.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        match &self.failed {
            Some(failed) => Err(failed.clone().into()),
            None if self.closed => Err(Misuse::Closed.into()),
            None => Ok(()),
        }
    }

    /// Says what the application wants of a contender.
    pub(super) fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        self.machines.intent(now, key, intent)?;
        let Some(seat) = self.seats.get(&key) else {
            return Ok(());
        };
        match intent {
            Intent::Release => {
                seat.told().releasing = true;
                self.releases.push_back((now.plus(CONFIRM_WITHIN), key));
            }
            Intent::Downgrade => seat.told().downgrade = None,
            _ => {}
        }
        Ok(())
    }

    /// Polls dry: hands commands to the driver in their order, and tells events.
    pub(super) fn drain(&mut self, now: Instant, mine: Mine, drained: &mut Drained) {
        loop {
            match self.machines.poll(now) {
                Polled::Flight(id, flight) => {
                    self.under_way.insert(id);
                    match mine {
                        Mine::All => drained.mine.push(flight),
                        Mine::Only(key) if key == flight.key => drained.mine.push(flight),
                        Mine::Newest if self.newest == Some(flight.key) => drained.mine.push(flight),
                        Mine::Only(_) | Mine::Newest | Mine::Nothing => drained.others.push(flight),
                    }
                }
                Polled::Event(key, event) => {
                    // The task of its own looks as soon as this returns.
                    let seen = match mine {
                        Mine::Only(own) => own == key,
                        Mine::Newest => self.newest == Some(key),
                        Mine::All | Mine::Nothing => false,
                    };
                    drained.told.extend(self.tell(now, key, event, seen));
                }
                Polled::Wait(until) => {
                    let until = self.earliest(until);
                    let earlier = self.arm(now, until);
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
    pub(super) fn arm(&mut self, now: Instant, until: Option<Instant>) -> bool {
        let armed = self.armed.filter(|armed| *armed > now);
        let earlier = until.is_some_and(|until| armed.is_none_or(|armed| until < armed));
        self.armed = if earlier { until } else { armed };
        earlier
    }

    fn earliest(&mut self, until: Option<Instant>) -> Option<Instant> {
        let release = self.releases.front().map(|(due, _)| *due);
        let (recall, give_back) = (self.loans.due(), self.untaken.due());
        let all = until.into_iter().chain(release).chain(recall).chain(give_back);
        all.min()
    }

    /// Tells a contender of an event. `seen`: its own task looks at once.
    fn tell(&mut self, now: Instant, key: Key, event: Event, seen: bool) -> Option<Arc<Seat>> {
        let seat = self.seats.get(&key)?;
        if let Event::Acquired { grant } = &event
            && !seen
        {
            self.untaken.granted(now, key, seat, grant);
        }
        let over = seat.tell(event, self.link.trouble.as_ref());
        if !over {
            return Some(Arc::clone(seat));
        }
        if self.releases.front().is_some_and(|(_, first)| *first == key) {
            self.releases.pop_front();
        } else {
            self.releases.retain(|(_, releasing)| *releasing != key);
        }
        self.machines.close(now, key);
        self.seats.remove(&key)
    }

    /// Gives back what no task has taken in time, and says whose that was.
    pub(super) fn give_back(&mut self, now: Instant) -> Vec<Arc<Seat>> {
        let mut given = Vec::new();
        while let Some((key, seat)) = self.untaken.take_due(now) {
            if seat.give_back() {
                self.seats.remove(&key);
                self.machines.close(now, key);
                given.push(seat);
            }
        }
        given
    }

    /// Takes what a flight has come to; gives the watch that is to be awaited next.
    pub(super) fn land(&mut self, now: Instant, key: Key, landed: Landed) -> Option<Flight> {
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
            // The engine takes a fault itself.
            Landed::Fault(_) | Landed::Nothing => None,
        }
    }
}
