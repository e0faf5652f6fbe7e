//! Every order of the messages of two clients that run one operation, with one fault at any step.
//!
//! Each client claims the operation, has its effect, and completes it. A client that crashes claims again. Time passes
//! only when no other step is possible, and a paused client does not notice it. Each path ends without faults: every
//! client then has the result, or its policy forbids another run. [stateright](https://docs.rs/stateright) searches the
//! states, breadth first.

mod client;
mod exchange;
mod step;
mod world;

use std::sync::Arc;

use fencepost_core::{Settings, claim::Policy};
use fencepost_simulator::{backend::Backend, redis, zookeeper};
use serde_json::json;
use stateright::{Checker as _, HasDiscoveries, Model, Property};

use crate::{application::Application, promises::Broken};
use client::SettingsOf;
use step::Step;
use world::{World, Wrong, right};

/// A small case.
struct Case<B: Backend> {
    settings: SettingsOf<B>,
    policy: Policy,
    /// How many faults there may be.
    faults: u8,
    /// Whether connections break and answers are lost, too. Otherwise processes only end or pause.
    connections: bool,
    /// How often time may pass before all faults end.
    pauses: u8,
    /// Changes each request, as a mutant does.
    wrong: Wrong<B>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<B: Backend> {
    world: World<B>,
    faults: u8,
    pauses: u8,
    broken: Option<Broken>,
}

impl<B: Backend> Model for Case<B> {
    type State = State<B>;
    type Action = Step;

    fn init_states(&self) -> Vec<Self::State> {
        vec![State {
            world: World::new(self.policy, &self.settings),
            faults: self.faults,
            pauses: self.pauses,
            broken: None,
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Step>) {
        if state.broken.is_some() {
            return;
        }
        if let Some(step) = state.world.routine() {
            actions.push(step);
            return;
        }
        state.world.moves(state.pauses > 0, actions);
        if state.faults > 0 {
            state.world.faults(self.connections, actions);
        }
    }

    fn next_state(&self, last: &Self::State, step: Step) -> Option<Self::State> {
        let mut state = last.clone();
        state.faults -= u8::from(step.is_fault());
        state.pauses -= u8::from(step == Step::Time);
        state.broken = state.world.step(step, &self.settings, &self.wrong).err();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every promise is kept", |_, state: &State<B>| {
                state.broken.is_none()
            }),
            Property::always("every client gets its answer", |case: &Self, state: &State<B>| {
                state.broken.is_some() || state.world.can_proceed(state.pauses > 0) || {
                    let mut world = state.world.clone();
                    world.recover(&case.settings, &case.wrong).is_ok()
                }
            }),
        ]
    }
}

/// How many states a case has, or the steps that break a promise.
fn search<B: Backend>(case: Case<B>) -> Result<usize, (Option<Broken>, Vec<String>)>
where
    Application<B::Family>: Send + Sync,
    SettingsOf<B>: Send + Sync,
{
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = case
        .checker()
        .threads(threads)
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    match checker.discoveries().into_values().next() {
        None => Ok(checker.unique_state_count()),
        Some(path) => {
            let broken = path.last_state().broken;
            let steps = path.into_actions().into_iter();
            Err((broken, steps.map(|step| format!("{step:?}")).collect()))
        }
    }
}

/// Two clients of Redis.
fn on_redis(policy: Policy) -> Case<redis::Servers> {
    let settings = json!({
        "kind": "redis-claim", "scope": "shop", "key": "stock", "on_lease_end": policy.name(), "lease": 300_000,
        "retention": 3_600_000_000_u64, "answer_within": 90_000, "poll": 100_000,
    });
    let Ok(Settings::Redis(settings)) = serde_json::from_value(settings) else {
        panic!("good settings of Redis")
    };
    Case {
        settings,
        policy,
        faults: 1,
        connections: true,
        pauses: 12,
        wrong: right(),
    }
}

