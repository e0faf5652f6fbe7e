//! What no driver and no application should do, and what is harmless all the same.

use serde_json::{Value, json};

use super::{FENCE, acquire, hold, settings, wait};
use crate::{
    cases::cases,
    transcript::{Input, Recorder, Reply},
};

cases! { "redis":
    intents_that_make_no_sense, "Intents in the wrong state are misuse and change nothing: the lock is held as before.";
    unknown_keys_and_commands, "Keys and ids that never were are misuse; closing what has gone is not.";
    replies_of_the_wrong_shape, "A reply that is no answer of the script is misuse and counts as unknown: asked again.";
    late_and_doubled_outcomes, "Outcomes of questions answered or given up before, messages for those who hold: nothing changes.";
    replies_of_another_family, "A ZooKeeper reply or notice in a Redis hub is misuse and settles nothing.";
}

fn intents_that_make_no_sense(story: &mut Recorder) {
    let key = story.open(&settings());
    story.misuse(Input::Release { key }, "not-held").says(&[]);
    story
        .misuse(Input::Extend { key }, "not-held")
        .misuse(Input::Cancel { key }, "not-waiting");
    story
        .acquire(key)
        .misuse(Input::Try { key }, "busy")
        .misuse(Input::Release { key }, "not-held");
    story.granted(FENCE).says(&["acquired"]);
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
        .says(&[]);
    story
        .misuse(Input::Extend { key }, "not-held")
        .own()
        .says(&["released"]);
}

fn unknown_keys_and_commands(story: &mut Recorder) {
    let key = hold(story);
    story
        .misuse(Input::Extend { key: 9 }, "unknown-key")
        .close(9)
        .says(&[]);
    for id in [0, 99] {
        story
            .misuse(Input::Message { id }, "unknown-command")
            .misuse(Input::Gone { id }, "unknown-command");
        let failure = "not-sent".to_owned();
        story
            .misuse(Input::Fail { id, failure }, "unknown-command")
            .says(&[]);
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
            .says(&[])
            .timeout()
            .says(&["call"]);
    }
    story.granted(FENCE).says(&["acquired"]);
    story
        .timeout()
        .answer_wrongly("call", wrong(json!("OK")))
        .says(&[]);
    story.timeout().own().says(&["extended"]).release(key);
    story
        .answer_wrongly("call", wrong(json!([0, 1])))
        .says(&[])
        .timeout();
    story.absent().says(&["released"]);
}

fn late_and_doubled_outcomes(story: &mut Recorder) {
    let key = wait(story);
    let [question, subscription] = [story.last_id("call"), story.last_id("subscribe")];
    story.message().granted(FENCE).says(&["acquired"]);
    let value = json!([0, 5000, "6f74686572206f6e6520697320686572-1"]);
    story.answer_id(question, Reply::Value { value }).says(&[]);
    story.fail_id(question, "closed").says(&[]).message().says(&[]);
    story.fail_id(subscription, "unknown").says(&[]);
    story.release(key).own().says(&["released"]);
    let value = json!([1]);
    story
        .answer_id(story.last_id("call"), Reply::Value { value })
        .says(&[]);
}

fn replies_of_another_family(story: &mut Recorder) {
    let key = acquire(story);
    let id = story.last_id("call");
    let reply = story.reply_done();
    story.misuse(Input::Reply { id, reply }, "wrong-family").says(&[]);
    let (session, event) = ("1".to_owned(), "deleted".to_owned());
    story
        .misuse(Input::Watch { id, session, event }, "wrong-family")
        .says(&[]);
    story.granted(FENCE).says(&["acquired"]).close(key);
}
