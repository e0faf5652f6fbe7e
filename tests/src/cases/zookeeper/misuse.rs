//! Misuse by drivers and applications, which does no harm.

use super::{acquire, at, hold, other, own, settings, warm};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    intents_that_make_no_sense,
        "Intents in the wrong state are misuse and change nothing: the lock is held as before.";
    unknown_keys_and_commands, "Unknown keys and ids are misuse; closing a machine that is gone is not.";
    replies_of_the_wrong_shape,
        "A reply that does not fit its command is misuse and counts as unknown: the acquire recovers.";
    created_somewhere_else,
        "A created node with another path than the request has the wrong shape: if it counted as the \
         contender's own, no list would show it.";
    late_and_doubled_outcomes,
        "Outcomes of completed commands and of machines that are gone, and events of watches that have \
         already fired: nothing changes.";
    after_the_shutdown, "A hub that was shut down opens nothing.";
}

fn intents_that_make_no_sense(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    for (input, misuse) in [
        (Input::Release { key }, "not-held"),
        (Input::Extend { key }, "not-held"),
        (Input::Cancel { key }, "not-waiting"),
    ] {
        story.misuse(input, misuse).returns(&[]);
    }
    story.acquire(key).misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story.misuse(Input::Release { key }, "not-held").returns(&[]);
    story
        .created(3, 41)
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
    story
        .misuse(Input::Try { key }, "busy")
        .misuse(Input::Cancel { key }, "not-waiting");
    story.release(key).misuse(Input::Release { key }, "not-held");
    story.misuse(
        Input::Acquire {
            key,
            acquire_timeout: Some(1),
        },
        "busy",
    );
    story.done("delete").returns(&["released"]);
    story.misuse(Input::Release { key }, "not-held");
}

fn unknown_keys_and_commands(story: &mut Recorder) {
    let key = hold(story);
    story.misuse(Input::Release { key: 77 }, "unknown-key");
    story.misuse(
        Input::Acquire {
            key: 0,
            acquire_timeout: None,
        },
        "unknown-key",
    );
    story.close(77).returns(&[]);
    for id in [0, 99] {
        let failure = "unknown".to_owned();
        story
            .misuse(Input::Fail { id, failure }, "unknown-command")
            .returns(&[]);
        let (session, event) = ("1".to_owned(), "deleted".to_owned());
        story
            .misuse(Input::Watch { id, session, event }, "unknown-command")
            .returns(&[]);
    }
    story.close(key).misuse(Input::Release { key }, "unknown-key");
}

fn replies_of_the_wrong_shape(story: &mut Recorder) {
    story.connected(1);
    let key = acquire(story);
    let (nothing, done) = (story.reply_children(&[]), story.reply_done());
    story.answer_wrongly("sync", nothing.clone()).returns(&[]);
    story.answer_wrongly("create", done.clone()).returns(&[]);
    story
        .answer_wrongly("children", done)
        .returns(&[])
        .waits_for(Some("retry"));
    // The result of the create counts as unknown: the second acquire finds the first one's node.
    story.timeout().timeout().answer_routine().created(4, 44);
    story
        .children(&[&own(key, 3), &own(key, 4)])
        .returns(&["get", "children"]);
    story.answer_wrongly("get", nothing).returns(&[]);
    story
        .children(&[&own(key, 3), &own(key, 4)])
        .returns(&[])
        .timeout();
    story.answer_routine().children(&[&own(key, 3), &own(key, 4)]);
    story.returns(&["get", "children"]).present(41);
    story
        .children(&[&own(key, 3), &own(key, 4)])
        .returns(&["delete", "acquired"]);
    story.release(key);
    let wrong = story.reply_node(1, 1);
    story.answer_wrongly("delete", wrong).returns(&[]);
}

fn created_somewhere_else(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    for path in ["/elsewhere/x-lock-0000000003".to_owned(), at("notes")] {
        let reply = story.reply_created(&path, 41);
        story.answer_wrongly("create", reply).children(&[]).returns(&[]);
        story.timeout().returns(&["create", "children"]);
    }
    story
        .created(5, 44)
        .children(&[&own(key, 5)])
        .returns(&["acquired"]);
}

fn late_and_doubled_outcomes(story: &mut Recorder) {
    warm(story);
    let key = acquire(story);
    let [create, list] = [story.last_id("create"), story.last_id("children")];
    story
        .created(3, 41)
        .children(&[&other(2), &own(key, 3)])
        .answer_routine();
    let reply = story.reply_created(&at(&own(key, 9)), 90);
    story.answer_id(create, reply).returns(&[]);
    story.fail_id(create, "closed").returns(&[]);
    let reply = story.reply_children(&[&own(key, 3)]);
    story.answer_id(list, reply).returns(&[]);
    let watch = story.watch_on(&at(&other(2)));
    story.fail_id(watch, "unknown").returns(&[]);
    story.watch_id(watch, "deleted").returns(&["acquired"]);
    let reply = story.reply_node(1, 40);
    story
        .answer_id(watch, reply)
        .returns(&[])
        .watch_id(watch, "deleted")
        .returns(&[]);
    story.release(key).done("delete").close(key).leaves(0);
    story
        .fail_id(create, "unknown")
        .returns(&[])
        .watch_id(watch, "gone")
        .returns(&[]);
}

fn after_the_shutdown(story: &mut Recorder) {
    let key = hold(story);
    story
        .shutdown()
        .returns(&["delete"])
        .misuse(Input::Extend { key }, "unknown-key");
    let contender = "f".repeat(32);
    let open = Input::Open {
        settings: settings(),
        contender,
        seed: 1,
    };
    story.misuse(open, "client-closed").done("delete").leaves(0);
    story.shutdown().returns(&[]);
}
