//! Taking, waiting, renewing, giving back: with a server that answers.

use serde_json::json;

use super::acquire;
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "redis":
    uncontended, "A free lock: one script to take it, one to give it back.";
    contended, "A held lock: subscribe, ask again once that is confirmed, then wait for a hint, the poll or the end of the holder's lease.";
}

fn uncontended(story: &mut Recorder) {
    let key = acquire(story);
    story.after(150).value(json!([1, "1790000000000001"]));
    story.after(2000).input(Input::Release { key });
    story.value(json!([1]));
}

fn contended(story: &mut Recorder) {
    let key = acquire(story);
    story.value(json!([0, 5000]));
    story.subscribed();
    story.value(json!([0, 5000]));
    let subscription = story.last_id("subscribe");
    story.after(30_000).input(Input::Message { id: subscription });
    story.value(json!([1, "1790000000000002"]));
    story.after(1000).input(Input::Release { key });
    story.value(json!([1]));
    story.timeout_after(1_000_000);
}
