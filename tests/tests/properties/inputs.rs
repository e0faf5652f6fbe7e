//! What is put in, as small numbers that a world reads against what it has seen.

use proptest::prelude::*;

/// Which hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    ZooKeeper,
    Redis,
}

/// One input. Machines and commands are chosen by numbers: the n-th there is, or one that never was.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Open,
    Intent {
        machine: u8,
        intent: u8,
    },
    /// An answer that fits, to one of the commands under way.
    Answer {
        command: u8,
        variant: u8,
    },
    /// Any answer to any command, in any shape.
    Babble {
        command: u8,
        variant: u8,
    },
    Fail {
        command: u8,
        failure: u8,
    },
    Session {
        state: u8,
        session: u8,
        timeout: u8,
    },
    /// The first in the line goes, and those who watch it are told.
    Vanish,
    /// A watch, a message, a lost subscription.
    Notice {
        command: u8,
        session: u8,
        event: u8,
    },
    Advance {
        micros: u32,
    },
    GoBack {
        micros: u32,
    },
    UntilWait,
    Close {
        machine: u8,
    },
    PollOnly {
        machine: u8,
    },
    Shutdown,
}

/// Any step; sensible ones are more frequent, so that machines get somewhere.
pub(crate) fn step(family: Family) -> impl Strategy<Value = Step> {
    let zookeeper = u32::from(family == Family::ZooKeeper);
    let byte = any::<u8>;
    // Mostly what a healthy server says.
    let variant = || prop_oneof![3 => Just(0), 1 => byte()];
    prop_oneof![
        5 => Just(Step::Open),
        24 => (byte(), byte()).prop_map(|(machine, intent)| Step::Intent { machine, intent }),
        70 => (byte(), variant()).prop_map(|(command, variant)| Step::Answer { command, variant }),
        4 => (byte(), byte()).prop_map(|(command, variant)| Step::Babble { command, variant }),
        5 => (byte(), byte()).prop_map(|(command, failure)| Step::Fail { command, failure }),
        1 + 7 * zookeeper => (byte(), byte(), byte())
            .prop_map(|(state, session, timeout)| Step::Session { state, session, timeout }),
        1 + 6 * zookeeper => Just(Step::Vanish),
        8 => (byte(), byte(), byte())
            .prop_map(|(command, session, event)| Step::Notice { command, session, event }),
        3 => (0..3_000_000_u32).prop_map(|micros| Step::Advance { micros }),
        2 => any::<u32>().prop_map(|micros| Step::GoBack { micros }),
        12 => Just(Step::UntilWait),
        2 => byte().prop_map(|machine| Step::Close { machine }),
        3 => byte().prop_map(|machine| Step::PollOnly { machine }),
        1 => byte().prop_map(|rarely| if rarely < 64 { Step::Shutdown } else { Step::UntilWait }),
    ]
}
