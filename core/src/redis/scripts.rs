//! The scripts: each one is a step that the server executes atomically. Their text is in `scripts/`. This module and
//! `claim.rs` document their arguments, replies and reasons. The texts have no comments, because every program contains
//! them.
//!
//! Every script begins with a write, for two reasons. First, a replica refuses a write, so a script never reads a
//! replica's data, which may be out of date. Second, a server checks its memory limit only at a script's first write.
//! The first writes of these scripts need no memory, so a server whose memory is full still grants and releases locks,
//! and serves claims.
//!
//! If the user has no right to one of a script's commands, the server does not undo the changes of the commands before
//! it. So a script that replaces a record or ends a claim first calls its commands in a form that changes nothing
//! (`HDEL KEY ''`, `SET … XX` for a missing key). It adds fields before it removes others.

use alloc::{string::String, vec::Vec};

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = [$($part:literal),+ $(,)?], $sha:literal;)*) => {
        /// A script.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Script {
            $($(#[$doc])* $name,)*
        }

        impl Script {
            /// All scripts.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The parts of the text. Scripts of claims share some.
            const fn parts(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$(include_str!(concat!("scripts/", $part, ".lua"))),+],)*
                }
            }

            /// The SHA-1 of the text. After a server has run a script, it identifies the script by this hash.
            #[must_use]
            pub const fn sha(self) -> &'static str {
                match self { $(Self::$name => $sha,)* }
            }
        }
    };
}

impl Script {
    /// The script's text.
    #[must_use]
    pub fn text(self) -> String {
        self.parts().concat()
    }
}

/// A script with its keys and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The script.
    pub script: Script,
    /// How many of the arguments are keys. All keys are in one slot.
    pub keys: usize,
    /// The keys, then the other arguments.
    pub arguments: Vec<Vec<u8>>,
}

