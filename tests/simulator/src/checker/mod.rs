//! What has to hold, however bad the weather: the properties that the design states, judged on the history of one run.
//!
//! | | property | where |
//! |---|---|---|
//! | S1 | never two incompatible grants | [`Checker::look`] |
//! | S2 | fences of exclusive grants increase, in the order of the grants | [`Checker::hear`] |
//! | S3 | who believes in a grant, by its own clock, has it on the server | [`Checker::look`] |
//! | S4 | after a resource has accepted a grant's write, it accepts none of an older grant | [`Resource`] |
//! | S5 | only one's own attempts are touched | [`trespass`] |
//! | S7 | no panic, no error for what makes sense, bounded output | the world |
//! | S8 | nothing remains after the longest lease | the world's ending |
//! | S9 | what an inspection is answered is so | [`Views`] |
//! | L1 | who waits is granted, in order where there is one, and beside whom it may hold with; and has heard of its turn, unless a notice was lost | the world's ending, and its clocks |
//! | L2 | a release wakes one waiter or one group of readers, where there is an order | the world's ending |
//! | L3 | a wish for a lock that was answered is written, and whoever holds by that node hears of it | the world's inspections and ending |
//! | D | one deadline covers the whole acquire, and an inspection | [`Checker::ticked`] |
//!
//! A contender that an inspection [breaks](Checker::broke) may believe in its grant until it hears that its node was deleted: until then it
//! counts for nobody else. It hears in the end (S3), and an inspection deletes nobody else (S5).
//!
//! Which grants are incompatible is a matter of their [`Mode`]s. Only exclusive ones have an order: a reader's fence and a permit's may be
//! any, and the resource refuses a reader that comes after a later writer, but nobody for a reader's sake.

mod mode;
mod resource;
mod seen;
#[cfg(test)]
mod tests;
mod trespass;
mod views;

use core::{fmt, time::Duration};

use fencepost_core::{AttemptId, Event, Instant};

use crate::step::Number;
pub use mode::{Mode, turns, woken};
pub use resource::{Fate, Resource, Write};
pub use seen::Seen;
pub use trespass::trespass;
pub use views::{Aim, Deed, Placed, Shown, Views};

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the module's table says what they are")]
pub enum Property {
    S1,
    S2,
    S3,
    S4,
    S5,
    S7,
    S8,
    S9,
    L1,
    L2,
    L3,
    D,
}

impl Property {
    /// The property of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        const ALL: [Property; 12] = [
            Property::S1,
            Property::S2,
            Property::S3,
            Property::S4,
            Property::S5,
            Property::S7,
            Property::S8,
            Property::S9,
            Property::L1,
            Property::L2,
            Property::L3,
            Property::D,
        ];
        ALL.into_iter().find(|property| format!("{property:?}") == name)
    }

    /// What it promises.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::S1 => "never two grants at once that exclude each other",
            Self::S2 => "fences grow from exclusive grant to exclusive grant",
            Self::S3 => "who believes in a grant has it on the server",
            Self::S4 => "a resource accepts no write that is older than one it has accepted",
            Self::S5 => "nobody touches what is another's",
            Self::S7 => "no panic, no unreasonable error, no endless output",
            Self::S8 => "nothing is left behind",
            Self::S9 => "what an inspection says is so",
            Self::L1 => "everybody who waits is granted in turn",
            Self::L2 => "a release wakes one waiter, or one group of readers",
            Self::L3 => "a wish for a lock reaches whoever holds it",
            Self::D => "an acquire ends when its time is up",
        }
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// Which.
    pub property: Property,
    /// What was seen.
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

/// What a client believes, by what it was told. Times are its own clock's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Belief {
    /// It wants nothing.
    Idle,
    /// It waits, until that time.
    Waits(Option<Instant>),
    /// It has looked at its clock after that, and what it has made is being deleted: it hears by that time that it waits no more.
    Ends(Instant),
    /// It holds.
    Holds(Hold),
    /// It has asked to release this attempt's lock, which was of that kind at last, and valid then by its own clock, or not.
    Leaves(AttemptId, Mode, bool),
}

/// A grant as its holder has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// Of which attempt.
    pub attempt: AttemptId,
    /// Who may hold beside it.
    pub mode: Mode,
    /// Its fence.
    pub fence: Option<u64>,
    /// How many grants were heard of before: the order where there is no fence.
    pub turn: u32,
    /// When it ends by the holder's clock.
    pub until: Option<Instant>,
    /// Whether its holder was told that somebody wants the lock.
    pub wanted: bool,
    /// Whether its holder was told that the connection is gone, and not yet that it is back: the machine may know of a later end.
    pub suspended: bool,
}

impl Belief {
    /// What it holds as, or gives back.
    #[must_use]
    pub const fn held_as(&self) -> Option<Mode> {
        match self {
            Self::Holds(Hold { mode, .. }) | Self::Leaves(_, mode, _) => Some(*mode),
            Self::Idle | Self::Waits(_) | Self::Ends(_) => None,
        }
    }

    /// The grant, if it is valid by its holder's clock.
    #[must_use]
    pub fn valid(&self, local: Instant) -> Option<&Hold> {
        match self {
            Self::Holds(hold) if hold.until.is_none_or(|until| local < until) => Some(hold),
            _ => None,
        }
    }
}

