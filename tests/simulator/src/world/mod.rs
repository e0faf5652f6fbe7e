//! A world: clients with the lock under test, servers, a resource, and time. It runs one step after the
//! other.

mod client;
mod exchange;
mod faults;
mod inspections;
mod operations;
mod recovery;
mod traffic;

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{AttemptId, Event, Failure, Instant, Output, Timer, states::Observer};

use crate::{
    backend::{Backend, Subject},
    checker::{Checker, Property, Resource, Write, name},
    shared::Shared,
    step::{Number, Step},
    trace::{Act, Actor, Input, Trace},
};
use client::{Client, Sent};
pub use faults::FORGETS;
pub use traffic::Traffic;

/// The beginning of a world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// For each client, how much faster its clock runs than the server's, in thousandths.
    pub drifts: Vec<i8>,
    /// The number of servers.
    pub servers: u8,
    /// Whether waiters are granted in their order.
    pub fair: bool,
    /// Whether a lock's name on the server does not identify its owner. Then an owner's delete that is
    /// pending when an operator deletes the lock may delete the next holder's lock: S5 has an exception for
    /// that.
    pub nameless: bool,
    /// The longest lease or session.
    pub longest: Duration,
}

/// A world of locks `S` on servers `B`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<B: Backend, S> {
    backend: B,
    clients: Vec<Shared<Client<B, S>>>,
    now: Instant,
    /// Checks all events of this world.
    pub checker: Checker,
    resource: Resource,
    writes: Vec<Write>,
    /// How many of the next requests the server throttles.
    throttled: u8,
    recovering: bool,
    /// Whether anything has changed since beliefs were last compared with the server: the time, the server's
    /// data, or a client's belief. False between two steps.
    stale: bool,
    setup: Shared<Setup>,
}

/// The time at which worlds begin.
pub const BEGINNING: Instant = Instant::from_micros(1_000_000);

/// More outputs than this after one input count as endless.
const MOST_OUTPUTS: usize = 200;

/// Makes a lock for a client, from its number and the number of its earlier processes.
pub type Make<'a, S> = &'a dyn Fn(Number, u8) -> S;

impl<B: Backend, S: Subject<B>> World<B, S> {
    /// A world with all clients connected.
    #[must_use]
    pub fn new(setup: Setup, make: Make<'_, S>, trace: &mut impl Trace<B>) -> Self {
        let count = Number::try_from(setup.drifts.len()).unwrap_or(Number::MAX);
        let clients = (0..count).zip(&setup.drifts);
        let mut world = Self {
            backend: B::new(count, setup.servers),
            clients: clients
                .map(|(number, drift)| Shared::new(Client::new(make(number, 0), *drift)))
                .collect(),
            now: BEGINNING,
            checker: Checker::new(count),
            resource: Resource::default(),
            writes: Vec::new(),
            throttled: 0,
            recovering: false,
            stale: false,
            setup: Shared::new(setup),
        };
        for client in world.numbers() {
            world.connect(client, client % world.setup.servers.max(1), trace);
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

    /// Runs a step; returns whether anything has changed.
    pub fn step(&mut self, step: Step, make: Make<'_, S>, trace: &mut impl Trace<B>) -> bool {
        let moved = match step {
            Step::Operation(client, operation) => self.invoke(client, operation, trace),
            Step::Execute(client, nth) => self.execute(client, nth, trace),
            Step::Answer(client, nth) => self.answer(client, nth, trace),
            Step::Notice(client) => self.notice(client, trace),
            Step::Tick(client) => self.tick(client, trace),
            Step::Pass(micros) => {
                self.pass(micros, trace);
                true
            }
            Step::Land(nth) => self.land(nth, trace),
            Step::ClientFault(client, fault) => self.client_fault(client, fault, make, trace),
            Step::ServerFault(fault) => self.server_fault(fault, trace),
        };
        if moved {
            self.checker.seen.steps += 1;
            self.look();
        }
        moved
    }

    /// Compares the clients' beliefs with the server's data, if either has changed.
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

    fn tick(&mut self, client: Number, trace: &mut impl Trace<B>) -> bool {
        let local = self.local(client);
        let one = self.client(client);
        if one.paused {
            return false;
        }
        if let Some(due) = self.forgotten(client, local) {
            self.look_at_clock(client, due, trace);
            let mut asked = self.clients[usize::from(client)].requests.iter();
            if asked.any(|sent| self.backend.is_of_others(client, &sent.ask)) {
                self.checker.violated(Property::L1, || {
                    format!(
                        "client {} is the next, and learns that by a recheck alone",
                        name(client)
                    )
                });
            }
        }
        self.look_at_clock(client, local, trace);
        // An inspection creates nothing, so it has nothing to delete first.
        let inspects = self.client(client).subject.inspects().is_some();
        let cleanup_limit = if inspects {
            Duration::ZERO
        } else {
            B::CLEANUP_LIMIT
        };
        let grace = self.backend.grace(client);
        self.checker.ticked(client, local, cleanup_limit, grace);
        true
    }

    fn look_at_clock(&mut self, client: Number, local: Instant, trace: &mut impl Trace<B>) {
        trace.input(client, local, || Input::Timeout);
        self.client(client).subject.handle_timeout(local);
        self.drain(client, trace);
    }

    fn pass(&mut self, micros: u32, trace: &mut impl Trace<B>) {
        trace.act(self.now, Act::Pause, String::new);
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
        self.see_broken(trace);
    }

    /// Polls all outputs of a client's machine.
    fn drain(&mut self, client: Number, trace: &mut impl Trace<B>) {
        self.client(client).last_input = self.local(client);
        let mut unsent = VecDeque::new();
        let mut moves = false;
        for _ in 0..MOST_OUTPUTS {
            let local = self.local(client);
            let connection = self.backend.connection(client);
            let one = self.client(client);
            match one.subject.poll_output() {
                Output::Command(command) if B::is_reconnect(&command.request) => moves = true,
                Output::Command(command) if one.connected => {
                    one.open.push(command.id);
                    one.sent += u64::from(!B::is_routine(&command.request));
                    one.requests.push_back(Sent {
                        id: command.id,
                        connection,
                        ask: command.request,
                        awaited: true,
                    });
                }
                Output::Command(command) => unsent.push_back(command.id),
                Output::Event(event) => {
                    trace.act(self.now, Act::Point(Actor::Client(client)), || {
                        format!("{} receives: {event:?} (its clock: {local:?})", name(client))
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
                    self.checker.observe(client, local, &event, mode, holds);
                    self.stale = true;
                    if self.checker.seen.granted > granted {
                        self.granted(client);
                    }
                }
                Output::Wait(wait) => {
                    one.wait = wait.until;
                    one.looks = wait.reason == Some(Timer::Poll);
                    match unsent.pop_front() {
                        Some(id) => self.fail(client, id, Failure::NotSent, trace),
                        None if core::mem::take(&mut moves) => self.move_on(client, trace),
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

    /// Records the transitions of the clients' machines.
    pub fn observe(&self, observer: &mut impl Observer) {
        for client in &self.clients {
            client.subject.observe(observer);
        }
    }

    fn granted(&mut self, client: Number) {
        let in_doubt = core::mem::take(&mut self.client(client).in_doubt);
        self.checker.seen.recovered += u64::from(in_doubt);
    }
}
