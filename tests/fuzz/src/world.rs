//! A hub, its commands, and a world whose answers the bytes choose.

mod ending;
mod inputs;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Unstructured;
use fencepost_core::{
    CommandId, Event, Instant, Key, Misuse, Output, Wait,
    lowered::{Hub, Request},
    zookeeper::SessionState,
};

use crate::{
    contender::Account,
    step::{NewSession, Step},
    zookeeper::Directory,
};
use ending::Ending;

/// The states that a story has reached: an input, its variant, and an output after it.
pub type Seen = BTreeSet<(&'static str, &'static str, &'static str)>;

/// The most outputs after one input: for each machine a burst (the longest is a leave: refusal, deletes,
/// barrier, list; or an entry with `depth` directories), the hub's own outputs, and a delete for every own
/// node that was ever listed.
#[must_use]
pub const fn bound(machines: usize, depth: usize, names: usize) -> usize {
    8 + (16 + depth) * (machines + 1) + names
}

/// The number of steps in the longest story.
const STEPS: usize = 600;

#[derive(Debug)]
struct Asked {
    id: CommandId,
    request: Request,
    settled: bool,
}

pub(crate) struct World {
    pub(crate) hub: Hub,
    pub(crate) now: u64,
    contenders: BTreeMap<Key, Account>,
    /// Keys of closed machines.
    unused: BTreeSet<Key>,
    commands: Vec<Asked>,
    issued: BTreeSet<CommandId>,
    /// Indices in `commands` of commands without an outcome.
    open: Vec<usize>,
    directory: Directory,
    session: i64,
    depth: usize,
    /// How many more outputs are allowed before a wait.
    budget: usize,
    /// The last wait, if there was no input since.
    wait: Option<Wait>,
    until: Option<u64>,
    hold: u8,
    seen: Seen,
    input: (&'static str, &'static str),
    aloud: bool,
}

/// Plays the story in the bytes to a hub.
///
/// # Panics
/// If the hub breaks one of its promises.
#[must_use]
pub fn fuzz_one(data: &[u8]) -> Seen {
    story(data, false)
}

/// The same, printed step by step.
///
/// # Panics
/// If the hub breaks one of its promises.
pub fn tell(data: &[u8]) {
    let _seen = story(data, true);
}

fn story(data: &[u8], aloud: bool) -> Seen {
    let (head, rest) = data.split_first().unwrap_or((&0, &[]));
    let family = if head & 1 == 0 { "zookeeper" } else { "redis" };
    let ending = [Ending::Served, Ending::Closed, Ending::AtRest, Ending::AtRest][usize::from(head >> 1 & 3)];
    let mut world = World::new(family, aloud);
    let mut bytes = Unstructured::new(rest);
    for _ in 0..STEPS {
        if bytes.is_empty() {
            break;
        }
        let Ok(step) = Step::read(&mut bytes) else { break };
        world.take(step);
    }
    world.end(ending);
    world.seen
}

impl World {
    fn new(family: &'static str, aloud: bool) -> Self {
        let mut world = Self {
            hub: Hub::new(family, 1).unwrap_or_else(|error| panic!("{error}")),
            now: 1_000_000,
            contenders: BTreeMap::new(),
            unused: BTreeSet::new(),
            commands: Vec::new(),
            issued: BTreeSet::new(),
            open: Vec::new(),
            directory: Directory::new(),
            session: 1,
            depth: 0,
            budget: 0,
            wait: None,
            until: None,
            hold: 0,
            seen: Seen::new(),
            input: ("", ""),
            aloud,
        };
        if world.is_zookeeper() {
            world.take(Step::Session(
                SessionState::Connected,
                NewSession::Same,
                Duration::from_secs(9),
            ));
        }
        world.take(Step::Open);
        world
    }

    fn take(&mut self, step: Step) {
        if self.aloud {
            println!("{} {step:?}", self.now);
        }
        let hold = self.hold;
        self.budget += bound(self.hub.pending() + 1, self.depth, self.directory.ever.len() + 1);
        let before = self.wait.take();
        let verdict = self.put(step);
        if let Err(misuse) = verdict {
            self.saw(misuse.name());
            self.assert_unchanged(misuse, before);
        }
        if hold > 0 {
            self.hold = hold - 1;
        } else {
            self.drain();
        }
    }

    /// Checks that a misuse has changed nothing, except a wrong reply, which counts as an unknown outcome.
    fn assert_unchanged(&mut self, misuse: Misuse, before: Option<Wait>) {
        if matches!(misuse, Misuse::WrongReply { .. }) {
            return;
        }
        if let Some(wait) = before {
            let after = self.hub.poll_output(None);
            assert_eq!(
                after,
                (Key::HUB, Output::Wait(wait)),
                "{misuse} has changed something"
            );
        }
    }

    /// Polls until there are no more outputs.
    fn drain(&mut self) {
        while !self.poll(None) {}
        let again = self.hub.poll_output(None);
        let wait = self.wait.unwrap_or_default();
        assert_eq!(
            again,
            (Key::HUB, Output::Wait(wait)),
            "another wait without an input"
        );
    }

    /// Polls once; returns whether there are no more outputs.
    fn poll(&mut self, only: Option<Key>) -> bool {
        let (key, output) = self.hub.poll_output(only);
        if self.aloud {
            println!("    {key:?} {output:?}");
        }
        let of_owner = |key| self.contenders.get(key).is_some_and(Account::has_owner);
        assert!(
            only.is_none_or(|only| key == only || key == Key::HUB || of_owner(&key)),
            "{key:?} was not asked for"
        );
        match output {
            Output::Wait(wait) => {
                self.saw(wait.reason.map_or("nothing", |reason| reason.name()));
                if only.is_none() {
                    self.budget = 0;
                    self.wait = Some(wait);
                    self.until = wait.until.map(Instant::as_micros);
                }
                return true;
            }
            Output::Command(command) => {
                assert!(
                    self.issued.insert(command.id),
                    "{:?} was issued twice",
                    command.id
                );
                self.saw(command.request.operation.name());
                self.open.push(self.commands.len());
                self.commands.push(Asked {
                    id: command.id,
                    request: command.request,
                    settled: false,
                });
            }
            Output::Event(event) => {
                self.saw(match &event {
                    Event::Lost { reason, .. } => reason.name(),
                    Event::Refused { reason, .. } => reason.name(),
                    event => event.name(),
                });
                let contender = self.contenders.get_mut(&key);
                contender
                    .unwrap_or_else(|| panic!("{key:?} was never opened"))
                    .told(&event);
            }
            other => panic!("an unknown output: {other:?}"),
        }
        assert!(
            self.budget > 0,
            "more comes out than one input may bring: {}",
            self.input.0
        );
        self.budget -= 1;
        false
    }

    fn saw(&mut self, output: &'static str) {
        let (input, how) = self.input;
        self.seen.insert((input, how, output));
    }

    fn is_zookeeper(&self) -> bool {
        self.hub.family() == "zookeeper"
    }
}
