//! The properties that the design promises under all faults, checked on the history of one run.
//!
//! `tests/transcripts/promises.json` has the texts of the properties. This table lists where each is checked.
//!
//! | | where | in detail |
//! |---|---|---|
//! | S1, S3 | [`Checker::look`] | |
//! | S2 | [`Checker::observe`], [`Checker::takes`] | |
//! | S4 | [`Resource`] | |
//! | S5 | [`trespass`] | |
//! | S7 | the world | |
//! | S8 | the world's recovery phase | |
//! | S9 | [`Views`] | |
//! | L1 | the world's recovery phase, and its clocks | compatible holders get the lock together; and a waiter was notified of its turn, unless a notice was lost |
//! | L2 | the world's recovery phase | only where there is an order |
//! | L3 | the world's inspections and recovery phase | a request that was answered is written, and the holder of that node receives it |
//! | D | [`Checker::ticked`] | an inspection has a deadline, too |
//!
//! A contender that an inspection [breaks](Checker::broke) may believe in its grant until it receives the
//! event that its node was deleted: until then, it is not compared with others. It receives the event in the
//! end (S3), and an inspection deletes no other node (S5).
//!
//! The [`Mode`]s of grants determine which are incompatible. Only exclusive ones have an order: a reader and
//! a permit may have any fence, and the resource refuses a reader that comes after a later writer, but no
//! write because of a reader.

mod belief;
mod mode;
mod property;
mod resource;
mod seen;
#[cfg(test)]
mod tests;
mod trespass;
mod views;

use core::{fmt, time::Duration};

use fencepost_core::{AttemptId, Event, Instant};

use crate::step::Number;
pub use belief::{Belief, Hold};
pub use mode::{Mode, turns, woken};
pub use property::Property;
pub use resource::{Fate, Resource, Write};
pub use seen::Seen;
pub use trespass::trespass;
pub use views::{Aim, ContenderNode, Shown, Task, Views};

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// The property.
    pub property: Property,
    /// The observation.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} ({}) is broken: {}",
            self.property,
            self.property.promise(),
            self.what
        )
    }
}

/// Observes every event, and checks the promises.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checker {
    beliefs: Vec<Belief>,
    turns: u32,
    /// Whether the last grant was lost, and no other grant has come since.
    vacant: bool,
    last_fence: u64,
    /// The highest fence that the server has issued.
    given: u64,
    /// Whether two clients may hold from now on, because of an operator or of lost data.
    pub two_may_hold: bool,
    /// Contenders that were broken, and may not have received the event.
    broken: Vec<Aim>,
    /// The counts of events so far.
    pub seen: Seen,
    /// The first broken promise.
    pub violation: Option<Violation>,
}

impl Checker {
    /// Nothing observed yet.
    #[must_use]
    pub fn new(clients: Number) -> Self {
        Self {
            beliefs: vec![Belief::Idle; clients.into()],
            turns: 0,
            vacant: false,
            last_fence: 0,
            given: 0,
            two_may_hold: false,
            broken: Vec::new(),
            seen: Seen::default(),
            violation: None,
        }
    }

    /// A client's belief.
    #[must_use]
    pub fn belief(&self, client: Number) -> Belief {
        self.beliefs[usize::from(client)]
    }

    /// A client's operation has changed its belief.
    pub fn believes(&mut self, client: Number, belief: Belief) {
        self.beliefs[usize::from(client)] = belief;
    }

