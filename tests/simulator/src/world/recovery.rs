//! The recovery phase of every run: all faults end. Every client connects, holders release, waiters hold in
//! turn; then everything is closed, and nothing may remain.

use core::time::Duration;

use fencepost_core::Instant;

use crate::{
    backend::{Backend, Owner, Subject},
    checker::{Belief, Mode, Property, name, turns, woken},
    step::{Number, Operation},
    trace::Trace,
};

use super::World;

/// The most rounds of [`ROUND`] that a client may have to wait.
const ROUNDS: u32 = 1000;

/// The longest pause between two tries to clean up.
const RETRIES: Duration = Duration::from_secs(3);

/// The time between two rounds without events.
const ROUND: Duration = Duration::from_millis(20);

impl<B: Backend, S: Subject<B>> World<B, S> {
    /// Recovers from all faults and ends the run. `grants_all`: every waiter is granted its lock in turn
    /// before everything is closed; otherwise everything is closed at once.
    pub fn recover(&mut self, grants_all: bool, trace: &mut impl Trace<B>) {
        self.recovering = true;
        self.throttled = 0;
        for client in self.numbers() {
            self.wake(client, trace);
        }
        self.backend.heal(self.now);
        if grants_all {
            self.all_are_granted(trace);
        }
        self.nothing_is_left(trace);
    }

    /// Time passes up to the next timer of any client, and all look at their clocks. Returns whether there is a timer.
    pub fn until_next_timer(&mut self, trace: &mut impl Trace<B>) -> bool {
        let timers = self
            .clients
            .iter()
            .filter_map(|client| Some(client.global(client.wait?)));
        let Some(next) = timers.min() else {
            return false;
        };
        self.all_wait(next.since(self.now).max(Duration::from_millis(1)), trace);
        true
    }

    /// Time passes, and all look at their clocks.
    fn all_wait(&mut self, time: Duration, trace: &mut impl Trace<B>) {
        self.pass(u32::try_from(time.as_micros()).unwrap_or(u32::MAX), trace);
        for client in self.numbers() {
            self.tick(client, trace);
        }
        self.look();
    }

    fn failed(&self) -> bool {
        self.checker.violation.is_some()
    }

