//! Owners: several holds of one grant.

use serde_json::{Value, json};

use super::{at, code, own, warm};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    owner_again,
        "An owner acquires what it holds: a further hold of the same grant, without a request. Only the \
         last release reaches the server.";
    owner_contends_anew,
        "While the last release is under way, the owner acquires again: with a contender of its own.";
    owner_beside_a_foreign_contender,
        "A contender of another layout is in the queue: each hold receives the event.";
    owner_joins_after_an_extension,
        "A hold that joins receives the time until which the grant has been extended.";
    owner_writes_twice,
        "The writer is held twice: the release of one hold does not reach the server. The other one becomes \
         a reader's, and cannot do so again.";
    owner_waits,
        "An owner that waits for a lock cannot wait for it twice. Once it cancels, it may acquire again.";
    owner_closes_its_first,
        "The application closes the first acquire, and then the second: the machine goes with the last one.";
    owner_closes_its_last,
        "The application closes the last hold, and keeps the key of the first: the lock is released without \
         an event.";
    owner_holds_notified_together,
        "Each hold receives all events of the grant: extended, suspended, resumed, requested. A hold that \
         joins receives the present state.";
    owner_lost, "The session has ended: every hold is lost.";
    owner_lost_by_the_clock,
        "The grant is over by the client's clock, and its machine has not noticed: the owner contends anew.";
    owner_releases_after_the_end,
        "A hold that is not the last one is released after the grant's time: every hold is lost.";
    owner_writes_and_reads,
        "An owner holds the writer and the reader. When it releases the writer, the grant becomes a \
         reader's; it cannot write again.";
    owner_downgrades,
        "Two holds of the writer become the reader's one after the other. Only the last downgrade reaches \
         the server.";
    owner_downgrade_forbidden, "The server refuses to downgrade: the hold is a writer's as before.";
    owner_release_of_the_writer_forbidden,
        "The server refuses to downgrade as the writer is released: that hold is over, the reader's stays.";
    owner_releases_both,
        "The last reader is released while the writer's release waits for the downgrade: both end with the \
         release.";
    owner_closes_while_downgrading,
        "A hold is closed while its downgrade is under way: it gets no event, and the reader's stays.";
    owner_closes_a_release_under_way,
        "The writer's hold is closed while its release waits for the downgrade: it gets no event.";
    owner_lost_while_downgrading,
        "The grant is lost while the writer's release waits for the downgrade: both holds are lost.";
}

fn settings(kind: &str, owner: &str) -> Value {
    json!({"kind": kind, "name": "stock", "prefix": "shop", "owner": owner})
}

/// An acquire that becomes a further hold.
fn join(story: &mut Recorder, kind: &str) -> u64 {
    let key = story.open(&settings(kind, "anna"));
    story.acquire(key).returns(&["acquired"]);
    key
}

/// The mutex, held by an owner.
fn hold(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(key);
    story
        .created(3, 41)
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
    key
}

/// The writer, held by an owner, and the names of its node as a writer's and as a reader's.
fn write(story: &mut Recorder) -> (u64, [String; 2]) {
    warm(story);
    let key = story.open(&settings("zookeeper-writer", "anna"));
    story.acquire(key);
    let names = ["__WRIT__", "__READ__"].map(|mark| own(key, 5).replace("lock-", mark));
    story.created_at(&at(&names[0]), 41).children(&[&names[0]]);
    story.returns(&["acquired"]);
    (key, names)
}

fn owner_again(story: &mut Recorder) {
    let first = hold(story);
    let second = join(story, "zookeeper-mutex");
    story.misuse(
        Input::Acquire {
            key: second,
            acquire_timeout: None,
        },
        "busy",
    );
    story.release(first).returns(&["released"]);
    for input in [Input::Release { key: first }, Input::Extend { key: first }] {
        story.misuse(input, "not-held");
    }
    story.misuse(Input::Cancel { key: first }, "not-waiting");
    let third = join(story, "zookeeper-mutex");
    story.release(second).returns(&["released"]);
    story.release(third).returns(&["delete"]);
    story.done("delete").returns(&["released"]);
    for key in [first, second, third] {
        story.close(key);
    }
    story.leaves(0);
}

