//! The texts of the reference about the core's errors. Only tools use them.

/// An error in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorSpec {
    /// The number.
    pub code: u16,
    /// The kebab-case name.
    pub name: &'static str,
    /// When it happens, as Markdown.
    pub meaning: &'static str,
    /// What to do, as Markdown.
    pub remedy: &'static str,
}

macro_rules! errors {
    ($($code:literal $name:literal: $meaning:literal => $remedy:literal;)*) => {
        /// All errors of the core, in the order of their numbers.
        pub const ERRORS: &[ErrorSpec] = &[$(ErrorSpec { code: $code, name: $name, meaning: $meaning, remedy: $remedy },)*];
    };
}

errors! {
    101 "empty-name": "the lock has no name" => "give a name, such as `stock/42`";
    102 "invalid-name": "the server would refuse the name" => "follow the rule in the message; [clients.md](clients.md#locks) lists the rules";
    103 "not-positive": "a duration is zero or negative" => "give a positive duration; instead of a timeout of zero, use a try";
    104 "lease-too-short": "`ttl` is below 5 ms or below three times `margin`" => "give a longer `ttl`";
    105 "too-long": "a duration is longer than 365 days" => "give a shorter one";
    106 "invalid-url": "the address cannot be parsed; or its `ca` file is missing or has no certificate; or support for it is not built in (Rust); or it is not that of a server that a test can control" => "correct the part that the message names";
    107 "unknown-scheme": "the address does not begin with a known scheme" => "use `zk://`, `redis://`, `rediss://` or `memory:`";
    108 "unknown-option": "this kind of lock or this server does not have the option; or this server does not have the kind of lock" => "remove the option, or choose one from [options.md](options.md)";
    109 "unreadable-settings": "a value has the wrong type" => "give a value of the type that the message names";
    110 "invalid-option": "a value is out of its range" => "give one of the values that the message lists";
    201 "unknown-key": "hub only: no machine has this key, or it was closed" => "use the key that `open` returned";
    202 "unknown-command": "hub only: no command with this id was issued" => "report each command's outcome by its own id";
    203 "wrong-reply": "hub only: the reply does not have the shape that the command requires; the command counts as unknown" => "correct the driver";
    204 "busy": "an acquire of this owner or contender is in progress, or the result of a `hold()` was entered again before its block ended" => "wait for that acquire, or use another owner; call `hold()` again for each block";
    205 "not-held": "there is no grant: it was released, lost, or never acquired" => "release and extend a grant only while it is held";
    206 "not-waiting": "there is no acquire to cancel, or another thread has taken its grant" => "none needed";
    207 "client-closed": "the client was closed" => "make a new client";
    208 "wrong-family": "hub only: settings, outcome or notice of the other kind of server" => "open one hub for each kind of server";
    209 "upgrade": "the owner of a reader acquires the writer, and would wait for itself; the reader stays held" => "release the reader first";
    210 "not-a-writer": "only a writer's grant can be downgraded, and only once" => "downgrade the writer's grant once";
    211 "not-a-claim": "hub only: only a claim can be completed or left" => "release a lock";
    301 "timeout": "another contender held the lock until the acquire timeout" => "wait longer, or do the work another time";
    302 "not-available": "another contender held the lock at the try" => "as for `timeout`";
    303 "cancelled": "the program cancelled the acquire (C and hub only; the other languages report a cancellation in their own way)" => "none needed";
    304 "unreachable": "no server answered within the acquire timeout, within a try's `answer_within`, or within `connect_timeout` before the first connection; or the client had lost the server when the acquire timeout ended" => "read the reason in the error's cause; check the address and whether the server runs; then acquire again";
    305 "no-permission": "the server denies this client a right that the lock needs" => "grant the rights: [ZooKeeper](../how-to/operate-zookeeper.md#rights), [Redis](../how-to/operate-redis.md#rights)";
    306 "auth-failed": "the server refused the client's credentials" => "correct the user and the password";
    307 "no-parent": "the directory above the lock is missing, and the client cannot create it; for example, it is the connection's chroot" => "create the directory";
    308 "mixed-layouts": "reserved, and never returned; a contender waits for contenders of other layouts, and its grant reports them" => "none needed";
    309 "sequence-exhausted": "the directory has numbered almost 2147483647 contenders" => "delete the directory while no client uses it, or choose another name";
    310 "wrong-type": "a key with this name, or its fence key, holds a value of another type, such as a Redisson lock" => "choose another name";
    311 "unsupported": "the server lacks a feature that the lock needs, such as ZooKeeper before 3.5" => "upgrade the server, or enable the feature";
    312 "server-error": "the server answered with an error that a retry would not change, such as a redirect of a cluster; or its certificate is not trusted" => "read the server's message in the error, and correct the server or the address";
    313 "connection-closed": "the connection has been closed for good: a connection of the program's own, or a client that is being closed" => "make a new client";
    314 "given-up": "the attempt was abandoned before this request reached the server" => "acquire again";
    315 "inconsistent-permits": "the semaphore stores another number of permits" => "use the same number in all clients; to change it, stop all clients and delete the semaphore's node";
    316 "no-contender": "the contender that was to be revoked or broken no longer exists" => "list the contenders again";
    317 "in-progress": "another attempt runs this operation; or its lease ended without a result, and the policy is `block`" => "try again after `retry_after`, or wait longer; after a crash under `block`, [settle or forget](../how-to/run-an-operation-once.md#after-a-crash) the record";
    318 "mismatch": "the key belongs to an operation with another fingerprint or binding, or to a value" => "use a new key for each operation";
    319 "indeterminate": "the lease of an earlier attempt ended without a result, and the policy is `indeterminate`: the operation may have run" => "find out what happened, then [settle or forget](../how-to/run-an-operation-once.md#after-a-crash) the record";
    320 "unknown-token": "the token was never issued in this scope, or has expired" => "issue a new token";
    321 "corrupt-record": "the record of this operation cannot be read: it is damaged, of a later version, or of another program" => "nothing has run; look at the key with another tool, and delete it if it is not yours";
    322 "conflict": "the value has another version than the update expects; the error has the present value" => "read the value, and update it again";
    323 "record-changed": "the record has changed since the operator read it" => "look at the record again";
    401 "lease-ended": "the lease ended on this client's clock before the client could renew it or confirm the session: the process paused, or the server or the network was slow" => "use a longer `ttl` or session timeout";
    402 "session-expired": "ZooKeeper has ended the session that held the lock" => "use a longer session timeout";
    403 "deleted": "another client deleted the lock's node or key, or the server lost or evicted it" => "find out who deletes locks; on Redis, set [`noeviction`](../how-to/operate-redis.md#memory-and-eviction)";
    404 "taken": "another contender holds the lock, after a lease ended or data was lost" => "as for `lease-ended` and `deleted`";
    405 "max-hold": "the grant reached `max_hold`" => "hold for a shorter time, or raise `max_hold`";
    406 "lost-connection-closed": "the client was closed, or its connection was closed for good, while it held the lock" => "release grants before closing";
    407 "renewal-refused": "the server no longer lets this client renew or read its lock" => "restore the rights";
    408 "superseded": "another attempt has taken the operation over; this attempt's result is not stored" => "use a longer `lease`, and stop the operation when its claim is lost";
    409 "already-completed": "this attempt has stored a result already" => "complete a claim once";
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeMap, vec::Vec};

    use super::*;
    use crate::{Loss, Refusal};

    #[test]
    fn every_refusal_and_loss_is_there_and_nothing_else() {
        let refusals = Refusal::ALL.iter().map(|reason| (reason.code(), reason.name()));
        let losses = Loss::ALL.iter().map(|reason| (reason.code(), reason.name()));
        let known: BTreeMap<_, _> = refusals.chain(losses).collect();
        let documented: BTreeMap<_, _> = ERRORS
            .iter()
            .filter(|error| error.code >= 300)
            .map(|error| (error.code, error.name))
            .collect();
        assert_eq!(documented, known);
    }

    #[test]
    fn every_error_is_there_once_in_order() {
        let codes: Vec<u16> = ERRORS.iter().map(|error| error.code).collect();
        assert!(codes.is_sorted_by(|one, next| one < next), "{codes:?}");
    }
}
