//! The ending of every run: the weather clears up. Everybody connects, those who hold release, those who wait hold in turn; then all is
//! closed, and nothing may be left.

use core::time::Duration;

use fencepost_core::Instant;

use crate::{
    backend::{Backend, Owner, Subject},
    checker::{Belief, Mode, Property, name, turns, woken},
    step::{Number, Wish},
    tape::Tape,
};

use super::{World, client::Client};

/// Nobody has to wait for longer than so many rounds of [`ROUND`].
const ROUNDS: u32 = 1000;

/// The longest pause between two tries to clean up.
const RETRIES: Duration = Duration::from_secs(3);

/// How much time passes between two rounds when nothing moves.
const ROUND: Duration = Duration::from_millis(20);

/// What is on its way to and from a client: how many steps of each kind there are to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Whether it is connected.
    pub connected: bool,
    /// Requests that could be executed next.
    pub requests: u8,
    /// Answers that could arrive next.
    pub answers: u8,
    /// Whether there are notices.
    pub notices: bool,
}

impl<B: Backend, S: Subject<B>> World<B, S> {
    /// Ends the run. `patient`: those who wait are waited for; otherwise everything is closed as it stands.
    pub fn end(&mut self, patient: bool, tape: &mut impl Tape<B>) {
        self.calm = true;
        self.crowd = 0;
        for client in self.numbers() {
            self.wake(client, tape);
        }
        self.backend.heal(self.now);
        if patient {
            self.all_are_granted(tape);
        }
        self.nothing_is_left(tape);
    }

    /// Time passes up to the next timer of anybody, and all look at their clocks. Says whether there is one.
    pub fn until_next_timer(&mut self, tape: &mut impl Tape<B>) -> bool {
        let timers = self
            .clients
            .iter()
            .filter_map(|client| Some(client.global(client.wait?)));
        let Some(next) = timers.min() else {
            return false;
        };
        self.all_wait(next.since(self.now).max(Duration::from_millis(1)), tape);
        true
    }

    /// Time passes, and all look at their clocks.
    fn all_wait(&mut self, time: Duration, tape: &mut impl Tape<B>) {
        self.pass(u32::try_from(time.as_micros()).unwrap_or(u32::MAX), tape);
        for client in self.numbers() {
            self.tick(client, tape);
        }
        self.look();
    }

    /// Whether anybody's clock has anything to say.
    #[must_use]
    pub fn awaits_timer(&self) -> bool {
        self.clients.iter().any(|client| client.wait.is_some())
    }

    /// Whether a client stands in the server's line, or holds.
    #[must_use]
    pub fn has_a_place(&self, client: Number) -> bool {
        let belongings = self.backend.belongings(self.now);
        let own = Owner::Client(client);
        belongings.iter().any(|(_, owner, _)| *owner == own)
    }

    /// Whether a client inspects.
    #[must_use]
    pub fn inspects(&self, client: Number) -> bool {
        self.clients[usize::from(client)].subject.inspects().is_some()
    }

    /// Whether a client wants nothing more, now that it has been answered.
    #[must_use]
    pub fn is_satisfied(&self, client: Number) -> bool {
        self.clients[usize::from(client)].subject.is_satisfied()
    }

    /// What is on its way to and from a client.
    #[must_use]
    pub fn traffic(&self, client: Number) -> Traffic {
        let client = &self.clients[usize::from(client)];
        let count = |items: usize| {
            let items = if B::ORDERED { items.min(1) } else { items };
            u8::try_from(items).unwrap_or(u8::MAX)
        };
        Traffic {
            connected: client.connected,
            requests: count(client.requests.len()),
            answers: count(client.answers.len()),
            notices: !client.notices.is_empty(),
        }
    }

    /// Forgets what was only counted: to an explorer, worlds that differ in nothing else are the same.
    pub fn forget_counts(&mut self) {
        self.checker.forget_counts();
        for client in &mut self.clients {
            client.sent = 0;
            client.orphaned.clear();
        }
    }

    fn failed(&self) -> bool {
        self.checker.violation.is_some()
    }

