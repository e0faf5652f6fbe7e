//! Hand-written histories, with the promise that the checker must report for each.

use fencepost_core::{AttemptId, ContenderId, Event, Fence, Grant, Instant};

use super::{
    Mode::{self, Exclusive, Permit, Shared},
    *,
};

const END: u64 = 1000;

fn broken() -> Aim {
    let node = "a".into();
    Aim { node, fence: 5 }
}

struct History {
    checker: Checker,
    resource: Resource,
}

impl History {
    fn new() -> Self {
        Self {
            checker: Checker::new(4),
            resource: Resource::default(),
        }
    }

    /// A client gets the lock that it waits for, until [`END`].
    fn granted(&mut self, client: Number, mode: Mode, fence: Option<u64>) -> &mut Self {
        let owner = ContenderId([client; 16]);
        let grant = Grant {
            attempt: AttemptId {
                contender: owner,
                number: 1,
            },
            fence: fence.map(Fence),
            takeovers: 0,
            valid_until: Some(Instant::from_micros(END)),
        };
        self.checker.believes(client, Belief::Waits(None));
        let event = Event::Acquired { grant };
        self.checker
            .observe(client, Instant::ZERO, &event, mode, |_| true);
        self
    }

    fn gone(&mut self, client: Number) -> &mut Self {
        self.checker.believes(client, Belief::Idle);
        self
    }

    /// The broken promise, after a comparison at that time.
    fn at(&mut self, time: u64) -> Option<Property> {
        self.at_server(time, |_| true)
    }

    fn at_server(&mut self, time: u64, holds: impl Fn(Number) -> bool) -> Option<Property> {
        self.checker
            .look(|_| Instant::from_micros(time), |client, _| holds(client));
        self.checker.violation.as_ref().map(|broken| broken.property)
    }

    fn writes(&mut self, client: Number) -> Fate {
        let Belief::Holds(hold) = self.checker.belief(client) else {
            panic!("{client} holds nothing");
        };
        self.resource.take(&Write { client, hold })
    }
}

#[test]
fn s1_readers_hold_together_and_a_writer_alone() {
    let at_once = |modes: &[Mode]| {
        let mut history = History::new();
        for (client, mode) in (0..).zip(modes) {
            history.granted(client, *mode, None);
        }
        history.at(END - 1)
    };
    assert_eq!(at_once(&[Shared, Shared, Shared]), None);
    assert_eq!(at_once(&[Exclusive, Exclusive]), Some(Property::S1));
    assert_eq!(at_once(&[Shared, Shared, Exclusive]), Some(Property::S1));
    assert_eq!(at_once(&[Exclusive, Shared]), Some(Property::S1));
    assert_eq!(at_once(&[Permit(2), Permit(2)]), None);
    assert_eq!(at_once(&[Permit(2), Permit(2), Permit(2)]), Some(Property::S1));
}

#[test]
fn s1_a_grant_that_has_ended_by_its_holders_clock_is_none() {
    let mut history = History::new();
    history.granted(0, Shared, None);
    assert_eq!(history.at(END), None);
    history.gone(0).granted(1, Exclusive, None);
    assert_eq!(history.at(0), None);
    history.granted(2, Exclusive, None);
    assert_eq!(history.at(END), None);
    assert_eq!(history.at(0), Some(Property::S1));
}

#[test]
fn s2_writers_fences_grow_whatever_readers_and_permits_have() {
    let order = |grants: &[(Mode, u64)]| {
        let mut history = History::new();
        for (mode, fence) in grants {
            history.granted(0, *mode, Some(*fence)).gone(0);
        }
        history.at(0)
    };
    assert_eq!(order(&[(Exclusive, 5), (Exclusive, 6)]), None);
    assert_eq!(order(&[(Exclusive, 5), (Exclusive, 5)]), Some(Property::S2));
    assert_eq!(
        order(&[(Exclusive, 5), (Shared, 3), (Shared, 3), (Exclusive, 6)]),
        None
    );
    assert_eq!(order(&[(Exclusive, 5), (Shared, 9), (Exclusive, 6)]), None);
    assert_eq!(
        order(&[(Exclusive, 5), (Shared, 9), (Exclusive, 4)]),
        Some(Property::S2)
    );
    assert_eq!(order(&[(Permit(2), 5), (Permit(2), 4)]), None);
}

