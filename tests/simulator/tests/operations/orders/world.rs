//! Two clients, their servers, and the choice of the next step.

use core::time::Duration;
use std::sync::Arc;

use fencepost_core::{Failure, Instant, claim::Policy};
use fencepost_simulator::{
    backend::{Backend, Owner},
    step::Number,
    world::BEGINNING,
};

use super::{
    client::{Client, SettingsOf},
    step::Step,
};
use crate::promises::{Account, Broken};

pub(super) const CLIENTS: Number = 2;

/// No path needs more rounds than this to its end.
const ROUNDS: u32 = 150;

/// Changes each request, as a mutant does.
pub(super) type Wrong<B> = Arc<dyn Fn(<B as Backend>::Ask) -> <B as Backend>::Ask + Send + Sync>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World<B: Backend> {
    pub(super) servers: B,
    pub(super) now: Instant,
    pub(super) clients: Vec<Client<B>>,
    pub(super) account: Account,
}

impl<B: Backend> World<B> {
    /// A world with both clients connected.
    pub(super) fn new(policy: Policy, settings: &SettingsOf<B>) -> Self {
        let mut world = Self {
            servers: B::new(CLIENTS, 1),
            now: BEGINNING,
            clients: (0..CLIENTS)
                .map(|number| Client::new(BEGINNING, number, 0, settings))
                .collect(),
            account: Account::new(policy),
        };
        for number in 0..CLIENTS {
            world.connect(number).expect("a new server accepts connections");
        }
        world.arrive(&right()).expect("sessions begin without a fault");
        if B::ORDERED {
            world.make_directories().expect("an attempt without a fault");
        }
        world
    }

    /// A first attempt has found no directories, and was released. Otherwise most orders would be those of their creation.
    fn make_directories(&mut self) -> Result<(), Broken> {
        self.act(0)?;
        self.arrive(&right())?;
        let (now, application) = (self.now, &mut self.clients[0].application);
        application.release(now, &mut self.account)?;
        self.drain(0)?;
        self.arrive(&right())
    }

    pub(super) fn client(&mut self, number: Number) -> &mut Client<B> {
        &mut self.clients[usize::from(number)]
    }

    /// A probe of a session, or its answer: it arrives before anything else, because its order matters to no operation.
    pub(super) fn routine(&self) -> Option<Step> {
        if !B::ORDERED {
            return None;
        }
        let mut connected = (0..)
            .zip(&self.clients)
            .filter(|(_, client)| client.connected && !client.paused);
        connected.find_map(|(number, client)| {
            let (request, answer) = (client.requests.front(), client.answers.front());
            if request.is_some_and(|sent| B::is_routine(&sent.ask)) {
                Some(Step::Execute(number, 0))
            } else if answer.is_some_and(|answer| answer.routine) {
                Some(Step::Answer(number, 0))
            } else {
                None
            }
        })
    }

    /// The steps that may follow without a fault. `time`: whether time may pass.
    pub(super) fn moves(&self, time: bool, steps: &mut Vec<Step>) {
        let before = steps.len();
        for (number, client) in (0..).zip(&self.clients) {
            steps.extend((0..next::<B>(client.requests.len())).map(|nth| Step::Execute(number, nth)));
            if client.paused {
                continue;
            }
            if client.can_act() {
                steps.push(Step::Act(number));
            }
            if !client.connected {
                steps.push(Step::Connect(number));
                continue;
            }
            steps.extend((0..next::<B>(client.answers.len())).map(|nth| Step::Answer(number, nth)));
            if !client.notices.is_empty() {
                steps.push(Step::Notice(number));
            }
        }
        if time && steps.len() == before && self.waits() {
            steps.push(Step::Time);
        }
        let paused = (0..).zip(&self.clients).filter(|(_, client)| client.paused);
        steps.extend(paused.map(|(number, _)| Step::Wake(number)));
    }

    /// The faults that may follow. `connections`: whether connections may break, and answers may be lost.
    pub(super) fn faults(&self, connections: bool, steps: &mut Vec<Step>) {
        for (number, client) in (0..).zip(&self.clients) {
            if client.paused || !client.connected || client.done {
                continue;
            }
            let sent = u8::try_from(client.requests.len()).expect("few requests");
            steps.extend((0..=sent).map(|executed| Step::Crash(number, executed)));
            steps.push(Step::Pause(number));
            if connections {
                steps.extend((0..=sent).map(|executed| Step::Disconnect(number, executed)));
                steps.extend((0..next::<B>(client.answers.len())).map(|nth| Step::LoseAnswer(number, nth)));
            }
        }
    }

    /// Whether the path goes on: a step without a fault may follow.
    pub(super) fn can_proceed(&self, time: bool) -> bool {
        let mut steps = Vec::new();
        self.moves(time, &mut steps);
        !steps.is_empty() || self.routine().is_some()
    }

