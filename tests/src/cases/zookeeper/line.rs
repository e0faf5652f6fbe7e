//! Getting into the line, waiting in it, leaving it: with a server that answers.

use super::{DIR, acquire, other, own, warm};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    uncontended, "A free lock on a warm session: create and list in one flight, the czxid is the fence, delete.";
    hand_over, "The list named one predecessor: its deletion is the grant, with no request between the watch event and the grant.";
}

fn uncontended(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&own(key, 3)]);
    story.after(2000).input(Input::Release { key });
    story.done("delete");
}

fn hand_over(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    story.created(3, 41).children(&[&other(2), &own(key, 3)]);
    story.answer_routine();
    story.after(700).watch(&format!("{DIR}/{}", other(2)), "deleted");
}