#[test]
fn s3_each_of_several_holders_has_its_grant_on_the_server() {
    let mut history = History::new();
    history.granted(0, Shared, None).granted(1, Shared, None);
    assert_eq!(history.at(0), None);
    assert_eq!(history.at_server(0, |client| client == 0), Some(Property::S3));
}

#[test]
fn s4_a_reader_that_comes_after_a_later_writer_is_refused_and_causes_no_refusal() {
    let mut history = History::new();
    history
        .granted(0, Shared, Some(4))
        .granted(1, Exclusive, Some(5))
        .granted(2, Shared, Some(9))
        .granted(3, Exclusive, Some(6));
    assert_eq!(history.writes(0), Fate::Accepted);
    assert_eq!(history.writes(2), Fate::Accepted);
    // The reader's fence 9 is not compared.
    assert_eq!(history.writes(1), Fate::Accepted);
    assert_eq!(history.writes(0), Fate::Refused);
    assert_eq!(history.writes(3), Fate::Accepted);
    assert_eq!(history.writes(1), Fate::Refused);
    assert_eq!(
        history.writes(2),
        Fate::Stale,
        "its fence is too high to be refused"
    );
}

#[test]
fn s4_without_a_fence_what_comes_too_late_is_taken_and_seen() {
    let mut history = History::new();
    history
        .granted(0, Shared, None)
        .granted(1, Exclusive, None)
        .granted(2, Permit(2), None);
    assert_eq!(history.writes(1), Fate::Accepted);
    assert_eq!(history.writes(0), Fate::Stale);
    // Permits have no order.
    assert_eq!(history.writes(2), Fate::Accepted);
    assert_eq!(history.writes(1), Fate::Accepted);
}

#[test]
fn s4_a_writer_that_has_become_a_reader_keeps_its_fence() {
    let mut history = History::new();
    history.granted(0, Exclusive, Some(5)).granted(1, Shared, Some(8));
    assert_eq!(history.writes(0), Fate::Accepted);
    let Belief::Holds(hold) = history.checker.belief(0) else {
        panic!("it holds");
    };
    let mode = Shared;
    history.checker.believes(0, Belief::Holds(Hold { mode, ..hold }));
    assert_eq!(history.at(0), None);
    assert_eq!(history.writes(1), Fate::Accepted);
    assert_eq!(history.writes(0), Fate::Accepted);
}

#[test]
fn s2_s8_a_grant_after_a_break_is_anothers_and_has_a_higher_fence() {
    let after_a_break = |holder, fence| {
        let mut history = History::new();
        history.checker.broke(broken());
        history.checker.takes(holder, fence);
        history.at(0)
    };
    assert_eq!(after_a_break("b", 6), None);
    assert_eq!(after_a_break("b", 5), Some(Property::S2));
    assert_eq!(after_a_break("a", 6), Some(Property::S8));
}

#[test]
fn s1_s2_s3_s4_a_broken_grant_is_not_checked_against_others() {
    let mut history = History::new();
    history.checker.broke(broken());
    history
        .granted(0, Exclusive, Some(6))
        .granted(1, Exclusive, Some(5));
    assert_eq!(history.at_server(0, |client| client == 0), None);
    assert_eq!(history.writes(0), Fate::Accepted);
    assert_eq!(history.writes(1), Fate::Refused);
    history.granted(2, Exclusive, Some(7));
    assert_eq!(history.at(0), Some(Property::S1), "all others do");
}

#[test]
fn s5_an_inspection_breaks_its_target_and_nothing_else() {
    let of = |things: &[&str]| {
        let all = things.iter();
        all.map(|thing| ((*thing).into(), crate::backend::Owner::Client(0), None))
            .collect()
    };
    let touched =
        |after: &[&str], to_break| trespass(&of(&["a", "b"]), &of(after), 1, Instant::ZERO, to_break);
    assert_eq!(touched(&["b"], Some("a")), None);
    assert!(touched(&["b"], None).is_some() && touched(&["a"], Some("a")).is_some());
    assert!(touched(&[], Some("a")).is_some());
}

#[test]
fn each_property_is_in_the_table_of_promises() {
    use Property::{D, L1, L2, L3, S1, S2, S3, S4, S5, S7, S8, S9};
    for property in [S1, S2, S3, S4, S5, S7, S8, S9, L1, L2, L3, D] {
        assert!(!property.promise().is_empty());
    }
}