    /// Whether a client that has no result yet waits for a time.
    fn waits(&self) -> bool {
        let waits = |client: &Client<B>| client.wait.is_some() && !client.paused;
        !self.clients.iter().all(|client| client.done) && self.clients.iter().any(waits)
    }

    pub(super) fn step(
        &mut self,
        step: Step,
        settings: &SettingsOf<B>,
        wrong: &Wrong<B>,
    ) -> Result<(), Broken> {
        match step {
            Step::Act(number) => self.act(number),
            Step::Execute(number, nth) => self.execute(number, nth, wrong),
            Step::Answer(number, nth) => self.answer(number, nth),
            Step::Notice(number) => match self.client(number).notices.pop_front() {
                Some(notice) => self.notify(number, notice),
                None => Ok(()),
            },
            Step::Connect(number) => self.connect(number),
            Step::Wake(number) => {
                self.client(number).paused = false;
                self.look_at_clock(number)
            }
            Step::Time => self.until_next_timer(),
            Step::Crash(number, executed) => {
                self.execute_first(number, executed, wrong)?;
                self.crash(number, settings)
            }
            Step::Pause(number) => {
                self.client(number).paused = true;
                Ok(())
            }
            Step::Disconnect(number, executed) => {
                self.execute_first(number, executed, wrong)?;
                self.disconnect(number)
            }
            Step::LoseAnswer(number, nth) => match self.take_answer(number, nth) {
                Some(answer) => self.fail(number, answer.id, Failure::Unknown),
                None => Ok(()),
            },
        }
    }

    fn act(&mut self, number: Number) -> Result<(), Broken> {
        let (now, account) = (self.now, &mut self.account);
        self.clients[usize::from(number)]
            .application
            .proceed(now, account)?;
        self.drain(number)
    }

    fn look_at_clock(&mut self, number: Number) -> Result<(), Broken> {
        let now = self.now;
        self.client(number).application.hub.handle_timeout(now);
        self.drain(number)
    }

    /// Time passes until the next timer of a client, and all clients look at their clocks.
    fn until_next_timer(&mut self) -> Result<(), Broken> {
        let running = || self.clients.iter().filter(|client| !client.paused);
        let Some(next) = running().filter_map(|client| client.wait).min() else {
            return Ok(());
        };
        for number in 0..CLIENTS {
            let own = &self.clients[usize::from(number)];
            if own.connected && !own.paused {
                self.servers.alive(self.now, number);
            }
        }
        self.now = self.now.plus(next.since(self.now).max(Duration::from_millis(1)));
        self.servers.pass(self.now);
        self.spread()?;
        for number in 0..CLIENTS {
            if !self.clients[usize::from(number)].paused {
                self.look_at_clock(number)?;
            }
        }
        Ok(())
    }

    /// All pending messages arrive.
    fn arrive(&mut self, wrong: &Wrong<B>) -> Result<(), Broken> {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for number in 0..CLIENTS {
                let own = &self.clients[usize::from(number)];
                moved |= !own.connected || own.requests.len() + own.answers.len() + own.notices.len() > 0;
                if !own.connected {
                    self.connect(number)?;
                }
                self.execute(number, 0, wrong)?;
                self.answer(number, 0)?;
                if let Some(notice) = self.client(number).notices.pop_front() {
                    self.notify(number, notice)?;
                }
            }
            if !moved {
                return Ok(());
            }
        }
        Err(Broken::Wedged)
    }

    /// Continues without faults until every client has its answer. Then no client may have a lease.
    pub(super) fn recover(&mut self, settings: &SettingsOf<B>, wrong: &Wrong<B>) -> Result<(), Broken> {
        for number in 0..CLIENTS {
            self.step(Step::Wake(number), settings, wrong)?;
        }
        for _ in 0..ROUNDS {
            self.arrive(wrong)?;
            let acts = (0..CLIENTS).find(|number| self.clients[usize::from(*number)].can_act());
            match acts {
                Some(number) => self.act(number)?,
                None if self.clients.iter().all(|client| client.done) => return self.nothing_is_left(),
                None => self.until_next_timer()?,
            }
        }
        let open = self.account.policy() == Policy::Retake || self.account.is_untouched();
        if open { Err(Broken::Wedged) } else { Ok(()) }
    }

    /// No client has a lease.
    fn nothing_is_left(&self) -> Result<(), Broken> {
        let belongings = self.servers.belongings(self.now);
        let owned = belongings
            .iter()
            .any(|(_, owner, _)| matches!(owner, Owner::Client(_)));
        if owned { Err(Broken::LeftLease) } else { Ok(()) }
    }
}

/// Every request is as the client sends it.
pub(super) fn right<A: 'static>() -> Arc<dyn Fn(A) -> A + Send + Sync> {
    Arc::new(|ask| ask)
}

/// How many of the messages could arrive next.
fn next<B: Backend>(messages: usize) -> u8 {
    let messages = if B::ORDERED { messages.min(1) } else { messages };
    u8::try_from(messages).expect("few messages")
}
