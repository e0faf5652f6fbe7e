//! All interleavings of small cases: every order in which messages can arrive, with a limited number of faults at any step.
//!
//! Every contender acquires once and releases, or gives up; an inspector lists, and then runs its task. Time
//! passes only when nothing else can happen: up to the next timer, and then every client looks at its clock.
//! Each path ends with the recovery phase: every waiter is granted its lock, and nothing remains.
//! [stateright](https://docs.rs/stateright) searches the states, breadth first.

use core::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use stateright::{Checker as _, Model, Property};

use crate::{
    backend::{Backend, Subject},
    checker::{Belief, Mode, Violation},
    run::Machine,
    states::Transitions,
    step::{ClientFault, Number, Operation, ServerFault, Step},
    world::{Setup, World},
};

/// A small case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The number of contenders.
    pub contenders: Number,
    /// The largest number of faults, at any steps.
    pub faults: u8,
    /// Whether crashes of clients are the only faults. There are fewer states then, so time can pass more often.
    pub only_crashes: bool,
    /// How often time may pass.
    pub pauses: u8,
    /// Whether contenders arrive in the order of their numbers, at a lock that was held before. Without
    /// faults, contenders of one kind differ only in their names, so other orders need no search. With
    /// readers and writers, `seed` chooses the kind of each client.
    pub in_order: bool,
    /// How many waiters may give up.
    pub may_give_up: u8,
    /// How often time has passed before the search begins. If the driver does not report the beginning of a
    /// session, the session must be confirmed before its client is granted a lock. Confirmations need time:
    /// if no time passes, the client waits until the end of every path.
    pub rested: u8,
    /// The seed that chooses layouts and roles, as in a run.
    pub seed: u64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many different states there are.
    pub states: usize,
    /// A broken promise, with the steps that lead to it.
    pub violation: Option<(Violation, Vec<String>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<B: Backend, S> {
    world: World<B, S>,
    /// Which clients have held the lock, or have given up.
    done: Vec<bool>,
    faults: u8,
    pauses: u8,
    may_give_up: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Move(Step),
    Fault(Step),
    /// Time passes until the next timer of any client.
    Time,
}

struct Walk<'a, B, S> {
    machine: &'a Machine<B, S>,
    case: Case,
    /// The transitions of the machines, if they are recorded.
    seen: Option<Arc<Mutex<Transitions>>>,
}

impl<B: Backend, S: Subject<B>> Walk<'_, B, S> {
    fn make(&self) -> impl Fn(Number, u8) -> S {
        let (make, seed) = (self.machine.make, self.case.seed);
        move |client, crashes| make(client, crashes, seed)
    }

    fn moves(&self, state: &State<B, S>) -> Vec<Step> {
        let mut moves = Vec::new();
        for client in 0..self.case.contenders {
            match state.world.checker.belief(client) {
                Belief::Idle if !state.done[usize::from(client)] && self.may_come(state, client) => {
                    moves.push(Step::Operation(client, Operation::Acquire));
                }
                Belief::Holds(hold) => {
                    moves.push(Step::Operation(client, Operation::Release));
                    if hold.mode == Mode::Exclusive {
                        moves.push(Step::Operation(client, Operation::Downgrade));
                    }
                }
                Belief::Waits(_) | Belief::Late(_) if state.may_give_up > 0 => {
                    moves.push(Step::Operation(client, Operation::Cancel))
                }
                _ => {}
            }
            let traffic = state.world.traffic(client);
            moves.extend((0..traffic.requests).map(|nth| Step::Execute(client, nth)));
            moves.extend((0..traffic.answers).map(|nth| Step::Answer(client, nth)));
            if traffic.notices {
                moves.push(Step::Notice(client));
            }
            if !traffic.connected {
                moves.push(Step::ClientFault(client, ClientFault::Reconnect(0)));
            }
        }
        moves
    }

    /// An inspection may begin at any time, and contenders do not have to wait for one.
    fn may_come(&self, state: &State<B, S>, client: Number) -> bool {
        let came = |before: Number| state.done[usize::from(before)] || state.world.has_a_place(before);
        let contends = |client: &Number| !state.world.inspects(*client);
        let before = (0..client).rev().find(contends);
        !self.case.in_order || !contends(&client) || before.is_none_or(came)
    }

    fn faults(&self, state: &State<B, S>) -> Vec<Step> {
        if state.faults == 0 {
            return Vec::new();
        }
        if self.case.only_crashes {
            let clients = (0..self.case.contenders).filter(|client| state.world.traffic(*client).connected);
            let crash = |client| Step::ClientFault(client, ClientFault::Crash);
            return clients.map(crash).collect();
        }
        let mut faults = vec![
            Step::ServerFault(ServerFault::Forget),
            Step::ServerFault(ServerFault::Throttle(1)),
        ];
        let conditions = self.machine.profile.server_faults.iter().copied();
        faults.extend(
            conditions
                .filter(|fault| is_condition(*fault))
                .map(Step::ServerFault),
        );
        for client in 0..self.case.contenders {
            faults.push(Step::ServerFault(ServerFault::Expire(client)));
            let traffic = state.world.traffic(client);
            let mut add = |fault| faults.push(Step::ClientFault(client, fault));
            for nth in 0..traffic.requests {
                add(ClientFault::LoseRequest(nth));
                add(ClientFault::GiveUp(nth));
            }
            (0..traffic.answers).for_each(|nth| add(ClientFault::LoseAnswer(nth)));
            if traffic.notices {
                add(ClientFault::Double);
                add(ClientFault::LoseNotice);
            }
            if traffic.connected {
                for executed in 0..=traffic.requests {
                    add(ClientFault::Disconnect(executed));
                }
                add(ClientFault::Crash);
            }
        }
        faults
    }
}