/// Two clients of ZooKeeper.
fn on_zookeeper(policy: Policy) -> Case<zookeeper::Servers> {
    let settings = json!({
        "kind": "zookeeper-claim", "scope": "stock", "key": "stock", "prefix": "shop", "on_lease_end": policy.name(),
        "answer_within": 500_000,
    });
    let Ok(Settings::ZooKeeper(settings)) = serde_json::from_value(settings) else {
        panic!("good settings of ZooKeeper")
    };
    Case {
        settings,
        policy,
        faults: 1,
        connections: false,
        pauses: 12,
        wrong: right(),
    }
}

/// A search of fewer states proves less, so the tests assert the numbers of states.
fn searched<B: Backend>(case: Case<B>, states: usize)
where
    Application<B::Family>: Send + Sync,
    SettingsOf<B>: Send + Sync,
{
    let (policy, started) = (case.policy, std::time::Instant::now());
    let found = search(case);
    println!("{policy:?}: {found:?}, {:?}", started.elapsed());
    assert_eq!(found, Ok(states), "{policy:?}");
}

#[test]
fn every_order_on_redis() {
    searched(on_redis(Policy::Retake), 37_926);
    searched(on_redis(Policy::Block), 37_974);
    searched(on_redis(Policy::Indeterminate), 27_698);
}

#[test]
fn every_order_on_zookeeper_if_a_process_ends_or_pauses() {
    searched(on_zookeeper(Policy::Retake), 394_330);
    searched(on_zookeeper(Policy::Block), 463_921);
    searched(on_zookeeper(Policy::Indeterminate), 197_897);
}

#[test]
#[ignore = "millions of states: make matrix searches them"]
fn every_order_on_zookeeper_if_a_connection_breaks() {
    for (policy, states) in [
        (Policy::Retake, 2_994_109),
        (Policy::Block, 3_008_820),
        (Policy::Indeterminate, 2_742_796),
    ] {
        let connections = true;
        searched(
            Case {
                connections,
                ..on_zookeeper(policy)
            },
            states,
        );
    }
}

/// The promise that a search finds broken.
fn breaks<B: Backend>(case: Case<B>) -> Option<Broken>
where
    Application<B::Family>: Send + Sync,
    SettingsOf<B>: Send + Sync,
{
    search(case).err().and_then(|(broken, _)| broken)
}

#[test]
fn the_search_detects_scripts_without_a_check() {
    let detected = [
        ("if runs(record, ARGV[1]) then", Policy::Retake),
        ("elseif tonumber(record.lease or '0') > now then", Policy::Retake),
        (
            "elseif record.policy == 'indeterminate' then",
            Policy::Indeterminate,
        ),
        (
            "record.takeovers = digits(following(record.takeovers))",
            Policy::Retake,
        ),
    ];
    for (without, policy) in detected {
        let known = crate::MUTANTS.iter().find(|(mutant, _)| mutant.find == without);
        let (mutant, expected) = known.expect("a mutant without this check");
        let wrong: Wrong<redis::Servers> = Arc::new(|ask| match ask {
            redis::Ask::Call(words) => redis::Ask::Call(crate::redis::mutated(Some(mutant), &words)),
            other => other,
        });
        let case = on_redis(policy);
        assert_eq!(breaks(Case { wrong, ..case }), Some(*expected), "{mutant:?}");
    }
}

/// The search may find that another promise is broken first.
#[test]
fn the_search_detects_transactions_without_a_check() {
    for without in [
        "the version of a record that is set",
        "the end of a lease with its session",
    ] {
        let known = crate::zookeeper::MUTANTS
            .iter()
            .find(|(mutant, _)| mutant.without == without);
        let (mutant, _) = known.expect("a mutant without this check");
        let wrong: Wrong<zookeeper::Servers> = Arc::new(|ask| mutant.asked(ask));
        let case = on_zookeeper(Policy::Retake);
        assert!(search(Case { wrong, ..case }).is_err(), "without {without}");
    }
}
