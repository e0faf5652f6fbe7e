//! Semaphores: the line, the number of permits, the permits.

use serde_json::json;

use super::{DIR, code, other, own, recipes::begin, warm};
use crate::{cases::cases, transcript::Recorder};

cases! { "zookeeper":
    permit_free, "A permit that is free: the number of permits is read as the line is joined, then the own node and the list in one flight; the line goes on without us.",
        "Curator takes five round trips";
    permit_first_ever, "Nobody has written how many permits there are: read again where nobody else can write it, and written, as Kazoo does.";
    permit_without_a_directory, "Nobody has ever been there: the number of permits is written once the permit's node has brought the directory with it.";
    permit_comes_back, "All permits are taken: only the head of the line watches them, and one that comes back is one list.";
    permit_tried, "A try that comes while another contender is being served: permits are left, so it waits for its turn in the line.";
    permit_tried_behind_a_stopped_one, "A try stands behind somebody in the line who takes none of the free permits: it does not wait for that, and says so.",
        "a process that was stopped in the line: a try took five seconds";
    permit_tried_in_vain, "A try finds others in the line, and all permits taken: refused at once.";
    permit_wanted, "Somebody wants back what is still waited for, and says so to the place in the line: told as soon as there is a permit.";
    permits_inconsistent, "Somebody else has given another number of permits: refused before a place in the line is a turn.",
        "kazoo's Semaphore raises ValueError";
    permits_inconsistent_meanwhile, "Somebody else has written another number of permits while the line was joined: refused before a permit is taken.";
    permits_not_ours_to_read, "The number of permits may not be read: whoever holds could have another one, so it is refused.";
    permits_not_compared, "The number of permits was asked for twice, and no answer came: the permit is given back, and all begins anew after a pause.";
    permits_compared_after_a_suspend, "The connection goes while the number of permits is being read: read again before anything else.";
    line_lost_while_taking, "The head of the line is deleted while it waits for a permit: all is given back, and queued for anew.";
}

/// The line is joined, and the number of permits asked for.
pub(super) fn ask(story: &mut Recorder) -> u64 {
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = begin(story, &settings);
    story.says(&["create", "children", "get"]);
    key
}

/// What is written where the number of permits is.
pub(super) fn written(story: &mut Recorder, number: &str) {
    let number = story.reply_data(number, 0, 9);
    story.answer("get", number);
}

pub(super) fn line_joined(story: &mut Recorder, key: u64) -> &mut Recorder {
    story.created_at(&format!("{DIR}/locks/{}", own(key, 3)), 41)
}

/// First in the line.
fn lead(story: &mut Recorder, key: u64) {
    line_joined(story, key).children(&[&own(key, 3)]);
}

/// The head of the line: a permit is asked for.
pub(super) fn semaphore(story: &mut Recorder) -> u64 {
    let key = ask(story);
    written(story, "2");
    lead(story, key);
    story.says(&["create", "children"]);
    key
}

/// The head of the line, where nobody has said how many permits there are.
fn ask_again(story: &mut Recorder, key: u64) {
    lead(story, key);
    story.says(&["get", "create", "children"]);
}

pub(super) fn lease(key: u64, number: i32) -> String {
    own(key, number).replace("-lock-", "-lease-")
}

/// The permit is asked for, and these are taken.
pub(super) fn take(story: &mut Recorder, key: u64, taken: &[&str]) {
    let own = lease(key, 7);
    story.created_at(&format!("{DIR}/leases/{own}"), 42);
    let mut names = taken.to_vec();
    names.push(&own);
    story.children(&names);
}

/// A permit is held, beside another one's; the place in the line has been given back.
pub(super) fn held(story: &mut Recorder) -> u64 {
    let key = semaphore(story);
    let other = "_c_aaaaaaaa-0000-4000-8000-000000000000-lease-0000000006";
    take(story, key, &[other]);
    story.says(&["acquired", "delete"]).done("delete").says(&[]);
    key
}

fn permit_free(story: &mut Recorder) {
    let key = held(story);
    story
        .release(key)
        .says(&["delete"])
        .done("delete")
        .says(&["released"]);
    story.close(key).leaves(0);
}

fn permit_first_ever(story: &mut Recorder) {
    let key = ask(story);
    written(story, "");
    ask_again(story, key);
    written(story, "");
    take(story, key, &[]);
    story.says(&["set", "acquired", "delete"]);
}

fn permit_without_a_directory(story: &mut Recorder) {
    let key = ask(story);
    story.error("get", code::NO_NODE);
    ask_again(story, key);
    story.error("get", code::NO_NODE).says(&[]);
    take(story, key, &[]);
    story.says(&["set", "acquired", "delete"]);
}

