//! The transitions of the machines in a world, compared with their state tables.
//!
//! A table is a specification in two directions: a machine makes no transition that is not in it, and every transition in it can happen. The
//! explorer and runs by seed show both.

use std::{collections::BTreeMap, fmt::Debug, ops::Range};

use fencepost_core::states::{Observer, Record, State};

use crate::{
    backend::{Backend, Subject},
    faults::Faults,
    run::{Machine, by_seed},
    world::World,
};

/// The transitions of machines, by the name of their table.
#[derive(Clone, Debug, Default)]
pub struct Transitions(BTreeMap<&'static str, Made>);

/// The transitions of machines with the same table.
#[derive(Clone, Debug)]
struct Made {
    table: Vec<String>,
    /// A bit for each transition of the table that has happened.
    bits: u64,
    /// Transitions that are not in the table.
    strays: Vec<String>,
}

fn transition(from: impl Debug, to: impl Debug) -> String {
    format!("{from:?} -> {to:?}")
}

impl Made {
    fn nothing<S: State>() -> Self {
        let table = S::TRANSITIONS.iter();
        Self {
            table: table.map(|(from, to, _)| transition(from, to)).collect(),
            bits: 0,
            strays: Vec::new(),
        }
    }

    fn add_stray(&mut self, stray: String) {
        if !self.strays.contains(&stray) {
            self.strays.push(stray);
        }
    }
}

impl Observer for Transitions {
    fn observe<S: State>(&mut self, record: &Record<S>) {
        let made = self.0.entry(S::MACHINE).or_insert_with(Made::nothing::<S>);
        made.bits |= record.made;
        if let Some((from, to)) = record.stray {
            made.add_stray(transition(from, to));
        }
    }
}

impl Transitions {
    /// Adds the transitions of other machines.
    pub fn add(&mut self, others: Self) {
        for (machine, made) in others.0 {
            if let Some(known) = self.0.get_mut(machine) {
                known.bits |= made.bits;
                made.strays.into_iter().for_each(|stray| known.add_stray(stray));
            } else {
                self.0.insert(machine, made);
            }
        }
    }

    /// Transitions of any machine that are not in its table.
    #[must_use]
    pub fn strays(&self) -> Vec<String> {
        let each = |(machine, made): (&&str, &Made)| {
            let describe = |stray| format!("{machine}: {stray} has happened, and is not in the table");
            made.strays.iter().map(describe).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(each).collect()
    }

    /// Transitions in a machine's table that have not happened.
    #[must_use]
    pub fn missing(&self, machine: &str) -> Vec<String> {
        let Some(made) = self.0.get(machine) else {
            return vec![format!("{machine}: nothing has happened")];
        };
        let table = made.table.iter().enumerate();
        table
            .filter(|(index, _)| made.bits >> index & 1 == 0)
            .map(|(_, transition)| format!("{machine}: {transition}"))
            .collect()
    }
}

/// The transitions of the machines in the runs of these seeds.
#[must_use]
pub fn in_runs<B: Backend, S: Subject<B>>(machine: &Machine<B, S>, seeds: Range<u64>) -> Transitions {
    let mut seen = Transitions::default();
    for seed in seeds {
        let (run, _) = by_seed(machine, seed, &Faults::ALL);
        let make = |client, crashes| (machine.make)(client, crashes, seed);
        let mut world = World::<B, S>::new(run.setup, &make, &mut ());
        for step in run.steps {
            world.step(step, &make, &mut ());
            world.observe(&mut seen);
        }
        world.recover(run.grants_all, &mut ());
        world.observe(&mut seen);
    }
    seen
}