fn owner_contends_anew(story: &mut Recorder) {
    let first = hold(story);
    story.release(first).returns(&["delete"]);
    let second = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(second).returns(&["create", "children"]);
    story.done("delete").returns(&["released"]);
    story.close(first);
    story
        .created(4, 43)
        .children(&[&own(second, 4)])
        .returns(&["acquired"]);
    story.release(second).done("delete").returns(&["released"]);
    story.close(second).leaves(0);
}

fn owner_waits(story: &mut Recorder) {
    warm(story);
    let first = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(first).returns(&["create", "children"]);
    let second = story.open(&settings("zookeeper-mutex", "anna"));
    let again = |key| Input::Acquire {
        key,
        acquire_timeout: None,
    };
    story.misuse(again(second), "busy").misuse(again(first), "busy");
    story.misuse(Input::Release { key: first }, "not-held");
    story
        .created(3, 41)
        .children(&[&super::other(2), &own(first, 3)])
        .answer_routine();
    story.cancel(first).returns(&["delete"]);
    story.acquire(second).returns(&["create", "children"]);
    // Another owner and another kind of lock contend as usual.
    let other = story.open(&settings("zookeeper-mutex", "ben"));
    story.acquire(other).returns(&["create", "children"]);
    let single = story.open(&json!({"kind": "zookeeper-single", "name": "shop/stock", "owner": "anna"}));
    story.acquire(single).returns(&["create", "get"]);
}

fn owner_closes_its_first(story: &mut Recorder) {
    let first = hold(story);
    let second = join(story, "zookeeper-mutex");
    story.close(first).returns(&[]);
    story.misuse(Input::Release { key: first }, "unknown-key");
    story.timeout().confirmed().returns(&["extended", "get"]);
    story.answer_routine();
    story
        .close(second)
        .returns(&["delete"])
        .done("delete")
        .returns(&[])
        .leaves(0);
}

fn owner_closes_its_last(story: &mut Recorder) {
    let first = hold(story);
    let second = join(story, "zookeeper-mutex");
    story.release(first).returns(&["released"]);
    story.close(second).returns(&["delete"]);
    let third = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(third).returns(&["create", "children"]);
    story.done("delete").returns(&[]);
    story
        .created(4, 43)
        .children(&[&own(third, 4)])
        .returns(&["acquired"]);
    story.close(third).done("delete");
    story.close(first).leaves(0);
}

fn owner_holds_notified_together(story: &mut Recorder) {
    let first = hold(story);
    join(story, "zookeeper-mutex");
    story.extend(first).returns(&["sync"]).done("sync");
    story.returns(&["extended", "extended", "get"]).answer_routine();
    story.session_is("suspended").returns(&["suspended", "suspended"]);
    let third = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(third).returns(&["acquired", "suspended"]);
    story.after(500_000).given(1).returns(&["check", "get"]);
    story.present(41).returns(&["resumed", "resumed", "resumed"]);
    story.watch(&at(&own(first, 3)), "changed").returns(&["get"]);
    let request = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", request);
    story.returns(&["revoke-requested", "revoke-requested", "revoke-requested"]);
    let fourth = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(fourth).returns(&["acquired", "revoke-requested"]);
}

fn owner_lost(story: &mut Recorder) {
    let first = hold(story);
    let second = join(story, "zookeeper-mutex");
    story.session_is("expired");
    story.returns(&["lost session-expired", "lost session-expired"]);
    story.misuse(Input::Release { key: second }, "not-held");
    story.close(first).close(second).leaves(0);
}

/// Longer than any grant in the cases is valid.
const PAUSE: u64 = 11_000_000;

fn owner_lost_by_the_clock(story: &mut Recorder) {
    hold(story);
    let second = story.open(&settings("zookeeper-mutex", "anna"));
    story.after(PAUSE).acquire(second);
    story.returns(&["create", "children"]);
}

fn owner_releases_after_the_end(story: &mut Recorder) {
    hold(story);
    let second = join(story, "zookeeper-mutex");
    story.after(PAUSE).release(second);
    story.returns(&["lost lease-ended", "lost lease-ended", "delete"]);
}

fn owner_writes_and_reads(story: &mut Recorder) {
    let (writer, [_, reader_name]) = write(story);
    let reader = join(story, "zookeeper-reader");
    story.misuse(Input::Downgrade { key: reader }, "not-a-writer");
    story.release(writer).returns(&["multi"]);
    let again = story.open(&settings("zookeeper-writer", "anna"));
    let acquire = Input::Acquire {
        key: again,
        acquire_timeout: None,
    };
    story.misuse(acquire, "upgrade");
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).returns(&["released", "get"]);
    story.present(42);
    story.misuse(Input::Release { key: writer }, "not-held");
    story.close(writer);
    story
        .release(reader)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
    story.close(reader).close(again).leaves(0);
}

