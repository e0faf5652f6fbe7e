//! Mutants of the protocol: each removes one check, between the machines and the servers.

use fencepost_core::zookeeper::{Answer, CreateMode, Reply, Request, Write};
use fencepost_simulator::zookeeper::{Ask, RECORD};

use crate::promises::Broken;

/// The change that a mutant makes to a request or to its answer.
#[derive(Clone, Copy)]
enum Wrong {
    /// Changes a write of a transaction, or removes it.
    Part(fn(Write) -> Option<Write>),
    /// Changes the answer to a read.
    Answer(fn(&Request, &mut Reply)),
    /// A sweep does not change the bucket.
    Sweep,
}

pub(crate) struct Mutant {
    /// The missing check.
    pub(crate) without: &'static str,
    wrong: Wrong,
}

impl Mutant {
    pub(crate) fn asked(&self, ask: Ask) -> Ask {
        match (self.wrong, ask) {
            (Wrong::Part(part), Ask::Request(Request::Multi { writes })) => {
                let writes = writes.into_iter().filter_map(part).collect();
                Ask::Request(Request::Multi { writes })
            }
            (_, ask) => ask,
        }
    }

    pub(super) const fn sweeps_well(&self) -> bool {
        !matches!(self.wrong, Wrong::Sweep)
    }

    pub(super) fn answered(&self, ask: &Ask, mut reply: Reply) -> Reply {
        if let (Wrong::Answer(answer), Ask::Request(request)) = (self.wrong, ask) {
            answer(request, &mut reply);
        }
        reply
    }
}

/// The mutants, each with the promise that it breaks.
pub(crate) const MUTANTS: [(Mutant, Broken); 6] = [
    (
        Mutant {
            without: "the version of a record that is set",
            wrong: Wrong::Part(|part| {
                Some(match part {
                    Write::Set { path, data, .. } => Write::Set {
                        path,
                        data,
                        version: None,
                    },
                    other => other,
                })
            }),
        },
        Broken::TwoResults,
    ),
    (
        Mutant {
            without: "the check of the bucket",
            wrong: Wrong::Part(|part| match part {
                Write::Check { path, .. } if RECORD.starts_with(&path) => None,
                other => Some(other),
            }),
        },
        Broken::OtherArguments,
    ),
    (
        Mutant {
            without: "the change of the bucket by a sweep",
            wrong: Wrong::Sweep,
        },
        Broken::OtherArguments,
    ),
    (
        Mutant {
            without: "the end of a lease with its session",
            wrong: Wrong::Part(|part| {
                Some(match part {
                    Write::Create { path, data, mode: _ } => Write::Create {
                        path,
                        data,
                        mode: CreateMode::Persistent,
                    },
                    other => other,
                })
            }),
        },
        Broken::Wedged,
    ),
    (
        Mutant {
            without: "the list of leases",
            wrong: Wrong::Answer(|request, reply| {
                if matches!(request, Request::Children { .. }) && matches!(reply.answer, Answer::Children(_))
                {
                    reply.answer = Answer::Children(Vec::new());
                }
            }),
        },
        Broken::TwoAtOnce,
    ),
    (
        Mutant {
            without: "the time of a claim of a token",
            wrong: Wrong::Answer(|_, reply| {
                if let Answer::Data { stat, .. } = &mut reply.answer
                    && stat.ephemeral_owner != 0
                {
                    stat.created = 0;
                }
            }),
        },
        Broken::ExpiredToken,
    ),
];
