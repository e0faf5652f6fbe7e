//! Inspections of a lock in the layout `string`: the arguments of their scripts, and the replies.
//!
//! The server stores only the holder. If the holder uses this implementation, its attempt identifies it, and an attempt
//! is never used again. If the holder uses another library, its token identifies it, and that library may use the token
//! again.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{AttemptId, Cause, Event, Fence, Found, Refusal, text::decimal, time::millis_up};

use super::{
    ask::TOMBSTONE,
    reply::{Trouble, fields},
    scripts::{Call, Script},
    settings::StringSettings,
    wire::Reply,
};

/// The call that finds the holder.
pub(super) fn find(lock: &StringSettings, attempt: AttemptId) -> Call {
    let keys = [lock.key(), lock.fence_key(), lock.tombstone_key(&attempt.text())];
    call(Script::Holder, keys, [keep()])
}

/// The call that takes the lock from the holder with this token and this fence.
pub(super) fn take(lock: &StringSettings, token: &str, fence: Fence, attempt: AttemptId) -> Call {
    let tombstones = [token, &attempt.text()].map(|attempt| lock.tombstone_key(attempt));
    let [of_holder, own] = tombstones;
    let fence = decimal(fence.0).into_bytes();
    let arguments = [token.as_bytes().to_vec(), lock.channel(), keep(), fence];
    call(
        Script::Break,
        [lock.key(), of_holder, own, lock.fence_key()],
        arguments,
    )
}

/// The holder, if there is one.
pub(super) fn found(reply: &Reply) -> Result<Event, Trouble> {
    let holder = match fields(reply)? {
        [] => None,
        [Reply::Bytes(token), Reply::Int(left), Reply::Bytes(fence)] => {
            let fence = core::str::from_utf8(fence)
                .ok()
                .and_then(|fence| fence.parse().ok());
            // Other libraries have no fences. The fence in the key is that of an earlier holder.
            let fence = fence.filter(|_| AttemptId::is_text(token)).unwrap_or_default();
            let token = String::from_utf8_lossy(token).into_owned();
            let left = u64::try_from(*left).ok().map(Duration::from_millis);
            Some(describe(token, Fence(fence), true, left))
        }
        _ => return Err(Trouble::Shape),
    };
    Ok(Event::Found {
        contenders: holder.into_iter().collect(),
    })
}

/// Whether the lock was taken from its holder.
pub(super) fn taken(
    reply: &Reply,
    token: &str,
    fence: Fence,
) -> Result<Result<Event, (Refusal, Cause)>, Trouble> {
    match fields(reply)? {
        [Reply::Int(1)] => Ok(Ok(Event::Found {
            contenders: Vec::from([describe(token.into(), fence, false, None)]),
        })),
        [Reply::Int(0)] => Ok(Err((Refusal::NoContender, Cause::none()))),
        _ => Err(Trouble::Shape),
    }
}

fn describe(token: String, fence: Fence, holds: bool, left: Option<Duration>) -> Found {
    Found {
        node: token,
        holds,
        shared: false,
        session: None,
        since: None,
        expires_in: left,
        fence,
        identifier: String::new(),
    }
}

fn call<const KEYS: usize, const ARGUMENTS: usize>(
    script: Script,
    keys: [Vec<u8>; KEYS],
    rest: [Vec<u8>; ARGUMENTS],
) -> Call {
    let count = keys.len();
    Call {
        script,
        keys: count,
        arguments: keys.into_iter().chain(rest).collect(),
    }
}

fn keep() -> Vec<u8> {
    decimal(millis_up(TOMBSTONE)).into_bytes()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const OURS: &str = "00112233445566778899aabbccddeeff-1";

    fn bytes(text: &str) -> Reply {
        Reply::Bytes(text.into())
    }

    #[test]
    fn a_holder_has_its_own_fence_alone() {
        let holder = |token: &str, left, fence: &str| {
            let reply = Reply::Array(vec![bytes(token), Reply::Int(left), bytes(fence)]);
            match found(&reply) {
                Ok(Event::Found { contenders }) => contenders,
                other => panic!("{other:?}"),
            }
        };
        let expected = describe(OURS.into(), Fence(9), true, Some(Duration::from_millis(250)));
        assert_eq!(holder(OURS, 250, "9"), [expected]);
        assert_eq!(
            holder("token", -1, "9"),
            [describe("token".into(), Fence(0), true, None)]
        );
        assert_eq!(
            holder(OURS, -1, ""),
            [describe(OURS.into(), Fence(0), true, None)]
        );
        assert_eq!(
            holder(OURS, -1, "soon"),
            [describe(OURS.into(), Fence(0), true, None)]
        );
    }

    #[test]
    fn answers_are_read_exactly() {
        let none = Event::Found { contenders: vec![] };
        assert_eq!(found(&Reply::Array(vec![])), Ok(none));
        let gone = Err((Refusal::NoContender, Cause::none()));
        assert_eq!(
            taken(&Reply::Array(vec![Reply::Int(0)]), OURS, Fence(9)),
            Ok(gone)
        );
        let broken = Event::Found {
            contenders: vec![describe(OURS.into(), Fence(9), false, None)],
        };
        assert_eq!(
            taken(&Reply::Array(vec![Reply::Int(1)]), OURS, Fence(9)),
            Ok(Ok(broken))
        );
        for wrong in [
            Reply::Nil,
            Reply::Array(vec![bytes(OURS)]),
            Reply::Array(vec![Reply::Int(2)]),
        ] {
            assert_eq!(found(&wrong), Err(Trouble::Shape));
            assert_eq!(taken(&wrong, OURS, Fence(9)), Err(Trouble::Shape));
        }
    }
}
