//! A world: clients with the lock under test, servers, a resource, and time. It walks where it is told to, step by step.

mod calm;
mod client;
mod inspections;
mod troubles;

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    AttemptId, CommandId, Event, Failure, Instant, Intent, Outcome, Output, Patience, Timer,
};

use crate::{
    backend::{Answered, Backend, Belongings, NoticeOf, Owner, Subject},
    checker::{Belief, Checker, Hold, Mode, Property, Resource, Write, name, trespass},
    step::{Number, Step, Wish},
    tape::{Act, Actor, Input, Tape},
};
pub use calm::Traffic;
use client::{Client, Sent};
use inspections::Doing;
pub use troubles::FORGETS;

/// How a world begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// How much faster than the server's each client's clock runs, in thousandths; there are as many clients.
    pub drifts: Vec<i8>,
    /// How many servers.
    pub servers: u8,
    /// Whether who comes first is served first.
    pub fair: bool,
    /// Whether a lock's name on the server says nothing of its owner. Then an owner's delete that is on its way when an operator deletes hits
    /// whoever comes next: S5 excepts that.
    pub nameless: bool,
    /// The longest lease or session.
    pub longest: Duration,
}

/// A world of locks `S` on servers `B`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<B: Backend, S> {
    backend: B,
    clients: Vec<Client<B, S>>,
    now: Instant,
    /// The judge of all that happens here.
    pub checker: Checker,
    resource: Resource,
    writes: Vec<Write>,
    /// How many of the next requests the server is too crowded for.
    crowd: u8,
    calm: bool,
    /// Whether anything has changed since beliefs were last compared with the server: the time, what it has, or what anybody believes. Never
    /// between two steps.
    stale: bool,
    setup: Setup,
}

/// When worlds begin.
pub const BEGINNING: Instant = Instant::from_micros(1_000_000);

/// More outputs than this after one input are endless.
const MOST_OUTPUTS: usize = 200;

/// What makes a lock for a client: its number, and how many processes it has had.
pub type Make<'a, S> = &'a dyn Fn(Number, u8) -> S;

impl<B: Backend, S: Subject<B>> World<B, S> {
    /// A world with all clients connected.
    #[must_use]
    pub fn new(setup: Setup, make: Make<'_, S>, tape: &mut impl Tape<B>) -> Self {
        let count = Number::try_from(setup.drifts.len()).unwrap_or(Number::MAX);
        let clients = (0..count).zip(&setup.drifts);
        let mut world = Self {
            backend: B::new(count, setup.servers),
            clients: clients
                .map(|(number, drift)| Client::new(make(number, 0), *drift))
                .collect(),
            now: BEGINNING,
            checker: Checker::new(count),
            resource: Resource::default(),
            writes: Vec::new(),
            crowd: 0,
            calm: false,
            stale: false,
            setup,
        };
        for client in world.numbers() {
            world.connect(client, client % world.setup.servers.max(1), tape);
        }
        world
    }

    /// The clients.
    pub fn numbers(&self) -> core::ops::Range<Number> {
        0..Number::try_from(self.clients.len()).unwrap_or(Number::MAX)
    }

