//! Owners: several holds of one grant.

use serde_json::json;

use super::{FENCE, open_with, settings};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    owner_again,
        "An owner acquires what it holds: a further hold of the same grant, without a request. A renewal \
         extends both holds, and only the last release reaches the server.";
    owner_past_the_longest_hold,
        "The grant has reached its longest hold, and its machine has not noticed: the owner contends anew.";
    owner_of_another_name, "Another owner contends, and so does an acquire without an owner.";
}

fn owner_again(story: &mut Recorder) {
    let first = open_with(story, "owner", json!("anna"));
    story.acquire(first).returns(&["call"]);
    story.after(150).granted(FENCE).returns(&["acquired"]);
    let second = open_with(story, "owner", json!("anna"));
    story.try_acquire(second).returns(&["acquired"]);
    story.timeout().own().returns(&["extended", "extended"]);
    story.release(first).returns(&["released"]);
    story
        .release(second)
        .returns(&["call"])
        .own()
        .returns(&["released"]);
    story.close(first).close(second).leaves(0);
}

fn owner_of_another_name(story: &mut Recorder) {
    let first = open_with(story, "owner", json!("anna"));
    story
        .acquire(first)
        .after(150)
        .granted(FENCE)
        .returns(&["acquired"]);
    let second = open_with(story, "owner", json!("ben"));
    story.try_acquire(second).returns(&["call"]).held_for(5000);
    story.returns(&["refused not-available"]);
    let third = story.open(&settings());
    story.try_acquire(third).returns(&["call"]).held_for(5000);
    story.returns(&["refused not-available"]);
}

fn owner_past_the_longest_hold(story: &mut Recorder) {
    let mut brief = settings();
    brief["owner"] = json!("anna");
    brief["max_hold"] = json!(2_000_000);
    let first = story.open(&brief);
    story.acquire(first).granted(FENCE).returns(&["acquired"]);
    let second = story.open(&brief);
    story.after(1_999_999).acquire(second).returns(&["acquired"]);
    story.release(second).returns(&["released"]);
    story.after(1).acquire(second).returns(&["call"]);
}
