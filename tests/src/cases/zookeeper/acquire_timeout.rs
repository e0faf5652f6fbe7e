//! AcquireTimeout that ends, acquires that are cancelled, machines that are closed: in every phase.

use serde_json::json;

use super::{
    DIR, acquire, at, code, hold, other, own,
    recipes::{enqueued, many},
    semaphore::take,
    settings, warm,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    timeout_in_the_line, "The acquire timeout ends behind somebody: the node is deleted, the delete repeated until it is answered, and then it is told.",
        "kazoo#732, kazoo#429, zk-ruby#49: contenders that nobody waits for stayed in the line";
    timeout_is_not_started_anew, "Neighbours that come and go do not prolong the acquire timeout.",
        "kazoo: 1 s became 4.21 s, measured";
    timeout_before_the_create_is_answered, "The acquire timeout ends while the create is under way; its reply comes later, and the node is deleted then.",
        "CURATOR-79, zk-ruby#51";
    timeout_and_the_create_is_lost, "The acquire timeout ends while the create is under way, and its reply never comes: what it may have made is searched for behind a barrier.",
        "CURATOR-45";
    search_on_a_deposed_leader, "The session moves to a leader that has been deposed: the search for a node waits behind a check, which such a leader never answers, and is made again on the next connection.";
    search_behind_a_refused_barrier, "The barrier before such a search is refused and the list behind it answered: that the node is not there proves nothing.",
        "THROTTLEDOP, 3.6; helix#1118: a lagging server";
    timeout_before_a_retry, "The acquire timeout ends while the acquire waits to try again: nothing is left to undo.",
        "CURATOR-559: nested retries";
    timeout_and_the_delete_takes_long, "The delete of a contender whose acquire timeout has ended is not answered: after half a second nobody waits for that any more.";
    timeout_and_cut_off, "The connection breaks while that delete is under way: told at once, and cleaned up when it is back.";
    cancelled_while_leaving, "Nobody waits for that answer any more: the refusal is told at once.";
    timeout_while_suspended, "The acquire timeout ends without a connection: told at once, cleaned up when it is back.";
    timeout_unconfirmed, "First in the line, but the session is not confirmed within the acquire timeout, nor in half its timeout: nobody else held, so this is no timeout.";
    timeout_while_unproved, "First in the line, on a session of which nothing is proved when the acquire timeout ends: a free lock is granted late, and not refused.",
        "kazoo says True at once: a try with a session of 30 s was unreachable after 5 s";
    permit_while_unproved, "A permit is free on a session of which too little is proved: the acquire's timeout is prolonged once, and the permit is granted with the proof.";
    permit_tried_while_unproved, "The same for a try: its time stays prolonged at the head of the queue.";
    many_locks_while_unproved, "All of several locks are free on a session of which too little is proved: granted with the proof, too.";
    timeout_behind_a_standstill, "A process stands still for longer than a try waits: the answers have arrived, what was proved is used up, and the lock is free. It is granted after the next proof.";
    cancelled_in_every_phase, "An acquire is cancelled before it is sent, while it is sent, in the line, and when it is first: told once, and nothing stays.",
        "kazoo: a cancel left behind made the next acquire fail";
    closed_in_every_phase, "A machine is closed before it acquires, without a connection, while the create is under way, in the line, and as a holder: it says nothing more and goes when the server has answered.",
        "redisson#1966: zombies";
    closed_while_suspended, "A holder without a connection is closed: the machine lives on until its node is deleted, or its session over.";
}

fn timeout_in_the_line(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout();
    story.says(&["delete"]);
    story.fail("delete", "unknown").says(&[]).waits_for(Some("retry"));
    story.timeout().says(&["delete"]).error("delete", code::NO_NODE);
    story.says(&["refused timeout"]);
    story.close(key).leaves(0);
}

fn timeout_is_not_started_anew(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    let [first, second, third] = [0, 1, 2].map(other);
    story.acquire_within(key, 200_000).created(3, 41);
    story
        .children(&[&first, &second, &third, &own(key, 3)])
        .answer_routine();
    story.after(150_000).watch(&at(&third), "deleted");
    story.children(&[&first, &second, &own(key, 3)]).answer_routine();
    story.after(49_000).watch(&at(&second), "deleted");
    story.children(&[&first, &own(key, 3)]).answer_routine();
    story
        .timeout_after(1000)
        .says(&["delete"])
        .done("delete")
        .says(&["refused timeout"]);
}

