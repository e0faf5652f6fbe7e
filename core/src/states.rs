//! State tables: the phases of each machine, the allowed transitions, and the causes of each transition.
//!
//! Every machine has its table next to its code, in a file `states.rs`. The table is the specification, written as
//! data. With the feature `states`, each machine records the transitions that it makes, and the simulator compares the
//! record with the table. Without the feature there are no tables, and a record is empty.

use core::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};

/// A state of a machine: its phase, without the phase's data.
#[cfg(feature = "states")]
pub trait State: Copy + fmt::Debug + Eq + 'static {
    /// The name of the machine.
    const MACHINE: &'static str;
    /// Every transition: the state before it, the state after it, and the causes. A machine begins in the first state
    /// of the table.
    const TRANSITIONS: &'static [(Self, Self, &'static str)];
}

/// Receives the records of the machines' transitions.
#[cfg(feature = "states")]
pub trait Observer {
    /// Receives the transitions that one machine has made so far.
    fn observe<S: State>(&mut self, record: &Record<S>);
}

/// The transitions that one machine has made so far.
#[cfg(feature = "states")]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Record<S> {
    /// The entries of the table that have happened: one bit for each. The lowest bit is the first entry.
    pub made: u64,
    /// A transition that is not in the table.
    pub stray: Option<(S, S)>,
    /// The present state, after the first transition.
    at: Option<S>,
}

#[cfg(feature = "states")]
impl<S: State> Record<S> {
    fn at(&self) -> Option<S> {
        self.at
            .or_else(|| S::TRANSITIONS.first().map(|(first, ..)| *first))
    }

    fn add(&mut self, to: S) {
        let Some(from) = self.at().filter(|from| *from != to) else {
            return;
        };
        self.at = Some(to);
        let entry = S::TRANSITIONS.iter().position(|(a, b, _)| (*a, *b) == (from, to));
        let bit = entry
            .and_then(|entry| u32::try_from(entry).ok())
            .and_then(|entry| 1_u64.checked_shl(entry));
        match bit {
            Some(bit) => self.made |= bit,
            None => self.stray = Some((from, to)),
        }
    }
}

/// A phase of a machine that has a state table.
#[cfg(feature = "states")]
pub(crate) trait Phase {
    type State: State;

    fn state(&self) -> Self::State;
}

#[cfg(not(feature = "states"))]
pub(crate) trait Phase {}

#[cfg(not(feature = "states"))]
impl<P> Phase for P {}

/// The transitions that a machine has made. A trail is not part of the machine's state: two trails are always equal.
pub(crate) struct Trail<P: Phase> {
    #[cfg(feature = "states")]
    record: Record<P::State>,
    of: PhantomData<fn() -> P>,
}

impl<P: Phase> Trail<P> {
    /// The trail of a new machine.
    pub(crate) const NEW: Self = Self {
        #[cfg(feature = "states")]
        record: Record {
            made: 0,
            stray: None,
            at: None,
        },
        of: PhantomData,
    };

    /// Records that the machine enters this phase.
    pub(crate) fn follow(&mut self, phase: &P) {
        #[cfg(feature = "states")]
        self.record.add(phase.state());
        #[cfg(not(feature = "states"))]
        let _ = phase;
    }

    /// Passes the record to the observer. If the machine entered a phase without [`follow`](Self::follow), this is a
    /// stray transition.
    #[cfg(feature = "states")]
    pub(crate) fn show(&self, phase: &P, observer: &mut impl Observer) {
        let mut record = self.record;
        if let Some(at) = record.at().filter(|at| *at != phase.state()) {
            record.stray = Some((at, phase.state()));
        }
        observer.observe(&record);
    }
}

impl<P: Phase> Clone for Trail<P> {
    fn clone(&self) -> Self {
        Self {
            #[cfg(feature = "states")]
            record: self.record,
            of: PhantomData,
        }
    }
}

impl<P: Phase> fmt::Debug for Trail<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trail")
    }
}

impl<P: Phase> PartialEq for Trail<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: Phase> Eq for Trail<P> {}

impl<P: Phase> Hash for Trail<P> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(all(test, feature = "states"))]
mod tests {
    use alloc::string::String;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Light {
        Red,
        Green,
        Dark,
    }

    impl State for Light {
        const MACHINE: &'static str = "light";
        const TRANSITIONS: &'static [(Self, Self, &'static str)] =
            &[(Self::Red, Self::Green, "go"), (Self::Green, Self::Red, "stop")];
    }

    impl Phase for Light {
        type State = Self;

        fn state(&self) -> Self {
            *self
        }
    }

    struct Seen(u64, Option<(String, String)>);

    impl Observer for Seen {
        fn observe<S: State>(&mut self, record: &Record<S>) {
            let name = |state| alloc::format!("{state:?}");
            *self = Self(record.made, record.stray.map(|(from, to)| (name(from), name(to))));
        }
    }

    fn seen(followed: &[Light], at: Light) -> (u64, Option<(String, String)>) {
        let mut trail = Trail::NEW;
        followed.iter().for_each(|phase| trail.follow(phase));
        assert_eq!(trail, Trail::NEW, "a trail is no part of a machine's state");
        assert_eq!(alloc::format!("{trail:?}"), "Trail");
        let mut seen = Seen(0, None);
        trail.show(&at, &mut seen);
        (seen.0, seen.1)
    }

    fn stray(from: &str, to: &str) -> Option<(String, String)> {
        Some((from.into(), to.into()))
    }

    #[test]
    fn transitions_are_recorded_by_the_table() {
        use Light::{Dark, Green, Red};
        assert_eq!(seen(&[], Red), (0, None));
        assert_eq!(seen(&[Red, Green, Green], Green), (1, None));
        assert_eq!(seen(&[Green, Red], Red), (3, None));
        assert_eq!(seen(&[Green, Dark], Dark), (1, stray("Green", "Dark")));
    }

    #[test]
    fn a_phase_that_was_not_followed_is_a_stray_one() {
        assert_eq!(seen(&[], Light::Green), (0, stray("Red", "Green")));
    }
}