/// A semaphore that waits for a permit: both are taken.
pub(super) fn wait_for_a_permit(story: &mut Recorder) -> (u64, [String; 2]) {
    let key = semaphore(story);
    let others = ["a", "b"].map(|name| format!("{name}-lease-0000000001"));
    take(story, key, &[&others[0], &others[1]]);
    story.says(&["queued", "get"]).answer_routine();
    (key, others)
}

fn permit_comes_back(story: &mut Recorder) {
    let (key, [_, second]) = wait_for_a_permit(story);
    permit_is_back(story, key, &second);
    story.says(&["acquired", "delete"]);
}

pub(super) fn permit_is_back(story: &mut Recorder, key: u64, left: &str) {
    let leases = format!("{DIR}/leases");
    story.watch(&leases, "changed").says(&["children"]);
    story.children(&[left, &lease(key, 7)]);
}

/// A try that has found somebody in the line before it, and counts the permits.
fn behind_in_the_line(story: &mut Recorder) -> u64 {
    warm(story);
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = story.open(&settings);
    story.try_acquire(key);
    written(story, "2");
    line_joined(story, key).children(&[&other(2), &own(key, 3)]);
    story.says(&["children", "get", "get"]);
    key
}

fn permit_tried(story: &mut Recorder) {
    let key = behind_in_the_line(story);
    story.children(&["a-lease-0000000001"]).says(&[]).answer_routine();
    story.watch(&format!("{DIR}/locks/{}", other(2)), "deleted");
    story.says(&["create", "children"]);
    take(story, key, &["a-lease-0000000001"]);
    story.says(&["acquired", "delete"]);
}

fn permit_tried_behind_a_stopped_one(story: &mut Recorder) {
    let key = behind_in_the_line(story);
    story.children(&["a-lease-0000000001"]).says(&[]).answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout_after(50_000);
    story.says(&["delete"]).done("delete");
    story.says(&["refused not-available"]).close(key).leaves(0);
}

fn permit_tried_in_vain(story: &mut Recorder) {
    let key = behind_in_the_line(story);
    story.children(&["a-lease-0000000001", "b-lease-0000000002"]);
    story
        .says(&["delete"])
        .done("delete")
        .says(&["refused not-available"]);
    story.close(key).leaves(0);
}

/// A semaphore that waits for a permit, and watches its place in the line, too: the first confirmation after the grant of the line has it watched.
pub(super) fn wait_and_watch_the_line(story: &mut Recorder) -> u64 {
    let (key, _) = wait_for_a_permit(story);
    story.after(3_000_000).timeout();
    story.confirmed().answer_routine();
    key
}

fn permit_wanted(story: &mut Recorder) {
    let key = wait_and_watch_the_line(story);
    let line = format!("{DIR}/locks/{}", own(key, 3));
    story.watch(&line, "changed").says(&["get"]);
    let wish = story.reply_data("__REVOKE__", 1, 41);
    story.answer("get", wish).says(&[]);
    permit_is_back(story, key, "b-lease-0000000001");
    story.says(&["acquired", "revoke-requested", "delete"]);
}

fn permits_inconsistent(story: &mut Recorder) {
    let key = ask(story);
    written(story, "3");
    story.says(&["refused inconsistent-permits"]);
    line_joined(story, key).says(&["delete"]).done("delete");
    story.close(key).leaves(0);
}

fn permits_inconsistent_meanwhile(story: &mut Recorder) {
    let key = ask(story);
    written(story, "");
    ask_again(story, key);
    written(story, "3");
    story.says(&["refused inconsistent-permits", "delete"]);
}

fn permits_not_ours_to_read(story: &mut Recorder) {
    let key = ask(story);
    story.error("get", code::NO_AUTH).says(&["refused no-permission"]);
    line_joined(story, key).says(&["delete"]).done("delete");
    story.close(key).leaves(0);
}

fn permits_not_compared(story: &mut Recorder) {
    let key = ask(story);
    story.fail("get", "unknown");
    ask_again(story, key);
    story.fail("get", "unknown").says(&[]);
    take(story, key, &[]);
    story.says(&["delete", "delete"]).done("delete").done("delete");
    story.says(&[]).waits_for(Some("retry")).timeout();
    story.says(&["create", "children", "get"]);
}

fn permits_compared_after_a_suspend(story: &mut Recorder) {
    let key = ask(story);
    lead(story, key);
    story.says(&["create", "children"]).disconnected();
    story
        .connected(1)
        .says(&["check", "get", "get", "create", "children"]);
}

/// A semaphore that waits for a permit, and whose place in the line is deleted.
pub(super) fn lose_the_line(story: &mut Recorder) -> u64 {
    let key = wait_and_watch_the_line(story);
    story.watch(&format!("{DIR}/locks/{}", own(key, 3)), "deleted");
    story.says(&["delete"]);
    key
}

fn line_lost_while_taking(story: &mut Recorder) {
    lose_the_line(story);
    story.done("delete").says(&["create", "children", "get"]);
}
