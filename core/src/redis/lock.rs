//! The layout `string`: the arguments of its scripts, and their replies. [`Script`] documents both.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    AttemptId, Loss, Refusal,
    text::{decimal, quoted},
    time::millis_up,
};

use super::{
    ask::{Acquired, Ask, Ended, TOMBSTONE},
    reply::{Trouble, fields},
    scripts::{Call, Script},
    settings::StringSettings,
    wire::Reply,
};

/// How long the server keeps a fence after the last use of its lock. A resource that stores fences for longer must be
/// informed when a name is no longer used.
const KEEP_FENCE: Duration = Duration::from_secs(7 * 86_400);

/// How many bytes of the fence key's value an error repeats.
const MOST_SHOWN: usize = 64;

/// The arguments of `acquire`, and the three words that begin a command: its name, the script and the number of keys.
const MOST_ARGUMENTS: usize = 10;

/// The call that acquires, renews or releases a lock.
pub(super) fn call(settings: &StringSettings, attempt: &str, ask: Ask<'_>, tombstone: Duration) -> Call {
    let script = match ask {
        Ask::Acquire => Script::Acquire,
        Ask::Renew => Script::Renew,
        Ask::End(_) => Script::Release,
    };
    let mut arguments = Vec::with_capacity(MOST_ARGUMENTS);
    arguments.push(settings.key());
    if script != Script::Release {
        arguments.push(settings.fence_key());
    }
    if script != Script::Renew {
        arguments.push(settings.tombstone_key(attempt));
    }
    let keys = arguments.len();
    arguments.push(attempt.as_bytes().to_vec());
    if script == Script::Release {
        arguments.extend([settings.channel(), number(tombstone)]);
    } else {
        let ttl = settings.lease.ttl;
        let keep = KEEP_FENCE.max(ttl.saturating_mul(2));
        arguments.extend([number(ttl), number(keep)]);
    }
    if script == Script::Acquire {
        arguments.push(number(settings.lease.ttl.max(TOMBSTONE)));
    }
    Call {
        script,
        keys,
        arguments,
    }
}

/// The answer in the reply to an acquire.
pub(super) fn acquired(settings: &StringSettings, reply: &Reply) -> Result<Acquired, Trouble> {
    match fields(reply)? {
        [Reply::Int(1), fence] => text(fence)
            .and_then(|fence| fence.parse().ok())
            .map(|fence| Acquired::Yes { fence, takeovers: 0 })
            .ok_or(Trouble::Shape),
        [Reply::Int(0), Reply::Int(left), Reply::Bytes(holder)] => Ok(Acquired::Held {
            left: u64::try_from(*left).ok().map(Duration::from_millis),
            foreign: (!AttemptId::is_text(holder)).then(|| holder.clone()),
        }),
        [Reply::Int(2)] => Ok(Acquired::GivenUp),
        [Reply::Int(3), Reply::Bytes(kept)] => {
            let detail = bad_fence(settings, kept);
            Ok(Acquired::No(Refusal::ServerError, Some(detail)))
        }
        _ => Err(Trouble::Shape),
    }
}

/// The answer in the reply to a renewal or a release.
pub(super) fn compared(reply: &Reply) -> Result<Ended, Trouble> {
    match fields(reply)? {
        [Reply::Int(1), ..] => Ok(Ended::Own),
        [Reply::Int(0), Reply::Bytes(_)] => Ok(Ended::Lost(Loss::Taken)),
        [Reply::Int(0)] | [Reply::Int(0), Reply::Nil] => Ok(Ended::Lost(Loss::Deleted)),
        _ => Err(Trouble::Shape),
    }
}

fn bad_fence(settings: &StringSettings, kept: &[u8]) -> String {
    let key = String::from_utf8_lossy(&settings.fence_key()).into_owned();
    let kept = String::from_utf8_lossy(kept.get(..MOST_SHOWN).unwrap_or(kept)).into_owned();
    let why = ", which is not a whole number below 2^53: set the key to the highest fence of this lock, or delete the key";
    ["the key ", &quoted(&key), " holds ", &quoted(&kept), why].concat()
}

fn text(reply: &Reply) -> Option<&str> {
    match reply {
        Reply::Bytes(bytes) => core::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// A duration in whole milliseconds, as the scripts read it.
fn number(duration: Duration) -> Vec<u8> {
    decimal(millis_up(duration)).into_bytes()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::lease;

    #[test]
    fn scripts_answers_are_read_exactly() {
        let settings = StringSettings::new("stock", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN).unwrap();
        let acquired = |reply: &Reply| acquired(&settings, reply);
        let bytes = |text: &str| Reply::Bytes(text.into());
        let fence = vec![Reply::Int(1), bytes("1790000000000001")];
        assert_eq!(
            acquired(&Reply::Array(fence)),
            Ok(Acquired::Yes {
                fence: 1_790_000_000_000_001,
                takeovers: 0
            })
        );
        for (left, expected) in [(250, Some(Duration::from_millis(250))), (-1, None)] {
            let held = vec![Reply::Int(0), Reply::Int(left), bytes("token")];
            let expected = Acquired::Held {
                left: expected,
                foreign: Some(b"token".to_vec()),
            };
            assert_eq!(acquired(&Reply::Array(held)), Ok(expected));
        }
        let ours = vec![
            Reply::Int(0),
            Reply::Int(-1),
            bytes("00112233445566778899aabbccddeeff-1"),
        ];
        let expected = Acquired::Held {
            left: None,
            foreign: None,
        };
        assert_eq!(acquired(&Reply::Array(ours)), Ok(expected));
        let bad = acquired(&Reply::Array(vec![Reply::Int(3), bytes("soon")]));
        let Ok(Acquired::No(Refusal::ServerError, Some(detail))) = bad else {
            panic!("{bad:?}");
        };
        assert!(
            detail.starts_with("the key \"{stock}:fence\" holds \"soon\""),
            "{detail}"
        );
        assert_eq!(
            compared(&Reply::Array(vec![Reply::Int(0), bytes("x")])),
            Ok(Ended::Lost(Loss::Taken))
        );
        assert_eq!(
            compared(&Reply::Array(vec![Reply::Int(0), Reply::Nil])),
            Ok(Ended::Lost(Loss::Deleted))
        );
        for wrong in [
            Reply::Nil,
            Reply::Int(1),
            Reply::Array(vec![]),
            Reply::Array(vec![bytes("1")]),
        ] {
            assert_eq!(acquired(&wrong), Err(Trouble::Shape));
        }
    }
}
