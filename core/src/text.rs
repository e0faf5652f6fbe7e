//! Searching, splitting and building short texts. The searches of the standard library first do some work that pays for
//! long texts. This preparation takes longer than finding a character in a node's name, and its code is a thirtieth of
//! the WebAssembly module. The standard library's formatter is as large, so the core concatenates texts from parts.

use alloc::string::String;
use core::iter;

/// The position of the first occurrence of a part.
#[must_use]
pub fn find(text: &str, part: &str) -> Option<usize> {
    let last = text.len().checked_sub(part.len())?;
    (0..=last).find(|at| is_at(text, *at, part))
}

/// Reads a whole number. The core reads all numbers but fences with this function: each further parser, one per type,
/// would be as large as the search.
#[inline(never)]
#[must_use]
pub fn whole(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// A whole number in decimal digits.
#[must_use]
pub fn decimal(number: impl TryInto<u64>) -> String {
    let mut text = String::with_capacity(20);
    push_decimal(&mut text, number.try_into().unwrap_or(u64::MAX));
    text
}

/// A whole number in decimal digits, with a minus if it is negative.
#[must_use]
pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    [sign, &decimal(number.unsigned_abs())].concat()
}

/// One day in microseconds.
const DAY: u64 = 86_400_000_000;

/// A duration in the largest unit that represents it exactly.
#[must_use]
pub fn duration(negative: bool, micros: u64) -> String {
    // One day is shown as 86400 s. Only several days are easier to read as days.
    let (number, unit) = if micros > DAY && micros.is_multiple_of(DAY) {
        (micros / DAY, " days")
    } else if micros.is_multiple_of(1_000_000) {
        (micros / 1_000_000, " s")
    } else if micros.is_multiple_of(1_000) {
        (micros / 1_000, " ms")
    } else {
        (micros, " µs")
    };
    let sign = if negative { "-" } else { "" };
    [sign, &decimal(number), unit].concat()
}

fn push_decimal(text: &mut String, number: u64) {
    if number > 9 {
        push_decimal(text, number / 10);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    text.push(char::from(digit.wrapping_add(b'0')));
}

/// How many characters of a given value a message repeats.
const MOST_SHOWN: usize = 64;

/// A name as messages show it: all of it, or its beginning.
#[must_use]
pub fn shown(name: &str) -> String {
    let mut letters = name.chars();
    let mut shown: String = letters.by_ref().take(MOST_SHOWN).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A given value in quotes, without control characters, shortened as by [`shown`].
pub(crate) fn quoted(given: &str) -> String {
    quoted_whole(&shown(given))
}

/// A given value in quotes, without control characters, not shortened. `{:?}` would add tables of Unicode, a twentieth
/// of the WebAssembly module.
pub(crate) fn quoted_whole(given: &str) -> String {
    let shown = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    ['"']
        .into_iter()
        .chain(given.chars().map(shown))
        .chain(['"'])
        .collect()
}

/// Whether a text contains an ASCII character.
#[must_use]
pub fn has(text: &str, mark: u8) -> bool {
    text.bytes().any(|byte| byte == mark)
}

/// The texts before and after the first occurrence of an ASCII character.
#[must_use]
pub fn split(text: &str, mark: u8) -> Option<(&str, &str)> {
    around(text, text.bytes().position(|byte| byte == mark)?)
}

/// The texts before and after the last occurrence of an ASCII character.
#[must_use]
pub fn split_last(text: &str, mark: u8) -> Option<(&str, &str)> {
    around(text, text.bytes().rposition(|byte| byte == mark)?)
}

/// The parts of a text that an ASCII character separates: one part more than the text has such characters.
pub fn parts(text: &str, mark: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let here = rest?;
        let (part, behind) = split(here, mark).map_or((here, None), |(part, behind)| (part, Some(behind)));
        rest = behind;
        Some(part)
    })
}

/// A text without the given characters at its end.
#[must_use]
pub fn without_last(mut text: &str, mark: char) -> &str {
    while let Some(shorter) = text.strip_suffix(mark) {
        text = shorter;
    }
    text
}

fn around(text: &str, at: usize) -> Option<(&str, &str)> {
    let (before, from) = text.split_at_checked(at)?;
    Some((before, from.get(1..)?))
}

fn is_at(text: &str, at: usize, part: &str) -> bool {
    let rest = text.as_bytes().get(at..);
    rest.is_some_and(|rest| rest.starts_with(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn durations_are_in_the_largest_unit_that_shows_all_of_them() {
        for (negative, micros, text) in [
            (false, 0, "0 s"),
            (true, 1_000, "-1 ms"),
            (false, 1_500, "1500 µs"),
            (false, 30_000_000, "30 s"),
            (false, 86_400_000_000, "86400 s"),
            (false, 34_560_000_000_000, "400 days"),
        ] {
            assert_eq!(duration(negative, micros), text);
        }
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        for number in [0, 7, 10, 4711, u64::MAX] {
            assert_eq!(decimal(number), number.to_string());
        }
        for number in [0, -1, 42, i64::MIN, i64::MAX] {
            assert_eq!(signed(number), number.to_string());
        }
        assert_eq!(quoted("a\n\u{85}b"), "\"a\u{fffd}\u{fffd}b\"");
        let (most, more) = ("ü".repeat(64), "ü".repeat(65));
        assert_eq!(quoted(&most), ["\"", &most, "\""].concat());
        assert_eq!(quoted(&more), ["\"", &most, "…\""].concat());
    }

    #[test]
    fn texts_are_split_as_the_standard_library_splits_them() {
        for text in ["", "/", "a", "a/", "/ü", "a/b//c", "//"] {
            assert_eq!(split(text, b'/'), text.split_once('/'), "{text}");
            assert_eq!(split_last(text, b'/'), text.rsplit_once('/'), "{text}");
            assert!(parts(text, b'/').eq(text.split('/')), "{text}");
            assert_eq!(without_last(text, '/'), text.trim_end_matches('/'), "{text}");
            assert_eq!(has(text, b'/'), text.contains('/'), "{text}");
        }
    }

    #[test]
    fn it_finds_what_the_standard_library_finds() {
        let texts = [
            "",
            "a",
            "ab",
            "aab",
            "abab-ab",
            "_c_1-lock-lock-7",
            "ünïcode-ü-",
            "üü",
        ];
        for text in texts {
            for part in ["", "a", "ab", "lock-", "-", "ü", "ü-", "longer than all"] {
                assert_eq!(find(text, part), text.find(part), "{text} {part}");
            }
        }
    }
}
