//! A record as fields, and as bytes.
//!
//! Redis stores the fields in a hash, other servers store the bytes. Each record has only one form: the fields are in
//! the order of [`NAMES`], a number has no leading zeros, and fields that are empty, zero or the default are left out.
//! The decoder rejects all other forms.
//!
//! ```text
//!   fencepost-record:1⏎
//!   state:7:running⏎
//!   attempt:34:00112233445566778899aabbccddeeff-1⏎
//!   lease:13:1795000000000⏎
//! ```
//!
//! The first line without fields is a freed record: there is no operation. (On ZooKeeper, it is cheaper to free a
//! record than to delete it.)

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::record::{Corrupt, MAX_NUMBER, Policy, Record, State, Token};
use crate::{AttemptId, Fence, text::decimal};

/// The version of the form.
pub const FORMAT: &str = "1";

/// The names of all fields, in their order.
pub const NAMES: [&str; 14] = [
    "state",
    "attempt",
    "fence",
    "takeovers",
    "fingerprint",
    "binding",
    "life",
    "policy",
    "lease",
    "retention",
    "kept",
    "version",
    "tag",
    "result",
];

const HEAD: &[u8] = b"fencepost-record:1\n";

/// The bytes of a record, or of no record. A number above [`MAX_NUMBER`] is stored as `MAX_NUMBER`.
#[must_use]
pub fn encode(record: Option<&Record>) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    for (name, value) in record.into_iter().flat_map(fields) {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b':');
        bytes.extend_from_slice(decimal(value.len()).as_bytes());
        bytes.push(b':');
        bytes.extend_from_slice(&value);
        bytes.push(b'\n');
    }
    bytes
}

/// The record in these bytes, or `None` for a freed record.
///
/// # Errors
/// [`Corrupt`] for bytes that [`encode`] never returns.
pub fn decode(bytes: &[u8]) -> Result<Option<Record>, Corrupt> {
    let mut rest = bytes.strip_prefix(HEAD).ok_or(Corrupt)?;
    if rest.is_empty() {
        return Ok(None);
    }
    let mut values = [None; NAMES.len()];
    for (name, value) in NAMES.iter().zip(&mut values) {
        (*value, rest) = take_field(name, rest)?;
    }
    if !rest.is_empty() {
        return Err(Corrupt);
    }
    let value = |name: &str| {
        let at = NAMES.iter().position(|known| *known == name)?;
        *values.get(at)?
    };
    from_fields(value).map(Some)
}

/// The value of a field, if the text begins with this field; and the rest of the text.
fn take_field<'a>(name: &str, text: &'a [u8]) -> Result<(Option<&'a [u8]>, &'a [u8]), Corrupt> {
    let named = text.strip_prefix(name.as_bytes());
    let Some(rest) = named.and_then(|rest| rest.strip_prefix(b":")) else {
        return Ok((None, text));
    };
    let digits = rest.iter().position(|byte| *byte == b':').ok_or(Corrupt)?;
    let (length, rest) = rest.split_at_checked(digits).ok_or(Corrupt)?;
    let length = usize::try_from(number(Some(length))?).map_err(|_| Corrupt)?;
    let rest = rest.strip_prefix(b":").ok_or(Corrupt)?;
    let (value, rest) = rest.split_at_checked(length).ok_or(Corrupt)?;
    Ok((Some(value), rest.strip_prefix(b"\n").ok_or(Corrupt)?))
}