    /// The server's time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    fn client(&mut self, client: Number) -> &mut Client<B, S> {
        &mut self.clients[usize::from(client)]
    }

    fn local(&self, client: Number) -> Instant {
        self.clients[usize::from(client)].local(self.now)
    }

    /// Takes a step; says whether anything has changed.
    pub fn step(&mut self, step: Step, make: Make<'_, S>, tape: &mut impl Tape<B>) -> bool {
        let moved = match step {
            Step::Wish(client, wish) => self.wish(client, wish, tape),
            Step::Execute(client, nth) => self.execute(client, nth, tape),
            Step::Answer(client, nth) => self.answer(client, nth, tape),
            Step::Notice(client) => self.notice(client, tape),
            Step::Tick(client) => self.tick(client, tape),
            Step::Pass(micros) => {
                self.pass(micros, tape);
                true
            }
            Step::Land(nth) => self.land(nth, tape),
            Step::Trouble(client, trouble) => self.trouble(client, trouble, make, tape),
            Step::Outage(outage) => self.outage(outage, tape),
        };
        if moved {
            self.checker.seen.steps += 1;
            self.look();
        }
        moved
    }

    /// Compares what clients believe with what the server has, if either has changed.
    fn look(&mut self) {
        if !core::mem::take(&mut self.stale) {
            return;
        }
        let Self {
            backend,
            clients,
            now,
            checker,
            ..
        } = self;
        checker.look(
            |client| clients[usize::from(client)].local(*now),
            |client, hold| backend.holds(*now, client, &hold.attempt),
        );
    }

    fn wish(&mut self, client: Number, wish: Wish, tape: &mut impl Tape<B>) -> bool {
        let local = self.local(client);
        if self.client(client).paused {
            return false;
        }
        let within = |micros: u32| Duration::from_micros(u64::from(micros).max(1));
        let belief = self.checker.belief(client);
        let (intent, next) = match (wish, belief) {
            (Wish::Acquire, Belief::Idle) => (Intent::Acquire(Patience::Forever), Belief::Waits(None)),
            (Wish::AcquireWithin(micros), Belief::Idle) => (
                Intent::Acquire(Patience::For(within(micros))),
                Belief::Waits(Some(local.plus(within(micros)))),
            ),
            (Wish::Try, Belief::Idle) => (Intent::Acquire(Patience::Try), Belief::Waits(None)),
            (Wish::Cancel, Belief::Waits(_)) => (Intent::Cancel, Belief::Ends(local.plus(B::FAREWELL))),
            (Wish::Cancel, Belief::Ends(_)) => (Intent::Cancel, belief),
            (Wish::Extend, Belief::Holds(_)) => (Intent::Extend, belief),
            // Whoever asks for it is a reader from then on: others may be before the answer comes.
            (Wish::Downgrade, Belief::Holds(hold)) => (
                Intent::Downgrade,
                Belief::Holds(Hold {
                    mode: Mode::Shared,
                    ..hold
                }),
            ),
            (Wish::Release, Belief::Holds(hold)) => (
                Intent::Release,
                Belief::Leaves(
                    hold.attempt,
                    hold.mode,
                    hold.suspended || belief.valid(local).is_some(),
                ),
            ),
            (Wish::Write, _) => return self.write(client, local, tape),
            _ => return false,
        };
        let accepted = self.client(client).subject.intent(local, intent);
        // It may still be cleaning up; and who is no writer, or no longer, has nothing to downgrade.
        if accepted.is_err() && matches!(intent, Intent::Acquire(_) | Intent::Downgrade) {
            return false;
        }
        tape.act(self.now, Act::Point(Actor::Client(client)), || {
            format!("{} wants to {}", name(client), say_wish(wish))
        });
        match accepted {
            Ok(()) => {
                tape.input(client, local, || Input::Intent(intent));
                if matches!(wish, Wish::Acquire | Wish::AcquireWithin(_) | Wish::Try) {
                    let one = self.client(client);
                    (one.doubt, one.untold, one.left) = (false, false, None);
                }
                if wish == Wish::Cancel && self.has_won(client) {
                    self.checker.seen.cancelled_grants += 1;
                }
                if let Intent::Acquire(_) = intent {
                    self.begins(client);
                }
                self.checker.believes(client, next);
                self.stale = true;
            }
            Err(misuse) => self.checker.violated(Property::S7, || {
                format!("{wish:?} of {} was refused: {misuse}", name(client))
            }),
        }
        self.drain(client, tape);
        true
    }

    /// Whether a client that still waits has the lock on the server.
    fn has_won(&self, client: Number) -> bool {
        let owned = |owner| owner == Owner::Client(client);
        let belongings = self.backend.belongings(self.now);
        belongings.first().is_some_and(|(_, owner, _)| owned(*owner))
    }

    /// A holder writes to the resource, if its grant is valid now; it lands later.
    fn write(&mut self, client: Number, local: Instant, tape: &mut impl Tape<B>) -> bool {
        let Some(hold) = self.checker.belief(client).valid(local).copied() else {
            return false;
        };
        tape.act(
            self.now,
            Act::Arrow(Actor::Client(client), Actor::Resource),
            || format!("{} writes, fence {:?}", name(client), hold.fence),
        );
        self.writes.push(Write { client, hold });
        true
    }

    fn land(&mut self, nth: u8, tape: &mut impl Tape<B>) -> bool {
        if usize::from(nth) >= self.writes.len() {
            return false;
        }
        let write = self.writes.remove(nth.into());
        let fate = self.resource.take(&write);
        tape.act(self.now, Act::Point(Actor::Resource), || {
            format!("the write of {} is {fate:?}", name(write.client))
        });
        match fate {
            crate::checker::Fate::Accepted => self.checker.seen.writes += 1,
            crate::checker::Fate::Refused => self.checker.seen.stale_writes += 1,
            crate::checker::Fate::Stale
                if !self.checker.two_may_hold && !self.checker.is_broken(write.hold.fence) =>
            {
                self.checker.violated(Property::S4, || {
                    format!(
                        "a write of {} was accepted after one of a later grant",
                        name(write.client)
                    )
                });
            }
            crate::checker::Fate::Stale => {}
        }
        true
    }

    fn execute(&mut self, client: Number, nth: u8, tape: &mut impl Tape<B>) -> bool {
        let first = self.clients[usize::from(client)].requests.front();
        if first.is_some_and(|sent| self.backend.stalls(sent.line, &sent.ask)) {
            return false;
        }
        let Some(sent) = self.client(client).take_request(nth) else {
            return false;
        };
        self.carry_out(client, sent, tape);
        true
    }

    fn carry_out(&mut self, client: Number, sent: Sent<B>, tape: &mut impl Tape<B>) {
        let Sent {
            id,
            line,
            ask,
            awaited,
        } = sent;
        tape.act(self.now, Act::Arrow(Actor::Client(client), Actor::Server), || {
            B::say_ask(&ask)
        });
        self.stale |= !B::reads(&ask);
        let committed = B::is_committed(&ask).then(|| ask.clone());
        let crowded = self.crowd.checked_sub(1).and_then(|left| {
            self.crowd = left;
            self.backend.crowded(line, &ask)
        });
        // What was not carried out has come to no transaction.
        let write = committed.filter(|_| crowded.is_none());
        let answered = match crowded {
            Some(reply) => Some(Answered { reply, mark: 0 }),
            None => {
                let harms = B::harms(&ask);
                let before = if harms {
                    self.backend.belongings(self.now)
                } else {
                    Vec::new()
                };
                let doing = self.about_to(client, &ask);
                let to_break = doing.as_ref().and_then(Doing::to_break).map(str::to_owned);
                let last = self.backend.last_fence(self.now);
                let answered = self.backend.execute(self.now, client, line, id, ask);
                let fence = self.backend.last_fence(self.now);
                if let Some(given) = fence.filter(|_| fence != last) {
                    self.checker.given(given);
                }
                if harms {
                    let after = self.backend.belongings(self.now);
                    if let Some(what) = trespass(&before, &after, client, self.now, to_break.as_deref())
                        && !(self.setup.nameless && self.checker.two_may_hold)
                    {
                        self.checker.violated(Property::S5, || what);
                    }
                    self.nobody_returns(client, &before, &after);
                }
                self.was_shown(client, doing, &before);
                answered
            }
        };
        if let Some(Answered { reply, mark }) = answered
            && awaited
        {
            self.answer_later(client, id, reply, mark, write);
        }
        self.spread_notices();
        self.see_broken(tape);
    }

    /// S8: what a machine has cleaned up, and says that it has, does not come back when a late request arrives.
    fn nobody_returns(&mut self, client: Number, before: &Belongings, after: &Belongings) {
        let owns = |all: &Belongings| all.iter().any(|(_, owner, _)| *owner == Owner::Client(client));
        let gone = self.checker.belief(client) == Belief::Idle
            && self.clients[usize::from(client)].subject.pending() == 0;
        if gone && !self.checker.two_may_hold && owns(after) && !owns(before) {
            self.checker.violated(Property::S8, || {
                format!(
                    "client {} has the lock on the server, and has given it up long ago",
                    name(client)
                )
            });
        }
    }

    fn spread_notices(&mut self) {
        for client in self.numbers() {
            let notices = self.backend.take_notices(client);
            if !notices.is_empty() {
                self.client(client).notices.extend(notices);
            }
        }
    }

    fn answer(&mut self, client: Number, nth: u8, tape: &mut impl Tape<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(client::Answered {
            id,
            reply,
            mark,
            swapped,
            ..
        }) = one.take_answer(nth)
        else {
            return false;
        };
        tape.act(self.now, Act::Arrow(Actor::Server, Actor::Client(client)), || {
            B::say_reply(&reply)
        });
        if self.backend.delivered(client, mark) {
            // As if it had not been asked.
            let one = self.client(client);
            one.sent = one.sent.saturating_sub(1);
        }
        self.settle(client, id, Outcome::Reply(reply), swapped, tape);
        self.drain(client, tape);
        self.see_broken(tape);
        true
    }

    fn settle(
        &mut self,
        client: Number,
        id: CommandId,
        outcome: Outcome<crate::backend::ReplyOf<B>>,
        swapped: bool,
        tape: &mut impl Tape<B>,
    ) {
        let local = self.local(client);
        tape.input(client, local, || Input::Outcome(id, outcome.clone()));
        if let Err(misuse) = self.client(client).subject.handle_outcome(local, id, outcome)
            && !swapped
        {
            self.checker.violated(Property::S7, || {
                format!("an answer to {} was refused: {misuse}", name(client))
            });
        }
    }

    /// Nobody has answered, and the client learns it.
    fn fail(&mut self, client: Number, id: CommandId, failure: Failure, tape: &mut impl Tape<B>) {
        let one = self.client(client);
        one.open.retain(|open| *open != id);
        one.doubt |= failure == Failure::Unknown;
        self.settle(client, id, Outcome::Failed(failure), false, tape);
    }

    fn notice(&mut self, client: Number, tape: &mut impl Tape<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(notice) = one.notices.pop_front() else {
            return false;
        };
        self.tell(client, notice, tape);
        self.drain(client, tape);
        true
    }

    fn tell(&mut self, client: Number, notice: NoticeOf<B>, tape: &mut impl Tape<B>) {
        let local = self.local(client);
        tape.act(self.now, Act::Arrow(Actor::Server, Actor::Client(client)), || {
            B::say_notice(&notice)
        });
        tape.input(client, local, || Input::Notice(notice.clone()));
        if let Err(misuse) = self.client(client).subject.handle_notice(local, notice) {
            self.checker.violated(Property::S7, || {
                format!("a notice to {} was refused: {misuse}", name(client))
            });
        }
    }

    fn tick(&mut self, client: Number, tape: &mut impl Tape<B>) -> bool {
        let local = self.local(client);
        let one = self.client(client);
        if one.paused {
            return false;
        }
        if let Some(due) = self.forgotten(client, local) {
            self.look_at_clock(client, due, tape);
            let mut asked = self.clients[usize::from(client)].requests.iter();
            if asked.any(|sent| self.backend.is_of_others(client, &sent.ask)) {
                self.checker.violated(Property::L1, || {
                    format!(
                        "client {} is the next, and only its second look tells it",
                        name(client)
                    )
                });
            }
        }
        self.look_at_clock(client, local, tape);
        // An inspection has made nothing that would have to go first.
        let inspects = self.client(client).subject.inspects().is_some();
        let farewell = if inspects { Duration::ZERO } else { B::FAREWELL };
        self.checker.ticked(client, local, farewell, B::grace(client));
        true
    }

    fn look_at_clock(&mut self, client: Number, local: Instant, tape: &mut impl Tape<B>) {
        tape.input(client, local, || Input::Timeout);
        self.client(client).subject.handle_timeout(local);
        self.drain(client, tape);
    }

    fn pass(&mut self, micros: u32, tape: &mut impl Tape<B>) {
        tape.act(self.now, Act::Pause, String::new);
        for client in self.numbers() {
            let one = &self.clients[usize::from(client)];
            if one.connected && !one.paused {
                self.backend.alive(self.now, client);
            }
        }
        self.now = self.now.plus(Duration::from_micros(micros.into()));
        self.stale = true;
        self.backend.pass(self.now);
        self.spread_notices();
        self.see_broken(tape);
    }

    /// Takes everything that a client's lock has to say.
    fn drain(&mut self, client: Number, tape: &mut impl Tape<B>) {
        self.client(client).heard = self.local(client);
        let mut unsent = VecDeque::new();
        for _ in 0..MOST_OUTPUTS {
            let local = self.local(client);
            let line = self.backend.line(client);
            let one = self.client(client);
            match one.subject.poll_output() {
                Output::Command(command) if one.connected => {
                    one.open.push(command.id);
                    one.sent += u64::from(!B::is_routine(&command.request));
                    one.requests.push_back(Sent {
                        id: command.id,
                        line,
                        ask: command.request,
                        awaited: true,
                    });
                }
                Output::Command(command) => unsent.push_back(command.id),
                Output::Event(event) => {
                    tape.act(self.now, Act::Point(Actor::Client(client)), || {
                        format!("{} hears: {event:?} (its clock: {local:?})", name(client))
                    });
                    self.has_found(client, &event);
                    let granted = self.checker.seen.granted;
                    let mode = self.clients[usize::from(client)].subject.mode();
                    if let Event::Lost { .. } = event
                        && let Some(held) = self.checker.belief(client).held_as()
                    {
                        self.client(client).left = Some(held).filter(|held| *held != mode);
                    }
                    let (backend, now) = (&self.backend, self.now);
                    let holds = |attempt: &AttemptId| backend.holds(now, client, attempt);
                    self.checker.hear(client, local, &event, mode, holds);
                    self.stale = true;
                    if self.checker.seen.granted > granted {
                        self.granted(client);
                    }
                }
                Output::Wait(wait) => {
                    one.wait = wait.until;
                    one.looks = wait.reason == Some(Timer::Poll);
                    match unsent.pop_front() {
                        Some(id) => self.fail(client, id, Failure::NotSent, tape),
                        None => return,
                    }
                }
                _ => {}
            }
        }
        self.checker.violated(Property::S7, || {
            format!("client {} says more and more", name(client))
        });
    }

    fn granted(&mut self, client: Number) {
        let doubt = core::mem::take(&mut self.client(client).doubt);
        self.checker.seen.recovered += u64::from(doubt);
    }
}

const fn say_wish(wish: Wish) -> &'static str {
    match wish {
        Wish::Acquire => "acquire",
        Wish::AcquireWithin(_) => "acquire in time",
        Wish::Try => "acquire at once",
        Wish::Cancel => "cancel",
        Wish::Extend => "extend",
        Wish::Downgrade => "go on as a reader",
        Wish::Release => "release",
        Wish::Write => "write",
    }
}
