//! Identifiers of machines, commands, sessions, contenders and attempts, and the fence of a grant.

use alloc::string::String;
use core::fmt;

use crate::text::decimal;

/// Identifies a machine of a [`Hub`](crate::hub::Hub). Keys are never reused. `Key::HUB` is the hub itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

impl Key {
    /// The key of the hub's own commands, which serve all machines (session confirmations, subscriptions).
    pub const HUB: Self = Self(0);
}

/// Identifies a command. Ids grow by one within a hub and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// Identifies a ZooKeeper session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

/// The fencing token of a grant. It grows with every exclusive grant of one lock. A resource that remembers the highest
/// fence it has seen can therefore reject a holder whose lock has since been granted to another contender (Kleppmann,
/// "How to do distributed locking", 2016).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identifies a contender: sixteen random bytes from the caller. Safety depends on their uniqueness, so they come from
/// the operating system's random source and are new for every machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderId(pub [u8; 16]);

impl fmt::Display for ContenderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(&digits(&self.0)).unwrap_or_default())
    }
}

fn digits(bytes: &[u8; 16]) -> [u8; 32] {
    let mut text = [0_u8; 32];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        if let [high, low] = pair {
            (*high, *low) = (hex(byte >> 4), hex(byte & 15));
        }
    }
    text
}

/// The hexadecimal digit of a number below 16.
const fn hex(digit: u8) -> u8 {
    match digit {
        0..10 => digit.wrapping_add(b'0'),
        _ => digit.wrapping_sub(10).wrapping_add(b'a'),
    }
}

/// The number below 16 that has this lower-case hexadecimal digit.
const fn value_of(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}

impl fmt::Debug for ContenderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContenderId({self})")
    }
}

/// A contender and a counter that is new for every acquire. Servers store it as the owner of a lock.
///
/// No command of attempt *k* can affect attempt *k + 1*, however late it arrives, because every command compares the
/// whole attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The contender.
    pub contender: ContenderId,
    /// The number of this attempt of the contender, from 1.
    pub number: u32,
}

impl AttemptId {
    /// The attempt as a canonical UUID of 36 characters, as in the names of Curator's protected nodes
    /// (`ProtectedUtils`): the contender's bytes, with the number added.
    #[must_use]
    pub fn uuid(&self) -> String {
        self.encoded(true).as_str().into()
    }

    /// The contender's bytes as one big-endian number, plus the attempt's number.
    fn sum(&self) -> [u8; 16] {
        u128::from_be_bytes(self.contender.0)
            .wrapping_add(u128::from(self.number))
            .to_be_bytes()
    }

    /// The same UUID without dashes, as in the names of Kazoo's nodes.
    #[must_use]
    pub fn hex(&self) -> String {
        self.encoded(false).as_str().into()
    }

    /// The same UUID with or without dashes, without an allocation.
    pub(crate) fn encoded(&self, dashed: bool) -> EncodedId {
        let digits = digits(&self.sum());
        let mut text = [b'-'; 36];
        let (parts, size): (&[_], _) = if dashed {
            (
                &[(0, 0..8), (9, 8..12), (14, 12..16), (19, 16..20), (24, 20..32)],
                36,
            )
        } else {
            (&[(0, 0..32)], 32)
        };
        for (at, part) in parts {
            let (to, from) = (text.iter_mut().skip(*at), digits.get(part.clone()));
            for (letter, digit) in to.zip(from.unwrap_or_default()) {
                *letter = *digit;
            }
        }
        EncodedId { text, size }
    }

    /// The attempt as servers store it: the contender in hexadecimal digits, a dash, and the number.
    #[must_use]
    pub fn text(&self) -> String {
        let contender = digits(&self.contender.0);
        let contender = core::str::from_utf8(&contender).unwrap_or_default();
        [contender, "-", &decimal(self.number)].concat()
    }

    /// Whether a value has the form of [`text`](Self::text).
    pub(crate) fn is_text(value: &[u8]) -> bool {
        let digit = |byte: &u8| byte.is_ascii_digit();
        let contender = value.get(..32).unwrap_or_default();
        let number = value.get(32..).and_then(|rest| rest.strip_prefix(b"-"));
        contender.len() == 32
            && contender
                .iter()
                .all(|byte| digit(byte) || matches!(byte, b'a'..=b'f'))
            && number.is_some_and(|number| !number.is_empty() && number.iter().all(digit))
    }

    /// Parses a [`text`](Self::text). The number must not be zero or have leading zeros.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let (digits, number) = value.split_at_checked(32)?;
        let mut contender = [0_u8; 16];
        for (byte, pair) in contender.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = (value_of(*high)? << 4) | value_of(*low)?;
        }
        let number = number.strip_prefix(b"-")?;
        if !matches!(number, [b'1'..=b'9', ..]) {
            return None;
        }
        Some(Self {
            contender: ContenderId(contender),
            number: crate::text::whole(core::str::from_utf8(number).ok()?)?
                .try_into()
                .ok()?,
        })
    }

    /// Whether a node's data, up to the first space, are this attempt.
    pub(crate) fn is_written(&self, data: &[u8]) -> bool {
        data.split(|byte| *byte == b' ').next() == Some(self.text().as_bytes())
    }
}

/// The UUID of an attempt, without an allocation: every acquire puts it into a node's name and compares the name that
/// the server returns.
pub(crate) struct EncodedId {
    text: [u8; 36],
    size: usize,
}

impl EncodedId {
    pub(crate) fn as_str(&self) -> &str {
        let encoded = self.text.get(..self.size).unwrap_or_default();
        core::str::from_utf8(encoded).unwrap_or_default()
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn contenders_are_written_in_hexadecimal() {
        let contender = ContenderId(*b"\x00\x01\x09\x0a\x0f\x10\x7f\x80\x99\xa0\xab\xcd\xef\xf0\xfe\xff");
        assert_eq!(contender.to_string(), "0001090a0f107f8099a0abcdeff0feff");
        let attempt = AttemptId { contender, number: 7 };
        assert_eq!(attempt.to_string(), "0001090a0f107f8099a0abcdeff0feff-7");
        assert_eq!(
            alloc::format!("{contender:?}"),
            "ContenderId(0001090a0f107f8099a0abcdeff0feff)"
        );
        assert_eq!(attempt.uuid(), "0001090a-0f10-7f80-99a0-abcdeff0ff06");
        assert_eq!(attempt.hex(), "0001090a0f107f8099a0abcdeff0ff06");
        assert!(AttemptId::is_text(attempt.text().as_bytes()));
        assert_eq!(AttemptId::parse(attempt.text().as_bytes()), Some(attempt));
        for foreign in [
            "",
            "0001090a0f107f8099a0abcdeff0feff",
            "0001090a0f107f8099a0abcdeff0feff-",
            "0001090a0f107f8099a0abcdeff0feff-x",
            "0001090A0f107f8099a0abcdeff0feff-7",
            "0001090a-0f10-7f80-99a0-abcdeff0fe-7",
        ] {
            assert!(!AttemptId::is_text(foreign.as_bytes()), "{foreign}");
            assert_eq!(AttemptId::parse(foreign.as_bytes()), None, "{foreign}");
        }
        for number in ["0", "07", "+7", "7 ", "4294967296"] {
            let text = ["0001090a0f107f8099a0abcdeff0feff-", number].concat();
            assert_eq!(AttemptId::parse(text.as_bytes()), None, "{text}");
        }
    }
}
