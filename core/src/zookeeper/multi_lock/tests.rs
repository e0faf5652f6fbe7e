//! A test of an input that transcripts do not contain: a timeout that comes too early. (A hub does not pass on such a
//! timeout.)

use alloc::vec;
use core::time::Duration;

use super::MultiLock;
use crate::{
    AcquireTimeout, ContenderId, Instant, Intent, Machine, Outcome, Output, SessionId,
    zookeeper::{Answer, ContenderSettings, Layout, Notice, Reply, Role, SessionState, code},
};

const NOW: Instant = Instant::from_micros(1_000_000);

#[test]
fn a_timeout_that_comes_early_changes_nothing() {
    let settings = ContenderSettings::new("", "stock", Layout::Curator, Role::Mutex).unwrap();
    let mut locks = MultiLock::new(vec![settings], ContenderId([1; 16]), 7);
    let (state, session) = (SessionState::Connected, SessionId(1));
    let timeout = Duration::from_secs(9);
    let connected = Notice::Session {
        state,
        session,
        timeout,
    };
    locks.handle_notice(NOW, connected).unwrap();
    locks
        .intent(NOW, Intent::Acquire(AcquireTimeout::Forever))
        .unwrap();
    let Output::Command(command) = locks.poll_output() else {
        panic!("no transaction")
    };
    let answer = Answer::Error(code::THROTTLED);
    let refused = Outcome::Reply(Reply { session, answer });
    locks.handle_outcome(NOW, command.id, refused).unwrap();
    locks.handle_timeout(NOW);
    let Output::Wait(wait) = locks.poll_output() else {
        panic!("no pause")
    };
    locks.handle_timeout(wait.until.unwrap());
    assert!(matches!(locks.poll_output(), Output::Command(_)));
}