/// The fields of a record in order, without those that are left out.
pub fn fields(record: &Record) -> impl Iterator<Item = (&'static str, Cow<'_, [u8]>)> {
    let number = |number: u64| match number {
        0 => Cow::default(),
        number => Cow::Owned(decimal(number.min(MAX_NUMBER)).into_bytes()),
    };
    let token = record.token.as_ref();
    let values: [Cow<'_, [u8]>; NAMES.len()] = [
        record.state.name().as_bytes().into(),
        record.attempt.text().into_bytes().into(),
        number(record.fence.0),
        number(record.takeovers),
        record.fingerprint.as_slice().into(),
        token.map_or(Cow::default(), |token| token.binding.as_slice().into()),
        token.map_or(Cow::default(), |token| number(token.life)),
        policy_name(record.policy).as_bytes().into(),
        number(record.lease_end),
        number(record.retention),
        number(record.kept_until),
        number(record.version),
        record.tag.as_bytes().into(),
        record.result.as_slice().into(),
    ];
    let named = NAMES.into_iter().zip(values);
    named.filter(|(_, value)| !value.is_empty())
}

/// The record that has these fields.
///
/// # Errors
/// [`Corrupt`] if no record has them.
pub fn from_fields<'a>(field: impl Fn(&str) -> Option<&'a [u8]>) -> Result<Record, Corrupt> {
    if NAMES.iter().any(|name| field(name).is_some_and(<[u8]>::is_empty)) {
        return Err(Corrupt);
    }
    let bytes = |name| field(name).unwrap_or_default().to_vec();
    let state = state_named(field("state").unwrap_or_default()).ok_or(Corrupt)?;
    let attempt = AttemptId::parse(field("attempt").unwrap_or_default()).ok_or(Corrupt)?;
    let version = number(field("version"))?;
    let token = match number(field("life"))? {
        0 if field("binding").is_some() || state == State::Issued => return Err(Corrupt),
        0 => None,
        life => Some(Token {
            binding: bytes("binding"),
            life,
        }),
    };
    let retention = number(field("retention"))?;
    let lasting = match state {
        State::Issued | State::Running | State::Done => retention,
        State::Value => version,
    };
    if lasting == 0 {
        return Err(Corrupt);
    }
    Ok(Record {
        state,
        attempt,
        fence: Fence(number(field("fence"))?),
        takeovers: number(field("takeovers"))?,
        fingerprint: bytes("fingerprint"),
        token,
        policy: policy_named(field("policy").unwrap_or_default()).ok_or(Corrupt)?,
        lease_end: number(field("lease"))?,
        retention,
        kept_until: number(field("kept"))?,
        version,
        tag: String::from_utf8(bytes("tag")).map_err(|_| Corrupt)?,
        result: bytes("result"),
    })
}

/// A positive number without leading zeros; 0 if the field is left out.
fn number(value: Option<&[u8]>) -> Result<u64, Corrupt> {
    let Some(digits) = value else {
        return Ok(0);
    };
    if !matches!(digits, [b'1'..=b'9', ..]) {
        return Err(Corrupt);
    }
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    });
    number.filter(|number| *number <= MAX_NUMBER).ok_or(Corrupt)
}

fn state_named(name: &[u8]) -> Option<State> {
    let mut states = State::ALL.into_iter();
    states.find(|state| state.name().as_bytes() == name)
}

/// A policy as it is stored. The default is the empty text, which is left out.
pub(crate) fn policy_name(policy: Policy) -> &'static str {
    if policy == Policy::default() {
        ""
    } else {
        policy.name()
    }
}