    /// All pending messages arrive without a fault.
    pub fn let_arrive(&mut self, trace: &mut impl Trace<B>) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for client in self.numbers() {
                moved |= self.connect(client, 0, trace);
                while self.execute(client, 0, trace) {
                    moved = true;
                }
            }
            for client in self.numbers() {
                while self.answer(client, 0, trace) || self.notice(client, trace) {
                    moved = true;
                }
            }
            self.look();
            if !moved || self.failed() {
                return;
            }
        }
        self.checker
            .violated(Property::S7, || "clients and server send without end".into());
    }

    fn all_are_granted(&mut self, trace: &mut impl Trace<B>) {
        self.let_arrive(trace);
        self.let_time_pass(trace);
        self.let_arrive(trace);
        let mut asked = vec![None; self.clients.len()];
        for _ in 0..ROUNDS {
            self.holders_receive(trace);
            if self.failed() {
                return;
            }
            let Some(holder) = self.holder().filter(|_| !self.another_may_hold()) else {
                if self
                    .numbers()
                    .all(|client| self.checker.belief(client) == Belief::Idle)
                {
                    return;
                }
                self.let_time_pass(trace);
                self.let_arrive(trace);
                self.waits_for_itself(&mut asked);
                self.keeps_order();
                continue;
            };
            self.keeps_order();
            let before: Vec<u64> = self.clients.iter().map(|client| client.sent).collect();
            self.invoke(holder, Operation::Write, trace);
            self.land(0, trace);
            self.invoke(holder, Operation::Release, trace);
            self.let_arrive(trace);
            self.wakes_one(holder, &before);
        }
        let waiting: Vec<char> = self
            .numbers()
            .filter(|client| self.checker.belief(*client) != Belief::Idle)
            .map(name)
            .collect();
        self.checker
            .violated(Property::L1, || format!("clients {waiting:?} wait for ever"));
    }

    fn holder(&self) -> Option<Number> {
        self.numbers().find(|client| self.holds(*client))
    }

    /// L1, where there is no order: no client waits for itself after a lost answer. A client that acquires again finds that it has the lock.
    fn waits_for_itself(&mut self, asked: &mut [Option<(u64, B::Connection)>]) {
        // A failover may have restored the lock of an earlier attempt. And a client with a session may have
        // to wait for its confirmation.
        if self.setup.fair || self.checker.two_may_hold || B::ORDERED {
            return;
        }
        for client in self.numbers() {
            let own = self.has_won(client) && self.waits(client);
            let sent = self.clients[usize::from(client)].sent;
            let connection = self.backend.connection(client);
            let before = &mut asked[usize::from(client)];
            match *before {
                // On another connection, the client sends the request again, because a demoted server has
                // refused it.
                Some((before, on)) if own && sent > before && on == connection => {
                    self.checker.violated(Property::L1, || {
                        format!(
                            "client {} has the lock, asks again, and goes on waiting",
                            name(client)
                        )
                    })
                }
                Some((_, on)) if own && on == connection => {}
                _ => *before = own.then_some((sent, connection)),
            }
        }
    }

    /// The clients in the server's queue, the first one first, with whether it is their turn; empty where there is no queue. A client that is
    /// there twice counts at its first place.
    fn queued(&self) -> Vec<(Number, bool)> {
        let mut queue: Vec<Number> = Vec::new();
        for client in self.backend.queue().unwrap_or_default() {
            if !queue.contains(&client) {
                queue.push(client);
            }
        }
        let modes: Vec<Mode> = queue.iter().map(|client| self.mode(*client)).collect();
        queue.into_iter().zip(turns(&modes)).collect()
    }

    /// The mode that a client holds, or contends for.
    fn mode(&self, client: Number) -> Mode {
        match self.checker.belief(client) {
            Belief::Holds(hold) => hold.mode,
            // A writer that has become a reader leaves as a reader.
            Belief::Leaves(_, mode, _) => mode,
            Belief::Idle => {
                let one = &self.clients[usize::from(client)];
                one.left.unwrap_or_else(|| one.subject.mode())
            }
            Belief::Waits(_) | Belief::Late(_) | Belief::Ends(_) => {
                self.clients[usize::from(client)].subject.mode()
            }
        }
    }

    fn waits(&self, client: Number) -> bool {
        matches!(self.checker.belief(client), Belief::Waits(_) | Belief::Late(_))
    }

    fn holds(&self, client: Number) -> bool {
        matches!(self.checker.belief(client), Belief::Holds(_))
    }

    /// Whether a waiter has its turn together with the holders. It gets the time to detect that.
    fn another_may_hold(&self) -> bool {
        let held = self.numbers().find(|client| self.holds(*client));
        let joins =
            |client: Number| held.is_some_and(|holder| self.mode(client).goes_with(self.mode(holder)));
        !self.checker.two_may_hold
            && self
                .queued()
                .into_iter()
                .any(|(client, turn)| turn && self.waits(client) && joins(client))
    }

    /// L1, if there is an order: no holder without its turn is behind a waiter.
    fn keeps_order(&mut self) {
        let queue = self.queued();
        let early = queue
            .iter()
            .position(|(client, turn)| self.holds(*client) && !turn);
        let Some(place) = early.filter(|_| !self.checker.two_may_hold) else {
            return;
        };
        let first = queue[..place].iter().find(|(client, _)| self.waits(*client));
        if let Some((first, _)) = first {
            let (first, holder) = (*first, queue[place].0);
            self.checker.violated(Property::L1, || {
                format!(
                    "client {} was granted before {}, which came first",
                    name(holder),
                    name(first)
                )
            });
        }
    }

    /// L1, if there is a queue and servers notify waiters: the time of a client's recheck, if it has its turn
    /// but no pending notice of that.
    pub(super) fn forgotten(&self, client: Number, local: Instant) -> Option<Instant> {
        let one = &self.clients[usize::from(client)];
        // A client that looks at its clock late handles everything that was due until then.
        let due = one
            .wait
            .filter(|until| one.looks && (one.last_input..=local).contains(until))?;
        // A client before it may be about to leave. And a server that lags behind the leader does not have
        // the change yet.
        let quiet = self.clients.iter().all(|client| client.is_quiet()) && self.setup.servers == 1;
        if !B::ORDERED || !quiet || one.notice_lost {
            return None;
        }
        // Each client before it must hold, and must have no other node: a node that remains from an ended
        // process or a refused delete blocks the queue.
        let mode = self.mode(client);
        let belongings = self.backend.belongings(self.now);
        let nodes = |of| belongings.iter().filter(|(_, owner, _)| *owner == of).count();
        let only_holds = |before: Number| {
            let alone = !matches!(mode, Mode::Permit(_)) || nodes(Owner::Client(before)) == 1;
            self.holds(before) && alone
        };
        let queue = self.queued();
        if belongings.is_empty() && self.waits(client) {
            return Some(due);
        }
        let place = queue.iter().position(|(other, turn)| *other == client && *turn)?;
        let in_order = self.numbers().all(|other| {
            let there = queue.iter().position(|(known, _)| *known == other);
            match there {
                Some(there) if there < place => only_holds(other),
                Some(_) => self.waits(other) || self.holds(other),
                None => true,
            }
        });
        (nodes(Owner::Ended) == 0 && in_order && self.waits(client)).then_some(due)
    }

    /// Whether a client has left without a release. A predecessor that has cancelled or crashed may wake one
    /// more waiter.
    fn a_client_left(&self) -> bool {
        let seen = &self.checker.seen;
        seen.refused > 0 || seen.lost > 0 || self.clients.iter().any(|client| client.crashes > 0)
    }

    /// L2: only one of the waiters has sent a request after the release, or one group of readers.
    fn wakes_one(&mut self, released: Number, before: &[u64]) {
        if !self.setup.fair {
            return;
        }
        let queue = self.queued();
        let spoke = self
            .numbers()
            .zip(before)
            .filter(|(client, before)| {
                *client != released && self.clients[usize::from(*client)].sent > **before
            })
            .map(|(client, _)| (self.mode(client), queue.contains(&(client, true))));
        let woken = woken(&spoke.collect::<Vec<_>>());
        // If there is a queue beside the permits, the next contender becomes its head when a permit is
        // acquired.
        let moves_up = usize::from(matches!(self.mode(released), Mode::Permit(_)));
        if woken > 1 + moves_up + usize::from(self.a_client_left()) {
            self.checker
                .violated(Property::L2, || format!("one release has woken {woken} clients"));
        }
    }

    /// Time passes for all clients, and each looks at its clock in time.
    pub(super) fn let_time_pass(&mut self, trace: &mut impl Trace<B>) {
        let clients = self.clients.iter();
        let first = clients
            .filter_map(|client| Some(client.global(client.wait?)))
            .min();
        let next = first.unwrap_or(self.now).max(self.now).min(self.now.plus(ROUND));
        self.all_wait(next.since(self.now).max(Duration::from_millis(1)), trace);
    }

    fn nothing_is_left(&mut self, trace: &mut impl Trace<B>) {
        for client in self.numbers() {
            let local = self.local(client);
            trace.input(client, local, || crate::trace::Input::Shutdown);
            self.client(client).subject.shutdown(local);
            // A closed machine receives nothing any more.
            self.checker.believes(client, Belief::Idle);
            self.drain(client, trace);
        }
        let end = self.now.plus(self.setup.longest.saturating_mul(2)).plus(RETRIES);
        for _ in 0..ROUNDS {
            self.let_arrive(trace);
            let pending: usize = self.clients.iter().map(|client| client.subject.pending()).sum();
            if self.failed() || pending == 0 && self.backend.left_behind(self.now).is_empty() {
                return;
            }
            if self.now >= end {
                break;
            }
            let step = self.setup.longest.checked_div(20).unwrap_or(ROUND);
            self.all_wait(step, trace);
        }
        let left = self.backend.left_behind(self.now);
        let mut what = Vec::new();
        if !left.is_empty() {
            what.push(format!("the server still has {}", left.join(" and ")));
        }
        for (client, pending) in (0..).zip(self.clients.iter().map(|client| client.subject.pending())) {
            if pending > 0 {
                what.push(format!(
                    "client {} has {pending} machines that have not ended",
                    name(client)
                ));
            }
        }
        self.checker.violated(Property::S8, || what.join("; "));
    }
}
