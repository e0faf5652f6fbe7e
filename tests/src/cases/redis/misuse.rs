//! Misuse by drivers and applications, which does no harm.

use serde_json::{Value, json};

use super::{FENCE, acquire, hold, settings, wait};
use crate::{
    cases::cases,
    transcript::{Input, Recorder, Reply},
};

cases! { "redis":
    intents_that_make_no_sense,
        "Intents in the wrong state are misuse and change nothing: the lock is held as before.";
    unknown_keys_and_commands, "Unknown keys and ids are misuse; closing a machine that is gone is not.";
    replies_of_the_wrong_shape,
        "A reply that is no answer of the script is misuse and counts as unknown: the script is sent again.";
    late_and_doubled_outcomes,
        "Outcomes of commands that were answered or given up before, and messages for holders: nothing \
         changes.";
    replies_of_another_family, "A ZooKeeper reply or notice in a Redis hub is misuse and completes nothing.";
}

fn intents_that_make_no_sense(story: &mut Recorder) {
    let key = story.open(&settings());
    story.misuse(Input::Release { key }, "not-held").returns(&[]);
    story
        .misuse(Input::Extend { key }, "not-held")
        .misuse(Input::Downgrade { key }, "not-held")
        .misuse(Input::Cancel { key }, "not-waiting");
    story
        .acquire(key)
        .misuse(Input::Try { key }, "busy")
        .misuse(Input::Release { key }, "not-held");
    story.granted(FENCE).returns(&["acquired"]);
    story.misuse(Input::Cancel { key }, "not-waiting").misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story
        .release(key)
        .misuse(Input::Release { key }, "not-held")
        .returns(&[]);
    story
        .misuse(Input::Extend { key }, "not-held")
        .own()
        .returns(&["released"]);
}

fn unknown_keys_and_commands(story: &mut Recorder) {
    let key = hold(story);
    story
        .misuse(Input::Extend { key: 9 }, "unknown-key")
        .close(9)
        .returns(&[]);
    for id in [0, 99] {
        story
            .misuse(Input::Message { id }, "unknown-command")
            .misuse(Input::Gone { id }, "unknown-command");
        let failure = "not-sent".to_owned();
        story
            .misuse(Input::Fail { id, failure }, "unknown-command")
            .returns(&[]);
    }
    story.close(key).misuse(Input::Release { key }, "unknown-key");
}

fn replies_of_the_wrong_shape(story: &mut Recorder) {
    let key = acquire(story);
    let wrong = |value| Reply::Value { value };
    for value in [
        Value::Null,
        json!(1),
        json!([]),
        json!([1]),
        json!([1, 7]),
        json!([1, "x"]),
        json!([3, 1]),
        json!([1, FENCE, 1]),
    ] {
        story
            .answer_wrongly("call", wrong(value))
            .returns(&[])
            .timeout()
            .returns(&["call"]);
    }
    story.granted(FENCE).returns(&["acquired"]);
    story
        .timeout()
        .answer_wrongly("call", wrong(json!("OK")))
        .returns(&[]);
    story.timeout().own().returns(&["extended"]).release(key);
    story
        .answer_wrongly("call", wrong(json!([0, 1])))
        .returns(&[])
        .timeout();
    story.absent().returns(&["released"]);
}

fn late_and_doubled_outcomes(story: &mut Recorder) {
    let key = wait(story);
    let [question, subscription] = [story.last_id("call"), story.last_id("subscribe")];
    story.message().granted(FENCE).returns(&["acquired"]);
    let value = json!([0, 5000, "6f74686572206f6e6520697320686572-1"]);
    story.answer_id(question, Reply::Value { value }).returns(&[]);
    story
        .fail_id(question, "closed")
        .returns(&[])
        .message()
        .returns(&[]);
    story.fail_id(subscription, "unknown").returns(&[]);
    story.release(key).own().returns(&["released"]);
    let value = json!([1]);
    story
        .answer_id(story.last_id("call"), Reply::Value { value })
        .returns(&[]);
}

fn replies_of_another_family(story: &mut Recorder) {
    let key = acquire(story);
    let id = story.last_id("call");
    let reply = story.reply_done();
    story
        .misuse(Input::Reply { id, reply }, "wrong-family")
        .returns(&[]);
    let (session, event) = ("1".to_owned(), "deleted".to_owned());
    story
        .misuse(Input::Watch { id, session, event }, "wrong-family")
        .returns(&[]);
    story.granted(FENCE).returns(&["acquired"]).close(key);
}
