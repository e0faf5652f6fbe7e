//! What has to hold in any weather.

use fencepost_core::{Event, Instant};

/// What has happened in stories.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) granted: u64,
    pub(crate) released: u64,
    pub(crate) lost: u64,
    pub(crate) refused: u64,
    pub(crate) resumed: u64,
}

impl Seen {
    pub(crate) const fn add(&mut self, more: Self) {
        self.granted += more.granted;
        self.released += more.released;
        self.lost += more.lost;
        self.refused += more.refused;
        self.resumed += more.resumed;
    }
}

/// What a client believes, by what it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    Idle,
    Waits,
    /// Holds until then.
    Holds(Instant),
    /// Has asked to release.
    Leaves,
}

/// Hears all events of all clients.
pub(crate) struct Checker {
    pub(crate) beliefs: Vec<Belief>,
    pub(crate) seen: Seen,
    last_fence: u64,
    /// Somebody deletes locks by hand: then two may hold for a moment.
    pub(crate) operators: bool,
}

impl Checker {
    pub(crate) fn new(clients: usize, operators: bool) -> Self {
        Self {
            beliefs: vec![Belief::Idle; clients],
            seen: Seen::default(),
            last_fence: 0,
            operators,
        }
    }

    /// A client was told something.
    pub(crate) fn hear(&mut self, now: Instant, client: usize, event: &Event) {
        let belief = self.beliefs[client];
        match event {
            Event::Acquired { grant } => {
                assert_eq!(belief, Belief::Waits, "granted to somebody who does not wait");
                let fence = grant.fence.expect("a fence").0;
                assert!(
                    self.operators || fence > self.last_fence,
                    "fence {fence} after {}",
                    self.last_fence
                );
                self.last_fence = fence;
                self.seen.granted += 1;
                self.beliefs[client] = Belief::Holds(grant.valid_until.expect("an end"));
            }
            Event::Extended { valid_until } | Event::Resumed { valid_until } => {
                assert!(matches!(belief, Belief::Holds(_)), "{event:?} of {belief:?}");
                self.seen.resumed += u64::from(matches!(event, Event::Resumed { .. }));
                self.beliefs[client] = Belief::Holds(valid_until.expect("an end"));
            }
            Event::Lost { .. } => {
                assert!(matches!(belief, Belief::Holds(_) | Belief::Leaves));
                self.seen.lost += 1;
                self.beliefs[client] = Belief::Idle;
            }
            Event::Released => {
                assert_eq!(belief, Belief::Leaves);
                self.seen.released += 1;
                self.beliefs[client] = Belief::Idle;
            }
            Event::Refused { .. } => {
                assert!(matches!(belief, Belief::Waits | Belief::Leaves));
                self.seen.refused += 1;
                self.beliefs[client] = Belief::Idle;
            }
            _ => {}
        }
        self.check(now);
    }

    /// Never two valid grants.
    pub(crate) fn check(&self, now: Instant) {
        let valid = |belief: &&Belief| matches!(belief, Belief::Holds(until) if *until > now);
        let holders = self.beliefs.iter().filter(valid).count();
        assert!(
            self.operators || holders <= 1,
            "{holders} valid grants at {now:?}: {:?}",
            self.beliefs
        );
    }

    /// Whether a client believes in a grant at this time.
    pub(crate) fn is_valid(&self, now: Instant, client: usize) -> bool {
        matches!(self.beliefs[client], Belief::Holds(until) if until > now)
    }
}
