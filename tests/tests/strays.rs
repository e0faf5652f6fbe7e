//! Inputs that a hub never passes to a machine. A machine must handle them correctly by itself.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, ContenderId, Event, Instant, Intent, Machine, Outcome, Output, SessionId,
    zookeeper::{Answer, Contender, ContenderSettings, Layout, Notice, Reply, Request, Role, SessionState},
};

const NOW: Instant = Instant::from_micros(1_000_000);
const SESSION: SessionId = SessionId(2);

/// A mutex that is first in its queue, in a session that no reply has confirmed.
fn first() -> Contender {
    let settings = ContenderSettings::new("shop", "stock", Layout::Curator, Role::Mutex).unwrap();
    let mut mutex = Contender::new(settings, ContenderId([7; 16]), 1);
    mutex
        .handle_notice(
            NOW,
            Notice::Session {
                state: SessionState::Connected,
                session: SESSION,
                timeout: Duration::from_secs(9),
            },
        )
        .unwrap();
    mutex
        .intent(NOW, Intent::Acquire(AcquireTimeout::Forever))
        .unwrap();
    let (mut node, mut events) = (String::new(), 0);
    loop {
        let command = match mutex.poll_output() {
            Output::Command(command) => command,
            Output::Event(_) => {
                events += 1;
                continue;
            }
            _ => break,
        };
        let answer = match command.request {
            Request::Create { path, .. } => {
                node = path + "0000000003";
                Answer::Created {
                    path: node.clone(),
                    zxid: 41,
                }
            }
            Request::Children { .. } => Answer::Children(vec![node.rsplit_once('/').unwrap().1.to_owned()]),
            other => panic!("{other:?}"),
        };
        let session = SESSION;
        let reply = Outcome::Reply(Reply { session, answer });
        mutex.handle_outcome(NOW, command.id, reply).unwrap();
    }
    assert_eq!(events, 0, "nothing is granted yet");
    mutex
}

fn granted_when_confirmed(session: SessionId) -> bool {
    let mut mutex = first();
    let valid_until = NOW.plus(Duration::from_secs(5));
    mutex
        .handle_notice(NOW, Notice::Confirmed { session, valid_until })
        .unwrap();
    matches!(mutex.poll_output(), Output::Event(Event::Acquired { .. }))
}

#[test]
fn another_sessions_confirmation_grants_nothing() {
    assert!(granted_when_confirmed(SESSION));
    assert!(!granted_when_confirmed(SessionId(1)));
}
