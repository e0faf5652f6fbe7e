//! The shortest run that breaks the same promise (delta debugging, Zeller and Hildebrandt 2002).

use crate::{
    backend::{Backend, Subject},
    checker::Property,
    run::{Machine, Run, again},
};

/// The largest number of runs.
const MOST_TRIALS: u32 = 20_000;

/// Removes every step that breaking the promise does not need.
#[must_use]
pub fn shrink<B: Backend, S: Subject<B>>(machine: &Machine<B, S>, run: &Run, property: Property) -> Run {
    let breaks = |candidate: &Run| {
        again(machine, candidate, &mut ())
            .violation
            .is_some_and(|violation| violation.property == property)
    };
    let mut best = run.clone();
    let mut trials = 0;
    let driftless = Run {
        setup: crate::world::Setup {
            drifts: vec![0; best.setup.drifts.len()],
            ..best.setup.clone()
        },
        ..best.clone()
    };
    if breaks(&driftless) {
        best = driftless;
    }
    let mut size = best.steps.len().div_ceil(2).max(1);
    loop {
        let mut shorter = false;
        let mut at = 0;
        while at < best.steps.len() && trials < MOST_TRIALS {
            let mut candidate = best.clone();
            let end = (at + size).min(candidate.steps.len());
            candidate.steps.drain(at..end);
            trials += 1;
            if breaks(&candidate) {
                best = candidate;
                shorter = true;
            } else {
                at += size;
            }
        }
        if size == 1 && !shorter || trials >= MOST_TRIALS {
            return best;
        }
        size = if shorter { size } else { size.div_ceil(2) }
            .max(1)
            .min(best.steps.len().max(1));
    }
}