fn policy_named(name: &[u8]) -> Option<Policy> {
    let mut policies = Policy::ALL.into_iter();
    policies.find(|policy| policy_name(*policy).as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::claim::chance::Chance;

    #[test]
    fn a_record_is_text_that_an_operator_can_read() {
        let mut record = Record::new(State::Running, Chance::new(1).attempt());
        record.attempt.contender.0 = *b"\0\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";
        record.attempt.number = 1;
        record.policy = Policy::Block;
        record.lease_end = 1_795_000_000_000;
        record.retention = 86_400_000;
        let text = "fencepost-record:1\nstate:7:running\nattempt:34:00112233445566778899aabbccddeeff-1\n\
            policy:5:block\nlease:13:1795000000000\nretention:8:86400000\n";
        assert_eq!(encode(Some(&record)), text.as_bytes());
        assert_eq!(encode(None), b"fencepost-record:1\n");
        assert_eq!(decode(b"fencepost-record:1\n"), Ok(None));
    }

    #[test]
    fn every_record_is_decoded_to_itself() {
        for seed in 0..4000 {
            let record = Chance::new(seed).record();
            assert_eq!(decode(&encode(Some(&record))), Ok(Some(record)), "seed {seed}");
        }
    }

    /// If bytes can be decoded, the record is encoded to the same bytes. So no two texts are the same record.
    #[test]
    fn no_other_bytes_are_a_record() {
        let mut read = 0;
        for seed in 0..60_000 {
            let mut chance = Chance::new(seed);
            let bytes = if chance.one_in(4) {
                [HEAD, &chance.bytes(80)].concat()
            } else {
                let record = chance.record();
                chance.damage(encode(Some(&record)))
            };
            if let Ok(record) = decode(&bytes) {
                read += 1;
                assert_eq!(encode(record.as_ref()), bytes, "seed {seed}");
            }
        }
        // Often the damage is in bytes that may have any value, so many damaged records can still be decoded.
        assert!(read > 1000, "{read}");
    }

    #[test]
    fn what_is_not_canonical_is_corrupt() {
        let head = "fencepost-record:1\n";
        let attempt = "attempt:34:00112233445566778899aabbccddeeff-1\n";
        let kept = "retention:1:9\n";
        let sound = [head, "state:4:done\n", attempt, kept].concat();
        assert!(decode(sound.as_bytes()).is_ok());
        for (why, lines) in [
            ("no first line", vec!["state:4:done\n", attempt, kept]),
            (
                "a later format",
                vec!["fencepost-record:2\n", "state:4:done\n", attempt, kept],
            ),
            ("no state", vec![head, attempt, kept]),
            ("an unknown state", vec![head, "state:4:gone\n", attempt, kept]),
            ("no attempt", vec![head, "state:4:done\n", kept]),
            ("another order", vec![head, attempt, "state:4:done\n", kept]),
            (
                "a field twice",
                vec![head, "state:4:done\n", "state:4:done\n", attempt, kept],
            ),
            (
                "an unknown field",
                vec![head, "state:4:done\n", attempt, kept, "x:1:1\n"],
            ),
            (
                "an empty field",
                vec![head, "state:4:done\n", attempt, kept, "tag:0:\n"],
            ),
            (
                "a zero",
                vec![head, "state:4:done\n", attempt, "fence:1:0\n", kept],
            ),
            (
                "a leading zero",
                vec![head, "state:4:done\n", attempt, "fence:2:01\n", kept],
            ),
            (
                "a length with a zero",
                vec![head, "state:4:done\n", attempt, "fence:01:1\n", kept],
            ),
            (
                "a number above 2^53",
                vec![
                    head,
                    "state:4:done\n",
                    attempt,
                    "fence:16:9007199254740992\n",
                    kept,
                ],
            ),
            (
                "a written default",
                vec![head, "state:4:done\n", attempt, "policy:6:retake\n", kept],
            ),
            (
                "a binding without a token",
                vec![head, "state:4:done\n", attempt, "binding:1:x\n", kept],
            ),
            (
                "a token without a life",
                vec![head, "state:6:issued\n", attempt, kept],
            ),
            (
                "a value without a version",
                vec![head, "state:5:value\n", attempt, kept],
            ),
            ("no retention", vec![head, "state:4:done\n", attempt]),
            (
                "a tag that is longer",
                vec![head, "state:4:done\n", attempt, kept, "tag:2:ab\nx"],
            ),
            (
                "cut off",
                vec![head, "state:4:done\n", attempt, kept, "result:9:abc\n"],
            ),
        ] {
            assert_eq!(decode(lines.concat().as_bytes()), Err(Corrupt), "{why}");
        }
        let tag = [sound.as_bytes(), b"tag:1:\xff\n"].concat();
        assert_eq!(decode(&tag), Err(Corrupt));
    }
}