fn timeout_before_the_create_is_answered(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .timeout()
        .says(&["refused unreachable"]);
    story.waits_for(Some("renew"));
    story.after(10_000).created(3, 41).says(&["delete"]);
    story.children(&[&own(key, 3)]).says(&[]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn timeout_and_the_create_is_lost(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .timeout()
        .says(&["refused unreachable"]);
    story.disconnected().says(&[]);
    story.connected(1).says(&["check", "sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.says(&["delete"]).done("delete").close(key).leaves(0);
}

fn search_on_a_deposed_leader(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).timeout();
    story.disconnected().given(1);
    story.says(&["check", "sync", "check", "children"]);
    // It answers the sync, and closes its connections when it misses its followers.
    story.done("sync").says(&[]).after(3_000_000).disconnected();
    story.given(1).says(&["check", "sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.says(&["delete"]).done("delete").close(key).leaves(0);
}

fn search_behind_a_refused_barrier(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).timeout();
    story.disconnected().connected(1);
    // The first one is the session lease's.
    story.checked().error("sync", code::THROTTLED);
    story.children(&[&other(2)]).says(&[]).waits_for(Some("retry"));
    story.timeout().says(&["sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.says(&["delete"]).done("delete").close(key).leaves(0);
}

fn timeout_before_a_retry(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 4000).error("create", code::THROTTLED);
    story
        .error("children", code::THROTTLED)
        .says(&[])
        .waits_for(Some("acquire-timeout"));
    story
        .timeout()
        .says(&["refused unreachable"])
        .waits_for(Some("renew"));
    story.close(key).leaves(0);
}

fn leave_the_line(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story
        .timeout()
        .says(&["delete"])
        .waits_for(Some("acquire-timeout"));
    key
}

fn timeout_and_the_delete_takes_long(story: &mut Recorder) {
    let key = leave_the_line(story);
    story.timeout_after(500_000).says(&["refused timeout"]);
    story.close(key).leaves(1);
    story.done("delete").says(&[]).leaves(0);
}

fn timeout_and_cut_off(story: &mut Recorder) {
    let key = leave_the_line(story);
    story.session_is("suspended").says(&["refused timeout"]);
    story.fail("delete", "unknown").says(&[]).waits_for(None);
    story.connected(1).says(&["check", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn cancelled_while_leaving(story: &mut Recorder) {
    let key = leave_the_line(story);
    story.cancel(key).says(&["refused timeout"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn timeout_while_suspended(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.disconnected().timeout().says(&["refused timeout"]);
    story.after(300_000).connected(1).says(&["check", "delete"]);
    story.done("delete").says(&[]).close(key).leaves(0);
}

fn timeout_unconfirmed(story: &mut Recorder) {
    story.given(1);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&own(key, 3)]).says(&[]).timeout().says(&[]);
    story.silence("sync").timeout_after(4_500_000);
    story.says(&["sync", "delete"]).done("delete");
    story.says(&["refused unreachable"]);
}

fn timeout_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&settings());
    story.try_acquire(key).created(3, 41);
    story.children(&[&own(key, 3)]).says(&[]);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(4, 42);
    story.children(&[&own(key, 4)]).waits_for(Some("acquire-timeout"));
    story.timeout().says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]).done("sync").says(&["check"]);
    story.checked().says(&["acquired", "acquired"]);
}

fn permit_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2});
    let key = story.open(&settings);
    story.acquire_within(key, 200_000);
    first_in_the_queue(story, key);
    permit_with_the_proof(story, key);
}

fn permit_tried_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let settings = json!({"kind": "zookeeper-semaphore", "name": "stock", "prefix": "shop", "permits": 2, "answer_within": 200_000});
    let key = story.open(&settings);
    story.try_acquire(key);
    first_in_the_queue(story, key);
    permit_with_the_proof(story, key);
}

fn first_in_the_queue(story: &mut Recorder, key: u64) {
    let number = story.reply_data("2", 0, 9);
    story.answer("get", number);
    story.created_at(&format!("{DIR}/locks/{}", own(key, 3)), 41);
    story.children(&[&own(key, 3)]).says(&[]);
}

/// The acquire's time ends, and then the session's proof comes.
fn permit_with_the_proof(story: &mut Recorder, key: u64) {
    story.waits_for(Some("acquire-timeout")).timeout().says(&[]);
    story.waits_for(Some("renew")).timeout().says(&["sync"]);
    story.done("sync").says(&["check"]).checked();
    story.says(&["create", "children"]);
    // The time that the acquire had at first is over.
    story.input(Input::Timeout).says(&[]);
    take(story, key, &[]);
    story.says(&["acquired", "delete"]);
}

fn many_locks_while_unproved(story: &mut Recorder) {
    story.given(1).done("sync");
    let key = story.open(&many());
    story.acquire_within(key, 200_000);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41);
    story.children(&[&own(key, 8)]).present(41).says(&[]);
    story.waits_for(Some("acquire-timeout"));
    story.timeout().says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]).done("sync").says(&["check"]);
    story.checked().says(&["acquired"]);
}