/// Hears everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checker {
    beliefs: Vec<Belief>,
    turns: u32,
    /// Whether the last grant was lost, and nobody has been granted since.
    vacant: bool,
    last_fence: u64,
    /// The highest fence that the server has given.
    given: u64,
    /// Two may hold from now on: an operator's doing, or lost data.
    pub two_may_hold: bool,
    /// The fences of contenders that were broken, and may not have heard of it.
    broken: Vec<u64>,
    /// What has happened so far.
    pub seen: Seen,
    /// The first broken promise.
    pub violation: Option<Violation>,
}

impl Checker {
    /// Nothing heard yet.
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

    /// What a client believes.
    #[must_use]
    pub fn belief(&self, client: Number) -> Belief {
        self.beliefs[usize::from(client)]
    }

    /// A client's wish has changed what it believes.
    pub fn believes(&mut self, client: Number, belief: Belief) {
        self.beliefs[usize::from(client)] = belief;
    }

    /// A promise was broken. The first counts.
    pub fn violated(&mut self, property: Property, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            let what = what();
            self.violation = Some(Violation { property, what });
        }
    }

    /// A client was told something, at its own time. `mode` is what it contends for, `holds` says whether the server still has an
    /// attempt's lock.
    pub fn hear(
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
            (Event::Acquired { grant }, Belief::Waits(_)) => {
                let fence = grant.fence.map(|fence| fence.0);
                self.granted(mode, fence);
                let broken = self.is_broken(fence);
                Belief::Holds(Hold {
                    attempt: grant.attempt,
                    mode,
                    fence,
                    turn: if broken { 0 } else { self.turns },
                    until: grant.valid_until,
                    wanted: false,
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
                            "the grant of client {} had ended by its own clock when it released it, and it was not told so",
                            name(client)
                        )
                    });
                }
                if !self.two_may_hold && holds(&attempt) {
                    self.violated(Property::S8, || {
                        format!(
                            "client {} was told that it has released, and the lock is still there",
                            name(client)
                        )
                    });
                }
                Belief::Idle
            }
            // World::has_found sees to it that it is so.
            (Event::Found { .. }, Belief::Waits(_)) => {
                self.seen.found += 1;
                Belief::Idle
            }
            (Event::RevokeRequested, Belief::Holds(hold)) => {
                self.seen.wanted += 1;
                Belief::Holds(Hold { wanted: true, ..hold })
            }
            (Event::Refused { .. }, Belief::Waits(_) | Belief::Ends(_) | Belief::Leaves(..)) => {
                self.seen.refused += 1;
                Belief::Idle
            }
            (Event::Downgraded, Belief::Holds(hold)) if hold.mode == Mode::Shared => {
                self.seen.downgraded += 1;
                belief
            }
            (Event::Queued { .. } | Event::MixedLayouts { .. }, Belief::Waits(_)) => belief,
            _ => {
                self.violated(Property::S7, || {
                    format!("{event:?} was told to a client that was {belief:?}")
                });
                belief
            }
        };
        self.believes(client, now);
    }

    /// Forgets what was only counted.
    pub fn forget_counts(&mut self) {
        self.seen = Seen::default();
        self.vacant = false;
    }

    /// A grant has ended without a release.
    pub fn lost(&mut self) {
        self.seen.lost += 1;
        self.vacant = true;
    }

    /// An inspection has deleted the node of that fence: its contender learns of it later.
    pub fn broke(&mut self, fence: u64) {
        self.seen.broken += 1;
        if !self.broken.contains(&fence) {
            self.broken.push(fence);
        }
    }

    /// Whether a grant of that fence was broken, and perhaps not told so.
    #[must_use]
    pub fn is_broken(&self, fence: Option<u64>) -> bool {
        fence.is_some_and(|fence| self.broken.contains(&fence))
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

    /// The server has given that fence last: also when it has lost its data, never a lower one than before.
    pub fn given(&mut self, fence: u64) {
        let highest = self.given;
        self.given = highest.max(fence);
        if fence < highest {
            self.violated(Property::S2, || {
                format!("the server gave {fence} after {highest}")
            });
        }
    }

    /// Looks at all beliefs at one moment. `local` gives a client's own time, `holds` whether the server agrees.
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
                let what = format!(
                    "client {} believes in {hold:?} at its {:?}, the server does not",
                    name(client),
                    local(client)
                );
                return self.violated(Property::S3, || what);
            }
        }
    }

    /// A client has looked at its clock, and heard what its machine says to that. Once its time is up it may have to wait for so long still; its
    /// time is up later where a lock that is free may be granted late.
    pub fn ticked(&mut self, client: Number, local: Instant, farewell: Duration, grace: Duration) {
        match self.belief(client) {
            Belief::Waits(Some(deadline)) if local < deadline.plus(grace) => {}
            Belief::Waits(Some(deadline)) if deadline <= local && farewell > Duration::ZERO => {
                self.believes(client, Belief::Ends(local.plus(farewell)));
            }
            Belief::Waits(Some(deadline)) | Belief::Ends(deadline) if deadline <= local => {
                self.violated(Property::D, || {
                    format!(
                        "client {} still waits at {local:?}, its time was up at {deadline:?}",
                        name(client)
                    )
                });
            }
            _ => {}
        }
    }
}

/// What a client is called in stories: A, B, C.
#[must_use]
pub fn name(client: Number) -> char {
    char::from(b'A'.saturating_add(client))
}
