//! Acquire timeouts, cancelled acquires and closed machines, in every phase.

use super::{
    acquire, at, code, hold,
    many::both_first,
    other, own,
    recipes::{enqueued, many},
    settings, times_out_while_suspended, warm,
};
use crate::{
    cases::cases,
    transcript::{Input, Recorder},
};

cases! { "zookeeper":
    timeout_in_the_queue,
        "The acquire timeout ends in the queue: the node is deleted, the delete is repeated until it is \
         answered, and then the refusal is reported.",
        "kazoo#732, kazoo#429, zk-ruby#49: abandoned contenders stayed in the queue";
    timeout_is_not_started_anew, "Predecessors that come and go do not prolong the acquire timeout.",
        "kazoo: 1 s became 4.21 s, measured";
    timeout_before_the_create_is_answered,
        "The acquire timeout ends while the create is in flight; its reply comes later, and then the node \
         is deleted.",
        "CURATOR-79, zk-ruby#51";
    timeout_and_the_create_is_lost,
        "The acquire timeout ends while the create is in flight, and its reply never comes: the node that \
         it may have created is searched for behind a barrier.",
        "CURATOR-45";
    search_on_a_deposed_leader,
        "The session moves to a deposed leader: the search for a node waits behind a check, which such a \
         leader never answers, and is made again on the next connection.";
    search_behind_a_refused_barrier,
        "The barrier before such a search is refused, and the list behind it is answered: a missing node \
         proves nothing.",
        "THROTTLEDOP, 3.6; helix#1118: a lagging server";
    timeout_before_a_retry,
        "The acquire timeout ends while the acquire waits for a retry: there is nothing to undo.",
        "CURATOR-559: nested retries";
    timeout_and_the_delete_takes_long,
        "The acquire timeout has ended, and the delete of the contender's node is not answered: after half \
         a second the refusal no longer waits for it.";
    timeout_and_cut_off,
        "The connection breaks while that delete is in flight: the refusal is reported at once, and the \
         node is deleted after the reconnect.";
    cancelled_while_leaving,
        "The acquire is cancelled while that delete is in flight: the refusal is reported at once.";
    timeout_while_suspended,
        "The acquire timeout ends without a connection: the refusal is reported at once, and the node is \
         deleted after the reconnect.";
    cancelled_in_every_phase,
        "An acquire is cancelled before it is sent, while it is in flight, in the queue, and when it is \
         first: reported once, and nothing is left behind.",
        "kazoo: a cancel left behind made the next acquire fail";
    closed_in_every_phase,
        "A machine is closed before it acquires, without a connection, while the create is in flight, in \
         the queue, and as a holder: it reports nothing more, and ends when the server has answered.",
        "redisson#1966: zombies";
    closed_while_suspended,
        "A holder without a connection is closed: the machine lives on until its node is deleted, or its \
         session is over.";
    many_locks_timeout_while_suspended,
        "The acquire timeout ends in the queues, without a connection: refused as unreachable.";
    many_locks_cancelled_while_leaving,
        "The acquire timeout has ended, and a cancel comes before the cleanup is done: the refusal comes at \
         once. A release cannot be cancelled.";
}

fn timeout_in_the_queue(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.waits_for(Some("acquire-timeout")).timeout();
    story.returns(&["delete"]);
    story
        .fail("delete", "unknown")
        .returns(&[])
        .waits_for(Some("retry"));
    story
        .timeout()
        .returns(&["delete"])
        .error("delete", code::NO_NODE);
    story.returns(&["refused timeout"]);
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
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused timeout"]);
}

