//! Tests of two things that transcripts do not contain: the text of a misuse, and a timeout that comes too early. (A
//! hub does not pass on such a timeout.)

use alloc::{string::String, vec, vec::Vec};
use core::time::Duration;

use super::Inspection;
use crate::{
    AcquireTimeout, CommandId, Fence, Instant, Intent, Machine, Misuse, Outcome, Output, SessionId,
    zookeeper::{
        Action, Answer, InspectionSettings, Layout, Notice, Reply, Request, Role, SessionState, Stat, code,
    },
};

const NOW: Instant = Instant::from_micros(1_000_000);
const SESSION: SessionId = SessionId(1);

/// An inspection that has started.
fn begun(action: Action) -> Inspection {
    let settings = InspectionSettings::new("", "stock", Layout::Curator, Role::Mutex, action).unwrap();
    let mut inspection = Inspection::new(settings, 7);
    let connected = Notice::Session {
        state: SessionState::Connected,
        session: SESSION,
        timeout: Duration::from_secs(9),
    };
    inspection.handle_notice(NOW, connected).unwrap();
    let begin = Intent::Acquire(AcquireTimeout::Forever);
    inspection.intent(NOW, begin).unwrap();
    inspection
}

/// The commands until the inspection waits.
fn commands(inspection: &mut Inspection) -> Vec<(CommandId, Request)> {
    let mut commands = Vec::new();
    loop {
        match inspection.poll_output() {
            Output::Command(command) => commands.push((command.id, command.request)),
            Output::Event(event) => panic!("{event:?}"),
            Output::Wait(_) => return commands,
        }
    }
}

/// Answers the last command.
fn answer(inspection: &mut Inspection, answer: Answer) -> Result<(), Misuse> {
    let (id, _) = commands(inspection).pop().unwrap();
    let session = SESSION;
    inspection.handle_outcome(NOW, id, Outcome::Reply(Reply { session, answer }))
}

fn expected(verdict: Result<(), Misuse>) -> &'static str {
    let Err(Misuse::WrongReply { expected, .. }) = verdict else {
        panic!("{verdict:?}")
    };
    expected
}

#[test]
fn an_answer_of_the_wrong_shape_is_an_error_with_the_right_shape() {
    let mut list = begun(Action::List);
    assert_eq!(expected(answer(&mut list, Answer::Done)), "children");
    let mut list = begun(Action::List);
    let name = String::from("_c_aaaaaaaa-0000-4000-8000-000000000000-lock-0000000001");
    answer(&mut list, Answer::Children(vec![name.clone()])).unwrap();
    assert_eq!(expected(answer(&mut list, Answer::Done)), "data");
    let (node, fence) = (["/stock/", &name].concat(), Fence(41));
    let mut broken = begun(Action::Break { node, fence });
    let stat = Stat {
        czxid: 41,
        mzxid: 41,
        ephemeral_owner: 3,
        version: 0,
        created: 0,
        modified: 0,
    };
    let data = Vec::new();
    answer(&mut broken, Answer::Data { data, stat }).unwrap();
    assert_eq!(expected(answer(&mut broken, Answer::Children(vec![]))), "done");
}

#[test]
fn a_timeout_that_comes_early_changes_nothing() {
    let mut list = begun(Action::List);
    answer(&mut list, Answer::Error(code::THROTTLED)).unwrap();
    let before = list.clone();
    list.handle_timeout(NOW);
    assert_eq!(list, before);
    let Output::Wait(wait) = list.poll_output() else {
        panic!("no pause")
    };
    list.handle_timeout(wait.until.unwrap());
    assert_eq!(commands(&mut list).len(), 1);
}