    /// A promise was broken. Only the first one is stored.
    pub fn violated(&mut self, property: Property, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            let what = what();
            self.violation = Some(Violation { property, what });
        }
    }

    /// A client receives an event, at its own time. `mode` is the mode of its lock, `holds` is whether the
    /// server still has an attempt's lock.
    pub fn observe(
        &mut self,
        client: Number,
        local: Instant,
        event: &Event,
        mode: Mode,
        holds: impl FnOnce(&AttemptId) -> bool,
    ) {
        let belief = self.belief(client);
        if matches!(event, Event::Extended { .. })
            && let Belief::Holds(_) = belief
            && belief.valid(local).is_none()
        {
            self.violated(Property::S3, || {
                format!(
                    "the grant of client {} had ended by its own clock, and was extended",
                    name(client)
                )
            });
        }
        let now = match (event, belief) {
            (Event::Acquired { grant }, Belief::Waits(_) | Belief::Late(_)) => {
                let fence = grant.fence.map(|fence| fence.0);
                self.granted(mode, fence);
                let broken = self.is_broken(fence);
                Belief::Holds(Hold {
                    attempt: grant.attempt,
                    mode,
                    fence,
                    turn: if broken { 0 } else { self.turns },
                    until: grant.valid_until,
                    revocation_requested: false,
                    suspended: false,
                })
            }
            (Event::Extended { valid_until }, Belief::Holds(hold)) => Belief::Holds(Hold {
                until: *valid_until,
                ..hold
            }),
            (Event::Suspended, Belief::Holds(hold)) => Belief::Holds(Hold {
                suspended: true,
                ..hold
            }),
            (Event::Resumed { valid_until }, Belief::Holds(hold)) => {
                self.seen.resumed += 1;
                Belief::Holds(Hold {
                    until: *valid_until,
                    suspended: false,
                    ..hold
                })
            }
            (Event::Lost { .. }, Belief::Holds(_) | Belief::Leaves(..)) => {
                self.lost();
                Belief::Idle
            }
            (Event::Released, Belief::Leaves(attempt, _, in_time)) => {
                self.seen.released += 1;
                if !in_time {
                    self.violated(Property::S3, || {
                        format!(
                            "the grant of client {} had ended by its own clock when it released it, and its release was confirmed",
                            name(client)
                        )
                    });
                }
                if !self.two_may_hold && holds(&attempt) {
                    self.violated(Property::S8, || {
                        format!(
                            "the release of client {} was confirmed, and the lock is still there",
                            name(client)
                        )
                    });
                }
                Belief::Idle
            }
            // `World::has_found` has checked the answer.
            (Event::Found { .. }, Belief::Waits(_)) => {
                self.seen.found += 1;
                Belief::Idle
            }
            (Event::RevokeRequested, Belief::Holds(hold)) => {
                self.seen.revocation_requests += 1;
                Belief::Holds(Hold {
                    revocation_requested: true,
                    ..hold
                })
            }
            (
                Event::Refused { .. },
                Belief::Waits(_) | Belief::Late(_) | Belief::Ends(_) | Belief::Leaves(..),
            ) => {
                self.seen.refused += 1;
                Belief::Idle
            }
            (Event::Downgraded, Belief::Holds(hold)) if hold.mode == Mode::Shared => {
                self.seen.downgraded += 1;
                belief
            }
            (Event::Queued { .. } | Event::MixedLayouts { .. }, Belief::Waits(_) | Belief::Late(_)) => belief,
            _ => {
                self.violated(Property::S7, || {
                    format!("a client that was {belief:?} received {event:?}")
                });
                belief
            }
        };
        self.believes(client, now);
    }

    /// Resets the counters.
    pub fn forget_counts(&mut self) {
        self.seen = Seen::default();
        self.vacant = false;
    }

    /// A grant has ended without a release.
    pub fn lost(&mut self) {
        self.seen.lost += 1;
        self.vacant = true;
    }

    /// An inspection has deleted that contender, which gets the event later.
    pub fn broke(&mut self, aim: Aim) {
        self.seen.broken += 1;
        if !self.broken.contains(&aim) {
            self.broken.push(aim);
        }
    }

    /// Whether a grant with that fence was broken, and its holder may not have received the event.
    #[must_use]
    pub fn is_broken(&self, fence: Option<u64>) -> bool {
        let mut broken = self.broken.iter();
        broken.any(|aim| Some(aim.fence) == fence)
    }

    fn granted(&mut self, mode: Mode, fence: Option<u64>) {
        self.turns += 1;
        self.seen.granted += 1;
        self.seen.takeovers += u64::from(core::mem::take(&mut self.vacant));
        if let (Mode::Exclusive, Some(fence), false) = (mode, fence, self.is_broken(fence)) {
            let last = self.last_fence;
            self.last_fence = last.max(fence);
            if fence <= last && !self.two_may_hold {
                self.violated(Property::S2, || format!("fence {fence} was granted after {last}"));
            }
        }
    }

    /// That fence is the last one that the server has issued. Fences never decrease, even if the server has
    /// lost its data.
    pub fn given(&mut self, fence: u64) {
        let highest = self.given;
        self.given = highest.max(fence);
        if fence < highest {
            self.violated(Property::S2, || {
                format!("the server gave {fence} after {highest}")
            });
        }
    }

    /// The server has a new holder, which must not be a broken one, and must have a higher fence. Its client
    /// may never receive the grant.
    pub fn takes(&mut self, holder: &str, fence: u64) {
        let before = |aim: &&Aim| fence <= aim.fence;
        if let Some(aim) = self.broken.iter().find(before).cloned() {
            self.violated(Property::S2, || {
                format!("the server gave {fence} after {aim:?} was broken")
            });
        }
        let returned = self.broken.iter().any(|aim| aim.node == holder);
        if returned && !self.two_may_hold {
            self.violated(Property::S8, || {
                format!("{holder} has the lock on the server, and was broken")
            });
        }
    }

    /// Compares the beliefs of all clients at one moment. `local` returns a client's own time; `holds`
    /// returns whether the client holds the lock on the server.
    pub fn look(&mut self, local: impl Fn(Number) -> Instant, mut holds: impl FnMut(Number, &Hold) -> bool) {
        if self.two_may_hold {
            return;
        }
        let mut holders = String::new();
        let mut modes = Vec::new();
        for (client, belief) in (0..).zip(&self.beliefs) {
            let Some(hold) = belief.valid(local(client)) else {
                continue;
            };
            if self.is_broken(hold.fence) {
                continue;
            }
            holders.push(name(client));
            if !hold.mode.fits(&modes) {
                modes.push(hold.mode);
                return self.violated(Property::S1, || {
                    format!("clients {holders} hold at once, as {modes:?}")
                });
            }
            modes.push(hold.mode);
            if !holds(client, hold) {
                let fence = hold
                    .fence
                    .map(|fence| format!(" with fence {fence}"))
                    .unwrap_or_default();
                let what = format!(
                    "at {} ms of its own clock, client {} believes that it holds the lock{fence}; on the server it does not",
                    millis(local(client)),
                    name(client),
                );
                return self.violated(Property::S3, || what);
            }
        }
    }

    /// A client has looked at its clock, and its machine has reacted. After its deadline, the client may still be granted a free lock within
    /// `grace`, and may delete its nodes within `cleanup_limit`.
    pub fn ticked(&mut self, client: Number, local: Instant, cleanup_limit: Duration, grace: Duration) {
        match self.belief(client) {
            Belief::Waits(Some(deadline)) if deadline <= local && grace > Duration::ZERO => {
                self.believes(client, Belief::Late(local.plus(grace)));
            }
            Belief::Waits(Some(deadline)) | Belief::Late(deadline)
                if deadline <= local && cleanup_limit > Duration::ZERO =>
            {
                self.believes(client, Belief::Ends(local.plus(cleanup_limit)));
            }
            Belief::Waits(Some(deadline)) | Belief::Late(deadline) | Belief::Ends(deadline)
                if deadline <= local =>
            {
                self.violated(Property::D, || {
                    format!(
                        "client {} still waits at {} ms of its own clock, though its timeout was at {} ms",
                        name(client),
                        millis(local),
                        millis(deadline)
                    )
                });
            }
            _ => {}
        }
    }
}

/// A time in milliseconds, in the form of stories.
fn millis(at: Instant) -> String {
    let micros = at.as_micros();
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

/// The name of a client in stories: A, B, C.
#[must_use]
pub fn name(client: Number) -> char {
    char::from(b'A'.saturating_add(client))
}