fn timeout_before_the_create_is_answered(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .timeout()
        .returns(&["refused unreachable"]);
    story.waits_for(Some("renew"));
    story.after(10_000).created(3, 41).returns(&["delete"]);
    story.children(&[&own(key, 3)]).returns(&[]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn timeout_and_the_create_is_lost(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story
        .acquire_within(key, 200_000)
        .timeout()
        .returns(&["refused unreachable"]);
    story.disconnected().returns(&[]);
    story
        .connected(1)
        .returns(&["check", "sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.returns(&["delete"]).done("delete").close(key).leaves(0);
}

fn search_on_a_deposed_leader(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).timeout();
    story.disconnected().given(1);
    story.returns(&["check", "sync", "check", "children"]);
    // The leader answers the sync, and closes its connections when it notices the loss of its followers.
    story.done("sync").returns(&[]).after(3_000_000).disconnected();
    story.given(1).returns(&["check", "sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.returns(&["delete"]).done("delete").close(key).leaves(0);
}

fn search_behind_a_refused_barrier(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).timeout();
    story.disconnected().connected(1);
    // The first sync belongs to the session lease.
    story.checked().error("sync", code::THROTTLED);
    story.children(&[&other(2)]).returns(&[]).waits_for(Some("retry"));
    story.timeout().returns(&["sync", "check", "children"]);
    story.answer_routine().children(&[&other(2), &own(key, 3)]);
    story.returns(&["delete"]).done("delete").close(key).leaves(0);
}

fn timeout_before_a_retry(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 4000).error("create", code::THROTTLED);
    story
        .error("children", code::THROTTLED)
        .returns(&[])
        .waits_for(Some("acquire-timeout"));
    story
        .timeout()
        .returns(&["refused unreachable"])
        .waits_for(Some("renew"));
    story.close(key).leaves(0);
}

fn leave_the_queue(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story
        .timeout()
        .returns(&["delete"])
        .waits_for(Some("acquire-timeout"));
    key
}

fn timeout_and_the_delete_takes_long(story: &mut Recorder) {
    let key = leave_the_queue(story);
    story.timeout_after(500_000).returns(&["refused timeout"]);
    story.close(key).leaves(1);
    story.done("delete").returns(&[]).leaves(0);
}

fn timeout_and_cut_off(story: &mut Recorder) {
    let key = leave_the_queue(story);
    story.session_is("suspended").returns(&["refused timeout"]);
    story.fail("delete", "unknown").returns(&[]).waits_for(None);
    story.connected(1).returns(&["check", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn cancelled_while_leaving(story: &mut Recorder) {
    let key = leave_the_queue(story);
    story.cancel(key).returns(&["refused timeout"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn timeout_while_suspended(story: &mut Recorder) {
    warm(story);
    let key = story.open(&settings());
    story.acquire_within(key, 200_000).created(3, 41);
    story.children(&[&other(2), &own(key, 3)]).answer_routine();
    story.disconnected().timeout().returns(&["refused unreachable"]);
    story.after(300_000).connected(1).returns(&["check", "delete"]);
    story.done("delete").returns(&[]).close(key).leaves(0);
}

fn cancelled_in_every_phase(story: &mut Recorder) {
    let key = acquire(story);
    story.cancel(key).returns(&["refused cancelled"]);
    story.connected(1).answer_routine();
    story.acquire(key).returns(&["create", "children"]);
    story.cancel(key).returns(&["refused cancelled"]);
    story
        .fail("create", "not-sent")
        .fail("children", "not-sent")
        .returns(&[]);
    story.acquire(key).created(3, 41);
    story
        .children(&[&other(2), &super::own_of_attempt(key, 2, 3)])
        .answer_routine();
    story
        .cancel(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused cancelled"]);
    story.disconnected().session_is("expired").given(2);
    story.acquire(key).created(4, 44);
    story.children(&[&super::own_of_attempt(key, 3, 4)]).returns(&[]);
    story
        .cancel(key)
        .returns(&["delete"])
        .done("delete")
        .returns(&["refused cancelled"]);
    story.close(key).leaves(0);
}

fn closed_in_every_phase(story: &mut Recorder) {
    let idle = story.open(&settings());
    story.close(idle).returns(&[]).leaves(0);
    let entering = acquire(story);
    story.close(entering).returns(&[]).leaves(0);
    let holder = hold_after(story);
    let waiter = acquire(story);
    story.created(4, 42).children(&[&own(holder, 3), &own(waiter, 4)]);
    story.answer_routine();
    let creating = acquire(story);
    story
        .close(creating)
        .returns(&[])
        .close(waiter)
        .returns(&["delete"]);
    story.created(5, 43).returns(&["delete"]).done("delete").leaves(2);
    story.done("delete").leaves(1);
    story
        .close(holder)
        .returns(&["delete"])
        .close(holder)
        .returns(&[]);
    story.done("delete").returns(&[]).leaves(0);
}

fn hold_after(story: &mut Recorder) -> u64 {
    story.connected(1);
    let key = acquire(story);
    story.done("sync");
    story
        .created(3, 41)
        .children(&[&own(key, 3)])
        .returns(&["acquired"]);
    key
}

fn closed_while_suspended(story: &mut Recorder) {
    let holder = hold(story);
    story.disconnected().close(holder).returns(&[]).leaves(1);
    story.session_is("expired").returns(&[]).leaves(0);
    story.connected(2);
    let waiter = queue_in(story);
    story.disconnected().close(waiter).returns(&[]).leaves(1);
    story
        .connected(2)
        .returns(&["check", "delete"])
        .done("delete")
        .leaves(0);
}

fn queue_in(story: &mut Recorder) -> u64 {
    let key = acquire(story);
    story.answer_routine().created(7, 71);
    story.children(&[&other(6), &own(key, 7)]).answer_routine();
    key
}

/// First in one queue and behind another contender in the other one, with an acquire timeout.
fn queue_with_a_timeout(story: &mut Recorder) -> u64 {
    warm(story);
    let key = story.open(&many());
    story.acquire_within(key, 200_000);
    enqueued(story, key);
    story.children(&[&own(key, 3)]).present(41).present(41);
    story.children(&[&other(2), &own(key, 8)]).answer_routine();
    key
}

fn many_locks_timeout_while_suspended(story: &mut Recorder) {
    let key = queue_with_a_timeout(story);
    times_out_while_suspended(story, key);
}

fn many_locks_cancelled_while_leaving(story: &mut Recorder) {
    let key = queue_with_a_timeout(story);
    story.waits_for(Some("acquire-timeout")).timeout();
    story.returns(&["delete", "delete"]).cancel(key);
    story.returns(&["refused timeout"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").done("delete").returns(&[]);
    story.acquire(key);
    both_first(story, key, 2);
    story.release(key).returns(&["delete", "delete"]);
    story.misuse(Input::Cancel { key }, "not-waiting");
    story.done("delete").done("delete").returns(&["released"]);
}