fn owner_downgrades(story: &mut Recorder) {
    let (first, [_, reader_name]) = write(story);
    let second = join(story, "zookeeper-writer");
    story.downgrade(first).returns(&["downgraded"]);
    story.misuse(Input::Downgrade { key: first }, "not-a-writer");
    story.downgrade(second).returns(&["multi"]);
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).returns(&["downgraded", "get"]);
    story.present(42);
    story.release(second).returns(&["released"]);
    story.release(first).returns(&["delete"]);
}

fn owner_downgrade_forbidden(story: &mut Recorder) {
    let (writer, _) = write(story);
    join(story, "zookeeper-reader");
    story.downgrade(writer).returns(&["multi"]);
    story
        .error("multi", code::NO_AUTH)
        .returns(&["refused no-permission", "get"]);
    story.present(41);
    join(story, "zookeeper-writer");
    story.downgrade(writer).returns(&["downgraded"]);
}

fn owner_release_of_the_writer_forbidden(story: &mut Recorder) {
    let (writer, _) = write(story);
    let reader = join(story, "zookeeper-reader");
    story.release(writer).returns(&["multi"]);
    story
        .error("multi", code::NO_AUTH)
        .returns(&["refused no-permission", "get"]);
    story.present(41);
    story.misuse(Input::Release { key: writer }, "not-held");
    story
        .release(reader)
        .returns(&["delete"])
        .done("delete")
        .returns(&["released"]);
}

fn owner_releases_both(story: &mut Recorder) {
    let (writer, [_, reader_name]) = write(story);
    let reader = join(story, "zookeeper-reader");
    story.release(writer).returns(&["multi"]);
    story.release(reader).returns(&["delete", "delete"]);
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).done("delete").returns(&[]);
    story
        .error("delete", code::NO_NODE)
        .returns(&["released", "released"]);
    story.close(writer).close(reader).leaves(0);
}

fn owner_closes_while_downgrading(story: &mut Recorder) {
    let (writer, [_, reader_name]) = write(story);
    let reader = join(story, "zookeeper-reader");
    story.close(writer).returns(&["multi"]);
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).returns(&["get"]);
    story.present(42);
    let second = join(story, "zookeeper-reader");
    story.close(reader).returns(&[]);
    story.close(second).returns(&["delete"]).done("delete").leaves(0);
}

fn owner_lost_while_downgrading(story: &mut Recorder) {
    let (writer, _) = write(story);
    join(story, "zookeeper-reader");
    story.release(writer).returns(&["multi"]);
    story.error("multi", code::NO_NODE);
    story.returns(&["lost deleted", "lost deleted", "delete", "delete"]);
}

fn owner_closes_a_release_under_way(story: &mut Recorder) {
    let (writer, [_, reader_name]) = write(story);
    let reader = join(story, "zookeeper-reader");
    story
        .release(writer)
        .returns(&["multi"])
        .close(writer)
        .returns(&[]);
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).returns(&["get"]);
    story.present(42);
    story.close(reader).returns(&["delete"]).done("delete").leaves(0);
}

fn owner_beside_a_foreign_contender(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(key).created(3, 41);
    let foreign = "0123456789abcdef0123456789abcdef__lock__0000000004";
    story.children(&[&own(key, 3), foreign]);
    story.returns(&["mixed-layouts", "acquired"]);
    let second = story.open(&settings("zookeeper-mutex", "anna"));
    story.acquire(second).returns(&["mixed-layouts", "acquired"]);
}

fn owner_joins_after_an_extension(story: &mut Recorder) {
    hold(story);
    story.timeout_of("renew").confirmed().answer_routine();
    story.timeout_of("renew").confirmed().returns(&["extended"]);
    join(story, "zookeeper-mutex");
}

fn owner_writes_twice(story: &mut Recorder) {
    let (first, [_, reader_name]) = write(story);
    let second = join(story, "zookeeper-writer");
    story.release(first).returns(&["released"]);
    story.downgrade(second).returns(&["multi"]);
    let reply = story.reply_children(&[&reader_name]);
    story.answer("multi", reply).returns(&["downgraded", "get"]);
    story.misuse(Input::Downgrade { key: second }, "not-a-writer");
}
