//! Errors with which a server refuses, temporarily or permanently.

use serde_json::json;

use super::{FENCE, acquire};
use crate::{cases::cases, transcript::Recorder};

cases! { "redis":
    script_unknown, "The server does not know the script: the script's text is sent, once.",
        "measured: SCRIPT FLUSH, restart, failover";
    server_starts,
        "A server that starts, fails over or is busy refuses for now: the script is sent again, and nothing \
         is in doubt.",
        "redisson#4822: failover";
    wrong_type, "The key holds a value of another type: refused, not overwritten.",
        "measured: a Redisson lock under the same name; sesamecare/redlock#6";
    wrong_type_before_redis_7,
        "Older servers wrap a script's error in another one: it is recognised all the same.";
    server_demoted,
        "A primary has become a replica and refuses the script at its first command, also with the error \
         text of Redis 6: the script is sent again, and nothing is in doubt.",
        "a failover that the connection survives";
    member_of_a_cluster, "A member of a cluster redirects: refused at once, and the error names the remedy.",
        "MOVED and ASK, retried for ever";
    no_memory, "The server has no memory for the lock: refused at once, and there is nothing to release.";
    no_fence, "The fence key holds no fence: refused, with the key, the value and the remedy.";
    no_password, "The server requires a password: refused as auth-failed.";
    no_permission, "The user may not run scripts: refused as no-permission.";
    unknown_command, "The server does not know EVALSHA: refused as unsupported, not retried for ever.",
        "node-redlock#304: EVALSHA blocked";
    unexpected_error, "An unexpected error is not retried: refused.";
    connection_closed, "The client library reports that it will send nothing more: refused.",
        "kazoo#482: closed clients hung";
}

fn refused(story: &mut Recorder, error: &str, reason: &str) {
    let key = acquire(story);
    story
        .redis_error("call", error)
        .returns(&[&format!("refused {reason}")]);
    story.waits_for(None).close(key).leaves(0);
}

fn script_unknown(story: &mut Recorder) {
    acquire(story);
    story
        .redis_error("call", "NOSCRIPT No matching script. Please use EVAL.")
        .returns(&["call"]);
    story.granted(FENCE).returns(&["acquired"]);
}

/// An acquire to which the server answers with one temporary error after the other.
fn passes(story: &mut Recorder, errors: &[&str]) {
    let key = acquire(story);
    for error in errors {
        story
            .redis_error("call", error)
            .returns(&[])
            .timeout()
            .returns(&["call"]);
    }
    story.granted(FENCE).returns(&["acquired"]);
    story.release(key).own().returns(&["released"]);
}

fn server_starts(story: &mut Recorder) {
    passes(
        story,
        &[
            "LOADING Redis is loading the dataset in memory",
            "READONLY You can't write against a read only replica.",
            "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
            "CLUSTERDOWN Hash slot not served",
        ],
    );
}

fn server_demoted(story: &mut Recorder) {
    passes(
        story,
        &[
            "READONLY You can't write against a read only replica. script: 5a1, on @user_script:1.",
            "ERR Error running script (call to f_5a1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ",
            "ERR Error running script (call to f_5a1): @user_script:1: @user_script: 1: -NOREPLICAS Not enough good replicas to write. ",
        ],
    );
}

fn member_of_a_cluster(story: &mut Recorder) {
    for error in ["MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381"] {
        refused(story, error, "server-error");
    }
}

fn no_memory(story: &mut Recorder) {
    let error = "OOM command not allowed when used memory > 'maxmemory'.";
    refused(story, error, "server-error");
}

fn no_fence(story: &mut Recorder) {
    let key = acquire(story);
    story.value(json!([3, "soon"])).returns(&["refused server-error"]);
    story.waits_for(None).close(key).leaves(0);
}

fn wrong_type(story: &mut Recorder) {
    refused(
        story,
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "wrong-type",
    );
}

fn wrong_type_before_redis_7(story: &mut Recorder) {
    let error =
        "ERR Error running script (call to f_98791f): @user_script:4: WRONGTYPE Operation against a key";
    refused(story, error, "wrong-type");
}

fn no_password(story: &mut Recorder) {
    refused(story, "NOAUTH Authentication required.", "auth-failed");
}

fn no_permission(story: &mut Recorder) {
    refused(
        story,
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "no-permission",
    );
}

fn unknown_command(story: &mut Recorder) {
    refused(
        story,
        "ERR unknown command 'EVALSHA', with args beginning with: ",
        "unsupported",
    );
}

fn unexpected_error(story: &mut Recorder) {
    refused(
        story,
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist",
        "server-error",
    );
}

fn connection_closed(story: &mut Recorder) {
    let key = acquire(story);
    story
        .fail("call", "closed")
        .returns(&["refused connection-closed"]);
    story.waits_for(None).close(key).leaves(0);
}