scripts! {
    /// Layout `string`: takes a free lock, or reports the holder.
    ///
    /// - KEYS: lock, fence, tombstone of this attempt.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms, how long to keep the tombstone in ms.
    /// - Replies `{1, fence}`: granted. `{0, ms left or -1 if the key has no end, holder}`: another contender holds the
    ///   lock, and `holder` is its value. `{2}`: the client has abandoned this attempt. `{3, kept}`: the fence key
    ///   holds `kept`, which is not a fence.
    /// - If the attempt already holds the lock, this request repeats an earlier one whose reply was lost. The reply is
    ///   the same grant, with a full lease from now. It has a new fence only if the fence key does not exist any more.
    /// - The fence is greater than the previous one. After a loss of all data it is still greater than all earlier
    ///   fences, unless the server's clock has gone back. A fence is below 2^53, so Lua and JavaScript represent it
    ///   exactly.
    Acquire = ["acquire"], "0fb29b083c5a5a2257b2b79922d5ac6d947cd950";
    /// Layout `string`: extends the lease to its full length from now, if this attempt still holds the lock. The script
    /// never shortens a lease.
    ///
    /// - KEYS: lock, fence.
    /// - ARGV: attempt, lease in ms, how long to keep the fence in ms.
    /// - Replies `{1}`: renewed. `{0, holder}`: this attempt does not hold the lock; `holder` is the holder's value, or
    ///   nil if there is no holder.
    Renew = ["renew"], "bcba7badd9e549a292017eabfdc82622adbd4390";
    /// Layout `string`: releases the lock, if this attempt still holds it, and then notifies the waiters.
    ///
    /// - KEYS: lock, tombstone of this attempt.
    /// - ARGV: attempt, channel, how long to keep the tombstone in ms.
    /// - Replies `{1}`: released, now or by an earlier release of this attempt. `{0, holder}`: this attempt did not
    ///   hold the lock.
    /// - The tombstone is for later commands of this attempt. An acquire that arrives late finds that the attempt has
    ///   ended. A release that a client library has sent twice finds that the first one released the lock (`1`) or
    ///   found another holder (`0`).
    /// - The script frees the lock before all other writes. If the user may not publish the message, the script ignores
    ///   the error, because waiters also poll.
    Release = ["release"], "5ef42edee06d1231c6247cd90cbbaf53b619df58";
    /// Layout `string`: reports the holder of a lock.
    ///
    /// - KEYS: lock, fence, tombstone of this attempt.
    /// - ARGV: how long to keep the tombstone in ms.
    /// - Replies `{}`: there is no holder. `{holder, ms left or -1 if the key has no end, fence}`: `holder` is the
    ///   lock's value, and `fence` is the last fence of the lock, or an empty text.
    /// - This tombstone does not exist. The script needs its key only because it begins with a write, as all scripts
    ///   do.
    Holder = ["holder"], "803b254264bd810fa14322c29b945fd180bc2d23";
    /// Layout `string`: takes the lock from its holder, and then notifies the waiters.
    ///
    /// - KEYS: lock, tombstone of the holder's attempt, tombstone of this attempt, fence.
    /// - ARGV: the holder's value, channel, how long to keep the tombstones in ms, the holder's fence or 0 if it has none.
    /// - Replies `{1}`: taken, now or by an earlier request of this attempt. `{0}`: this holder did not hold the lock
    ///   with this fence. (An attempt whose lease ended before the reply with its grant arrived can hold the lock
    ///   again, with a later fence.)
    /// - The script writes the holder's tombstone as after a lost lock: the reply to a later release of the holder is
    ///   `0`, and a late acquire of the holder takes no lock.
    Break = ["break"], "6ae81dcca2463986409d13b859d740e9a38055cb";
    /// Claims an operation. See [`claim`](super::claim).
    Claim = [
        "claim/first", "claim/numbers", "claim/write", "claim/new", "claim/read", "claim/extend",
        "claim/show", "claim/put", "claim/claiming", "claim/claim",
    ], "3da32b27eb2de5bbbcc54f6e1af4dcb924c3c599";
    /// Extends the lease of a claim. See [`claim`](super::claim).
    RenewClaim = [
        "claim/numbers", "claim/read", "claim/lost", "claim/extend", "claim/renew",
    ], "eba5a61b431d9bc06075062ca3d2ebabc35ede6a";
    /// Stores the result of a claim. See [`claim`](super::claim).
    Complete = [
        "claim/read", "claim/write", "claim/lost", "claim/numbers", "claim/show", "claim/completed",
        "claim/complete",
    ], "0ab38d611fbfd276d07459238ae3a3ea2fa0d2f4";
    /// Ends a claim: the operation had no effect. See [`claim`](super::claim).
    ReleaseClaim = [
        "claim/numbers", "claim/read", "claim/lost", "claim/write", "claim/put", "claim/ending",
        "claim/release",
    ], "7de6ebdfdbfb8c829209852965300becd4a0d406";
    /// Ends a claim: the operation's outcome is unknown. See [`claim`](super::claim).
    Leave = [
        "claim/numbers", "claim/read", "claim/lost", "claim/ending", "claim/leave",
    ], "cd3c9a48cc33cd3e0b8d10e73bca3b6bc73ea067";
    /// Makes a token. See [`claim`](super::claim).
    Issue = [
        "claim/read", "claim/write", "claim/put", "claim/issue",
    ], "5d6e7a0559a7b24aa316a80e4f042aece283bc24";
    /// Claims and completes. See [`claim`](super::claim).
    Register = [
        "claim/first", "claim/numbers", "claim/read", "claim/extend", "claim/show", "claim/write",
        "claim/put", "claim/claiming", "claim/completed", "claim/register",
    ], "b3519c233993c1dc70c4a10006fbb20bb4bb788a";
    /// Replaces a value. See [`claim`](super::claim).
    Update = [
        "claim/numbers", "claim/read", "claim/show", "claim/write", "claim/put", "claim/update",
    ], "5f50b0e301a988fc017f1d2072fba21d519b673e";
    /// Reads a record. See [`claim`](super::claim).
    Look = [
        "claim/numbers", "claim/read", "claim/show", "claim/look",
    ], "1be7c81c62c6d2f5a4dab9f6ad9d96b86a5712b0";
    /// An operator stores a result. See [`claim`](super::claim).
    Settle = [
        "claim/numbers", "claim/read", "claim/show", "claim/write", "claim/put", "claim/completed",
        "claim/guard", "claim/settle",
    ], "0d30e17fecf36db0a8fb93937e4c7a23c73ed0ac";
    /// An operator deletes a record. See [`claim`](super::claim).
    Forget = [
        "claim/numbers", "claim/read", "claim/guard", "claim/forget",
    ], "2ce14133a9ce09a84b228439b9fdb7787c8b12dc";
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use sha1::{Digest, Sha1};

    use super::*;

    #[test]
    fn every_sha_is_that_of_its_text() {
        for script in Script::ALL {
            let sha = Sha1::digest(script.text())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>();
            assert_eq!(script.sha(), sha, "{script:?}: take this one");
        }
    }
}