impl<B, S> Model for Walk<'_, B, S>
where
    B: Backend,
    S: Subject<B>,
{
    type State = State<B, S>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        let setup = Setup {
            drifts: vec![0; self.case.contenders.into()],
            servers: 1,
            fair: self.machine.fair,
            nameless: self.machine.profile.nameless,
            longest: self.machine.longest,
        };
        let mut world = World::new(setup, &self.make(), &mut ());
        world.let_arrive(&mut ());
        if self.case.in_order {
            for operation in [Operation::Acquire, Operation::Release] {
                world.step(Step::Operation(0, operation), &self.make(), &mut ());
                world.let_arrive(&mut ());
            }
        }
        for _ in 0..self.case.rested {
            world.until_next_timer(&mut ());
            world.let_arrive(&mut ());
        }
        world.forget_counts();
        vec![State {
            world,
            done: vec![false; self.case.contenders.into()],
            faults: self.case.faults,
            pauses: self.case.pauses,
            may_give_up: self.case.may_give_up,
        }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.world.checker.violation.is_some() {
            return;
        }
        let moves = self.moves(state);
        if moves.is_empty() && state.pauses > 0 {
            actions.push(Action::Time);
        }
        actions.extend(moves.into_iter().map(Action::Move));
        actions.extend(self.faults(state).into_iter().map(Action::Fault));
    }

    fn next_state(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        let make = self.make();
        let moved = match action {
            Action::Move(step) => {
                let gives_up = matches!(step, Step::Operation(_, Operation::Cancel));
                state.may_give_up -= u8::from(gives_up);
                state.world.step(step, &make, &mut ())
            }
            Action::Fault(step) => {
                state.faults -= 1;
                state.world.step(step, &make, &mut ())
            }
            Action::Time => {
                state.pauses -= 1;
                state.world.until_next_timer(&mut ())
            }
        };
        for client in 0..self.case.contenders {
            let waits = state.world.checker.belief(client) != Belief::Idle;
            let waited = last.world.checker.belief(client) != Belief::Idle;
            state.done[usize::from(client)] |= waited && !waits && state.world.is_satisfied(client);
        }
        state.world.forget_counts();
        if let Some(seen) = &self.seen {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            state.world.observe(&mut *seen);
        }
        moved.then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PROMISES, |_, state: &State<B, S>| {
                state.world.checker.violation.is_none()
            }),
            // At the end of a path, every client has held the lock, or gets it in turn when all faults have ended.
            Property::always(ENDS, |walk: &Self, state: &State<B, S>| {
                let timers = state.world.awaits_timer();
                if !walk.moves(state).is_empty() || timers && state.pauses > 0 {
                    return true;
                }
                let mut world = state.world.clone();
                world.recover(true, &mut ());
                world.checker.violation.is_none() && (timers || state.done.iter().all(|done| *done))
            }),
        ]
    }
}

/// Whether a server may give other answers after this step. In an ensemble with one server, no other server
/// can take over.
const fn is_condition(fault: ServerFault) -> bool {
    matches!(
        fault,
        ServerFault::Depose
            | ServerFault::Full
            | ServerFault::NoDisk
            | ServerFault::FewReplicas
            | ServerFault::NoChannels
            | ServerFault::Timeouts
            | ServerFault::Older
    )
}

const PROMISES: &str = "every promise is kept";
const ENDS: &str = "no client waits for ever";

/// Searches all states of a case.
pub fn explore<B, S>(machine: &'static Machine<B, S>, case: Case) -> Explored
where
    B: Backend + Send + Sync,
    S: Subject<B> + Send + Sync + 'static,
{
    walk(Walk {
        machine,
        case,
        seen: None,
    })
}

/// Searches all states of a case, and returns the transitions that the machines have made.
pub fn transitions<B, S>(machine: &'static Machine<B, S>, case: Case) -> Transitions
where
    B: Backend + Send + Sync,
    S: Subject<B> + Send + Sync + 'static,
{
    let seen = Arc::default();
    let explored = walk(Walk {
        machine,
        case,
        seen: Some(Arc::clone(&seen)),
    });
    assert_eq!(explored.violation, None, "{}, {case:?}", machine.name);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.clone()
}

fn walk<B, S>(walk: Walk<'static, B, S>) -> Explored
where
    B: Backend + Send + Sync,
    S: Subject<B> + Send + Sync + 'static,
{
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = walk.checker().threads(threads).spawn_bfs().join();
    let broken = checker.discoveries().into_iter().next();
    let violation = broken.map(|(name, path)| {
        let state = path.last_state();
        let violation = state.world.checker.violation.clone().unwrap_or(Violation {
            property: crate::checker::Property::L1,
            what: name.into(),
        });
        let steps = path
            .into_actions()
            .iter()
            .map(|action| format!("{action:?}"))
            .collect();
        (violation, steps)
    });
    Explored {
        states: checker.unique_state_count(),
        violation,
    }
}