fn timeout_behind_a_standstill(story: &mut Recorder) {
    story.connected(1).done("sync");
    let key = story.open(&settings());
    story.try_acquire(key).says(&["create", "children"]);
    story.after(8_400_000).created(3, 41);
    story.children(&[&own(key, 3)]).says(&[]);
    story.timeout_after(1000).says(&["check"]);
    story.checked().says(&["sync"]);
    story.done("sync").says(&[]).waits_for(Some("renew"));
    story.timeout().says(&["sync"]).done("sync").says(&["sync"]);
    story.done("sync").says(&["acquired"]);
}

fn cancelled_in_every_phase(story: &mut Recorder) {
    let key = acquire(story);
    story.cancel(key).says(&["refused cancelled"]);
    story.connected(1).answer_routine();
    story.acquire(key).says(&["create", "children"]);
    story.cancel(key).says(&["refused cancelled"]);
    story
        .fail("create", "not-sent")
        .fail("children", "not-sent")
        .says(&[]);
    story.acquire(key).created(3, 41);
    story
        .children(&[&other(2), &super::own_of_attempt(key, 2, 3)])
        .answer_routine();
    story
        .cancel(key)
        .says(&["delete"])
        .done("delete")
        .says(&["refused cancelled"]);
    story.disconnected().session_is("expired").given(2);
    story.acquire(key).created(4, 44);
    story.children(&[&super::own_of_attempt(key, 3, 4)]).says(&[]);
    story
        .cancel(key)
        .says(&["delete"])
        .done("delete")
        .says(&["refused cancelled"]);
    story.close(key).leaves(0);
}

fn closed_in_every_phase(story: &mut Recorder) {
    let idle = story.open(&settings());
    story.close(idle).says(&[]).leaves(0);
    let entering = acquire(story);
    story.close(entering).says(&[]).leaves(0);
    let holder = hold_after(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.answer_routine();
    let creating = acquire(story);
    story.close(creating).says(&[]).close(waiter).says(&["delete"]);
    story.created(5, 43).says(&["delete"]).done("delete").leaves(2);
    story.done("delete").leaves(1);
    story.close(holder).says(&["delete"]).close(holder).says(&[]);
    story.done("delete").says(&[]).leaves(0);
}

fn hold_after(story: &mut Recorder) -> u64 {
    story.connected(1);
    let key = acquire(story);
    story.done("sync");
    story.created(3, 41).children(&[&own(key, 3)]).says(&["acquired"]);
    key
}

fn closed_while_suspended(story: &mut Recorder) {
    let holder = hold(story);
    story.disconnected().close(holder).says(&[]).leaves(1);
    story.session_is("expired").says(&[]).leaves(0);
    story.connected(2);
    let waiter = queue_in(story);
    story.disconnected().close(waiter).says(&[]).leaves(1);
    story
        .connected(2)
        .says(&["check", "delete"])
        .done("delete")
        .leaves(0);
}

fn queue_in(story: &mut Recorder) -> u64 {
    let key = acquire(story);
    story.answer_routine().created(7, 71);
    story.children(&[&other(6), &own(key, 7)]).answer_routine();
    key
}
