//! The end of closed claims: no application uses them, so nothing extends their leases.

use alloc::vec::Vec;

use crate::{
    AcquireTimeout, CommandId, ContenderId, Event, Instant, Intent, Key, Outcome, Output,
    claim::{Claim, Content, Name, Policy},
    hub::Hub,
    lease,
    redis::{ClaimSettings, LeaseSettings, LockSettings, Redis, Reply, Request, Script},
};

const NOW: Instant = Instant::from_micros(1_000_000);

/// A hub with one held claim.
fn held() -> (Hub<Redis>, Key) {
    let mut hub = Hub::new(7);
    let claim = Claim {
        token: None,
        fingerprint: Vec::new(),
        policy: Policy::Retake,
        lease: 30_000,
        retention: 86_400_000,
    };
    let name = Name::new("payments", "order-17").unwrap();
    let times = LeaseSettings::new("lease", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
    let settings = LockSettings::Claim(ClaimSettings::new(name, claim, times));
    let key = hub.open(NOW, settings, ContenderId([1; 16]), 3).unwrap();
    hub.intent(NOW, key, Intent::Acquire(AcquireTimeout::Forever))
        .unwrap();
    let claimed = Outcome::Reply(Reply::Bytes(b"claimed 9 0".into()));
    assert_eq!(answer(&mut hub, claimed), [Script::Claim]);
    assert!(matches!(poll(&mut hub).1[..], [Event::Acquired { .. }]));
    (hub, key)
}

/// The scripts and the events until the hub waits.
fn poll(hub: &mut Hub<Redis>) -> (Vec<(CommandId, Script)>, Vec<Event>) {
    let (mut scripts, mut events) = (Vec::new(), Vec::new());
    loop {
        match hub.poll_output(None) {
            (_, Output::Command(command)) => {
                if let Request::Script { script, .. } = command.request {
                    scripts.push((command.id, script));
                }
            }
            (_, Output::Event(event)) => events.push(event),
            (_, Output::Wait(_)) => return (scripts, events),
        }
    }
}

/// Answers the last script. Returns all scripts that were sent.
fn answer(hub: &mut Hub<Redis>, outcome: Outcome<Reply>) -> Vec<Script> {
    let (scripts, _) = poll(hub);
    let &(last, _) = scripts.last().expect("a script");
    hub.handle_outcome(NOW, last, outcome).unwrap();
    scripts.into_iter().map(|(_, script)| script).collect()
}

fn refused() -> Outcome<Reply> {
    Outcome::Reply(Reply::Error("NOPERM not yours".into()))
}

fn released() -> Outcome<Reply> {
    Outcome::Reply(Reply::Bytes(b"released".into()))
}

/// Asserts that the hub is empty and waits for nothing.
fn has_ended(hub: &mut Hub<Redis>) {
    assert_eq!(poll(hub), (Vec::new(), Vec::new()));
    assert_eq!(hub.pending(), 0);
    assert!(matches!(hub.poll_output(None), (_, Output::Wait(wait)) if wait.until.is_none()));
}

#[test]
fn a_closed_claim_whose_leave_is_refused_is_not_renewed() {
    let (mut hub, key) = held();
    assert_eq!(hub.close(NOW, key), Some(key));
    assert_eq!(answer(&mut hub, refused()), [Script::Leave]);
    has_ended(&mut hub);
    assert_eq!(hub.unreleased(), 0, "only a shutdown counts");
}

#[test]
fn a_shutdown_counts_a_claim_whose_leave_is_refused_once() {
    let (mut hub, _) = held();
    hub.shutdown(NOW);
    assert_eq!(answer(&mut hub, refused()), [Script::Leave]);
    has_ended(&mut hub);
    assert_eq!(hub.unreleased(), 1);
}

#[test]
fn an_end_that_is_refused_after_the_close_becomes_a_leave() {
    for end in [
        Intent::Release,
        Intent::Leave,
        Intent::Complete(Content::new("", Vec::new()).unwrap()),
    ] {
        let (mut hub, key) = held();
        hub.intent(NOW, key, end).unwrap();
        let (scripts, _) = poll(&mut hub);
        hub.close(NOW, key);
        assert_eq!(poll(&mut hub).0, [], "the server has not answered yet");
        hub.handle_outcome(NOW, scripts[0].0, refused()).unwrap();
        assert_eq!(answer(&mut hub, released()).last(), Some(&Script::Leave));
        has_ended(&mut hub);
    }
}

#[test]
fn an_open_claim_goes_on_after_a_refusal() {
    let (mut hub, key) = held();
    hub.intent(NOW, key, Intent::Leave).unwrap();
    assert_eq!(answer(&mut hub, refused()), [Script::Leave]);
    let (scripts, events) = poll(&mut hub);
    assert!(matches!(events[..], [Event::Refused { .. }]));
    assert!(matches!(scripts[..], [(_, Script::RenewClaim)]));
    assert_eq!(hub.pending(), 1);
}
