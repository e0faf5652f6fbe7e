//! Requests that are no claims.

use serde_json::{Value, json};

use super::{
    OTHER, RETENTION, code, conflict, done, free, own, passed, record, running, shows, shows_nothing, stat,
    step, warm, written,
};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    step_issue, "A token is issued by one create; a name that is in use is refused.";
    step_register, "A known result is registered by one create, and found the second time.";
    step_update,
        "An update is one transaction, which the value's version guards; its id is a record below the \
         value.";
    step_update_conflicts,
        "The value has another version, or the update was applied before: the record and the id's are read.";
    step_update_of_a_free_record,
        "A value takes the place of a record that was freed: the bucket changes, because versions begin \
         anew.";
    step_look, "A look reads behind a barrier.";
    step_settle, "An operator gives an operation a result, and ends the claim of the attempt that runs it.";
    step_forget, "An operator frees a record, or deletes a value with the records of its updates.";
    step_guarded, "The record has changed since the operator has seen it.";
    step_repeated, "A step without an answer is read back, and finds itself.";
    step_ends, "A step is cancelled, times out, is refused, or loses its connection.";
    step_misused, "A step is granted nothing.";
}

fn ask(story: &mut Recorder, settings: &Value) -> u64 {
    let key = story.open(settings);
    story.acquire(key);
    key
}

fn issue() -> Value {
    step("issue", &json!({"binding": "alice"}))
}

fn register() -> Value {
    step(
        "register",
        &json!({"fingerprint": "print", "tag": "json", "result": "[1]"}),
    )
}

fn update(version: u64) -> Value {
    step(
        "update",
        &json!({"operation": "sell-7", "version": version, "tag": "json", "result": "[1]"}),
    )
}

fn value(version: &str) -> String {
    record(&[
        ("state", "value"),
        ("attempt", OTHER),
        ("version", version),
        ("tag", "json"),
        ("result", "[9]"),
    ])
}