    /// Everything that is on its way arrives, as if in fair weather.
    pub fn let_arrive(&mut self, tape: &mut impl Tape<B>) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for client in self.numbers() {
                moved |= self.connect(client, 0, tape);
                while self.execute(client, 0, tape) {
                    moved = true;
                }
            }
            for client in self.numbers() {
                while self.answer(client, 0, tape) || self.notice(client, tape) {
                    moved = true;
                }
            }
            self.look();
            if !moved || self.failed() {
                return;
            }
        }
        self.checker
            .violated(Property::S7, || "clients and server talk on and on".into());
    }

    fn all_are_granted(&mut self, tape: &mut impl Tape<B>) {
        self.let_arrive(tape);
        self.let_time_pass(tape);
        self.let_arrive(tape);
        let mut asked = vec![None; self.clients.len()];
        for _ in 0..ROUNDS {
            self.holders_hear(tape);
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
                self.let_time_pass(tape);
                self.let_arrive(tape);
                self.waits_for_itself(&mut asked);
                self.keeps_order();
                continue;
            };
            self.keeps_order();
            let before: Vec<u64> = self.clients.iter().map(|client| client.sent).collect();
            self.wish(holder, Wish::Write, tape);
            self.land(0, tape);
            self.wish(holder, Wish::Release, tape);
            self.let_arrive(tape);
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

    /// L1, where there is none: a lost answer leaves no lock that its own holder waits for. Who asks again finds that it has it.
    fn waits_for_itself(&mut self, asked: &mut [Option<u64>]) {
        // A failover may have brought an earlier attempt's lock back; and whoever has a session may have to wait until that is confirmed.
        if self.setup.fair || self.checker.two_may_hold || B::ORDERED {
            return;
        }
        for client in self.numbers() {
            let own = self.has_won(client) && self.waits(client);
            let sent = self.clients[usize::from(client)].sent;
            let before = &mut asked[usize::from(client)];
            match *before {
                Some(before) if own && sent > before => self.checker.violated(Property::L1, || {
                    format!(
                        "client {} has the lock, asks again, and goes on waiting",
                        name(client)
                    )
                }),
                Some(_) if own => {}
                _ => *before = own.then_some(sent),
            }
        }
    }

    /// Those in the server's line, the first one first, with whether it is their turn; nobody where there is no line. Whoever stands there
    /// twice counts at its first place.
    fn line(&self) -> Vec<(Number, bool)> {
        let mut line: Vec<Number> = Vec::new();
        for client in self.backend.queue().unwrap_or_default() {
            if !line.contains(&client) {
                line.push(client);
            }
        }
        let modes: Vec<Mode> = line.iter().map(|client| self.mode(*client)).collect();
        line.into_iter().zip(turns(&modes)).collect()
    }

    /// What a client holds, or contends for.
    fn mode(&self, client: Number) -> Mode {
        match self.checker.belief(client) {
            Belief::Holds(hold) => hold.mode,
            // A writer that has gone on as a reader leaves as one.
            Belief::Leaves(_, mode, _) => mode,
            Belief::Idle => {
                let one = &self.clients[usize::from(client)];
                one.left.unwrap_or_else(|| one.subject.mode())
            }
            Belief::Waits(_) | Belief::Ends(_) => self.clients[usize::from(client)].subject.mode(),
        }
    }

    fn waits(&self, client: Number) -> bool {
        matches!(self.checker.belief(client), Belief::Waits(_))
    }

    fn holds(&self, client: Number) -> bool {
        matches!(self.checker.belief(client), Belief::Holds(_))
    }

    /// Whether somebody waits whose turn it is beside those who hold: it is given the time to find out.
    fn another_may_hold(&self) -> bool {
        let held = self.numbers().find(|client| self.holds(*client));
        let joins =
            |client: Number| held.is_some_and(|holder| self.mode(client).goes_with(self.mode(holder)));
        !self.checker.two_may_hold
            && self
                .line()
                .into_iter()
                .any(|(client, turn)| turn && self.waits(client) && joins(client))
    }

    /// L1, where there is an order: nobody who waits has a place before that of a holder whose turn it is not.
    fn keeps_order(&mut self) {
        let line = self.line();
        let early = line
            .iter()
            .position(|(client, turn)| self.holds(*client) && !turn);
        let Some(place) = early.filter(|_| !self.checker.two_may_hold) else {
            return;
        };
        let first = line[..place].iter().find(|(client, _)| self.waits(*client));
        if let Some((first, _)) = first {
            let (first, holder) = (*first, line[place].0);
            self.checker.violated(Property::L1, || {
                format!(
                    "client {} was granted before {}, who came first",
                    name(holder),
                    name(first)
                )
            });
        }
    }

    /// L1, where there is a line and servers tell who waits: when a client looks again that has its turn without knowing it, with nothing on its way that
    /// would say so.
    pub(super) fn forgotten(&self, client: Number, local: Instant) -> Option<Instant> {
        let one = &self.clients[usize::from(client)];
        // A clock that is looked at too late shows all that was due until then.
        let due = one
            .wait
            .filter(|until| one.looks && (one.heard..=local).contains(until))?;
        // Somebody before it may be about to leave. A server that lags behind the leader has not heard of it itself.
        let quiet = self.clients.iter().all(Client::is_quiet) && self.setup.servers == 1;
        if !B::ORDERED || !quiet || one.untold {
            return None;
        }
        // Who comes before has to hold, and nothing else: a node that its process or a refused delete has left stands in the way.
        let mode = self.mode(client);
        let belongings = self.backend.belongings(self.now);
        let nodes = |of| belongings.iter().filter(|(_, owner, _)| *owner == of).count();
        let only_holds = |before: Number| {
            let alone = !matches!(mode, Mode::Permit(_)) || nodes(Owner::Client(before)) == 1;
            self.holds(before) && alone
        };
        let line = self.line();
        if belongings.is_empty() && self.waits(client) {
            return Some(due);
        }
        let place = line.iter().position(|(other, turn)| *other == client && *turn)?;
        let in_order = self.numbers().all(|other| {
            let there = line.iter().position(|(known, _)| *known == other);
            match there {
                Some(there) if there < place => only_holds(other),
                Some(_) => self.waits(other) || self.holds(other),
                None => true,
            }
        });
        (nodes(Owner::Nobody) == 0 && in_order && self.waits(client)).then_some(due)
    }

    /// A neighbour that has cancelled or crashed may wake one more, whenever its going is heard of.
    fn somebody_left(&self) -> bool {
        let seen = &self.checker.seen;
        seen.refused > 0 || seen.lost > 0 || self.clients.iter().any(|client| client.crashes > 0)
    }

    /// L2: of those who waited for the release, one has said anything, or one group of readers.
    fn wakes_one(&mut self, released: Number, before: &[u64]) {
        if !self.setup.fair {
            return;
        }
        let line = self.line();
        let spoke = self
            .numbers()
            .zip(before)
            .filter(|(client, before)| {
                *client != released && self.clients[usize::from(*client)].sent > **before
            })
            .map(|(client, _)| (self.mode(client), line.contains(&(client, true))));
        let woken = woken(&spoke.collect::<Vec<_>>());
        // Where a line is kept beside the permits, the next one moves up to its head when a permit is taken.
        let moves_up = usize::from(matches!(self.mode(released), Mode::Permit(_)));
        if woken > 1 + moves_up + usize::from(self.somebody_left()) {
            self.checker
                .violated(Property::L2, || format!("one release has woken {woken} clients"));
        }
    }

    /// Time passes for all, who look at their clocks in time.
    pub(super) fn let_time_pass(&mut self, tape: &mut impl Tape<B>) {
        let clients = self.clients.iter();
        let first = clients
            .filter_map(|client| Some(client.global(client.wait?)))
            .min();
        let next = first.unwrap_or(self.now).max(self.now).min(self.now.plus(ROUND));
        self.all_wait(next.since(self.now).max(Duration::from_millis(1)), tape);
    }

    fn nothing_is_left(&mut self, tape: &mut impl Tape<B>) {
        for client in self.numbers() {
            let local = self.local(client);
            tape.input(client, local, || crate::tape::Input::Shutdown);
            self.client(client).subject.shutdown(local);
            // What was closed is told nothing any more.
            self.checker.believes(client, Belief::Idle);
            self.drain(client, tape);
        }
        let end = self.now.plus(self.setup.longest.saturating_mul(2)).plus(RETRIES);
        for _ in 0..ROUNDS {
            self.let_arrive(tape);
            let pending: usize = self.clients.iter().map(|client| client.subject.pending()).sum();
            if self.failed() || pending == 0 && self.backend.left_behind(self.now).is_empty() {
                return;
            }
            if self.now >= end {
                break;
            }
            let step = self.setup.longest.checked_div(20).unwrap_or(ROUND);
            self.all_wait(step, tape);
        }
        let left = self.backend.left_behind(self.now);
        let pending: Vec<usize> = self
            .clients
            .iter()
            .map(|client| client.subject.pending())
            .collect();
        self.checker.violated(Property::S8, || {
            format!("left on the server: {left:?}; machines that have not gone: {pending:?}")
        });
    }
}