fn step_issue(story: &mut Recorder) {
    warm(story);
    let key = ask(story, &issue());
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
    let key = ask(story, &issue());
    conflict(story, code::NODE_EXISTS);
    shows(story, &running(OTHER), &stat(35, 0), &[OTHER]);
    story.returns(&["refused mismatch"]).close(key).leaves(0);
    let key = ask(story, &issue());
    conflict(story, code::NODE_EXISTS);
    shows(story, &free(), &stat(35, 3), &[]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn step_register(story: &mut Recorder) {
    warm(story);
    let key = ask(story, &register());
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
    for (record, children, expected) in [
        (done(OTHER, "[9]"), &[][..], "replayed"),
        (running(OTHER), &[OTHER], "refused in-progress"),
        (value("3"), &["value"], "refused mismatch"),
    ] {
        let key = ask(story, &register());
        conflict(story, code::NODE_EXISTS);
        shows(story, &record, &stat(35, 0), children);
        story.returns(&[expected]).close(key).leaves(0);
    }
}

fn step_update(story: &mut Recorder) {
    warm(story);
    for version in [0, 3] {
        let key = ask(story, &update(version));
        story.returns(&["multi"]);
        written(story);
        story.returns(&["completed"]).close(key).leaves(0);
    }
}

/// The answers to a read of the record and of the record of the update's id.
fn shows_update(story: &mut Recorder, value: &str, version: i32, operation: Option<&str>, children: &[&str]) {
    story.returns(&["get", "get", "get", "children"]);
    let bucket = story.reply_stat("", &stat(20, 4));
    let record = story.reply_stat(value, &stat(35, version));
    story.answer("get", bucket).answer("get", record);
    match operation {
        Some(operation) => {
            let reply = story.reply_stat(operation, &stat(33, 0));
            story.answer("get", reply);
        }
        None => {
            story.error("get", code::NO_NODE);
        }
    }
    story.children(children);
}

fn of_update(attempt: &str) -> String {
    record(&[
        ("state", "done"),
        ("attempt", attempt),
        RETENTION,
        ("version", "4"),
    ])
}

fn step_update_conflicts(story: &mut Recorder) {
    warm(story);
    for (operation, expected) in [(None, "refused conflict"), (Some(of_update(OTHER)), "replayed")] {
        let key = ask(story, &update(3));
        conflict(story, code::BAD_VERSION);
        shows_update(
            story,
            &value("9"),
            8,
            operation.as_deref(),
            &["value", "operation-x"],
        );
        story.returns(&[expected]).close(key).leaves(0);
    }
    let key = ask(story, &update(0));
    conflict(story, code::NODE_EXISTS);
    shows_update(story, &done(OTHER, "[1]"), 8, None, &[]);
    story.returns(&["refused mismatch"]).close(key).leaves(0);
    // The assumed version belongs to another node: the value was deleted and created again.
    let key = ask(story, &update(3));
    conflict(story, code::BAD_VERSION);
    shows_update(story, &value("3"), 6, None, &["value"]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn step_update_of_a_free_record(story: &mut Recorder) {
    warm(story);
    let key = ask(story, &update(0));
    conflict(story, code::NODE_EXISTS);
    shows_update(story, &free(), 3, None, &[]);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
}

fn step_look(story: &mut Recorder) {
    warm(story);
    for record in [
        None,
        Some(done(OTHER, "[1]")),
        Some(running(OTHER)),
        Some(value("3")),
    ] {
        let key = ask(story, &step("look", &json!({})));
        passed(story);
        match record {
            None => shows_nothing(story),
            Some(record) => shows(story, &record, &stat(35, 2), &[OTHER]),
        }
        story.returns(&["looked"]).close(key).leaves(0);
    }
    let key = ask(story, &step("look", &json!({})));
    passed(story);
    shows(story, "10.0.0.7", &stat(35, 0), &[]);
    story.returns(&["refused corrupt-record"]).close(key).leaves(0);
}

fn settle(version: u64) -> Value {
    step(
        "settle",
        &json!({"version": version, "tag": "json", "result": "[1]"}),
    )
}

fn step_settle(story: &mut Recorder) {
    warm(story);
    for children in [&[OTHER][..], &[]] {
        let key = ask(story, &settle(35));
        passed(story);
        shows(story, &running(OTHER), &stat(35, 0), children);
        story.returns(&["multi"]);
        written(story);
        story.returns(&["completed"]).close(key).leaves(0);
    }
}

fn step_forget(story: &mut Recorder) {
    warm(story);
    for (record, version, children) in [
        (running(OTHER), 35, &[OTHER][..]),
        (done(OTHER, "[1]"), 42, &[]),
        (value("3"), 3, &["value", "operation-x"]),
    ] {
        let key = ask(story, &step("forget", &json!({"version": version})));
        passed(story);
        shows(story, &record, &stat(35, 0), children);
        story.returns(&["multi"]);
        written(story);
        story.returns(&["looked"]).close(key).leaves(0);
    }
    let key = ask(story, &step("forget", &json!({"version": 3})));
    passed(story);
    shows(story, &free(), &stat(35, 0), &[]);
    story.returns(&["looked"]).close(key).leaves(0);
}

fn step_guarded(story: &mut Recorder) {
    warm(story);
    for settings in [settle(34), step("forget", &json!({"version": 34}))] {
        let key = ask(story, &settings);
        passed(story);
        shows(story, &running(OTHER), &stat(35, 0), &[]);
        story.returns(&["refused record-changed"]).close(key).leaves(0);
    }
    // The record changes between the read and the write.
    let key = ask(story, &settle(35));
    passed(story);
    shows(story, &running(OTHER), &stat(35, 0), &[]);
    conflict(story, code::BAD_VERSION);
    shows(story, &running(OTHER), &stat(36, 1), &[]);
    story.returns(&["refused record-changed"]).close(key).leaves(0);
}

fn step_repeated(story: &mut Recorder) {
    warm(story);
    let key = ask(story, &register());
    story.fail("multi", "unknown").timeout_of("retry");
    passed(story);
    let own = own(key);
    let registered = record(&[
        ("state", "done"),
        ("attempt", &own),
        ("fingerprint", "print"),
        RETENTION,
        ("tag", "json"),
        ("result", "[1]"),
    ]);
    shows(story, &registered, &stat(41, 0), &[]);
    story.returns(&["completed"]).close(key).leaves(0);
    let key = ask(story, &update(3));
    story.fail("multi", "unknown").timeout_of("retry");
    story
        .returns(&["sync", "check", "get", "get", "get", "children"])
        .done("sync");
    story.checked();
    let bucket = story.reply_stat("", &stat(20, 4));
    let record = story.reply_stat(&value("4"), &stat(41, 3));
    let operation = story.reply_stat(&of_update(&super::own(key)), &stat(41, 0));
    story
        .answer("get", bucket)
        .answer("get", record)
        .answer("get", operation);
    story
        .children(&["value", "operation-sell-7"])
        .returns(&["completed"]);
    story.close(key).leaves(0);
}

fn step_ends(story: &mut Recorder) {
    warm(story);
    let key = ask(story, &register());
    story
        .cancel(key)
        .returns(&["refused cancelled"])
        .close(key)
        .leaves(0);
    story.silence("multi");
    let key = story.open(&register());
    story.try_acquire(key).fail("multi", "unknown");
    story
        .timeout_of("acquire-timeout")
        .returns(&["refused unreachable"]);
    story.close(key).leaves(0).fail_all("unknown");
    let key = ask(story, &register());
    story
        .error("multi", code::NO_AUTH)
        .returns(&["refused no-permission"]);
    story.close(key).leaves(0);
    let key = ask(story, &step("look", &json!({})));
    story
        .session_is("suspended")
        .session_is("expired")
        .fail_all("unknown")
        .connected(2);
    story.done("sync").done("sync").checked();
    shows_nothing(story);
    story.returns(&["looked"]).close(key).leaves(0);
    // The answer to the transaction never arrives.
    let key = ask(story, &register());
    story.silence("multi").session_is("expired").connected(3);
    story.done("sync").done("sync").checked();
    shows_nothing(story);
    story.returns(&["multi"]);
    written(story);
    story.returns(&["completed"]).close(key).leaves(0);
    let key = ask(story, &register());
    story.session_is("closed").returns(&["refused connection-closed"]);
    story.acquire(key).returns(&["refused connection-closed"]);
    story.close(key).leaves(0);
}

fn step_misused(story: &mut Recorder) {
    use crate::transcript::Input;
    warm(story);
    let key = ask(story, &register());
    story.misuse(
        Input::Acquire {
            key,
            acquire_timeout: None,
        },
        "busy",
    );
    story.misuse(Input::Release { key }, "not-held");
    written(story);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.close(key).leaves(0);
}
