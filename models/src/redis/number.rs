//! Numbers in the forms that the server reads and writes.

use alloc::{string::ToString, vec::Vec};

use super::wire::Fault;

/// Parses an integer as strictly as the server: no plus sign, no spaces, no leading zeros.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => digits.len() == text.len(),
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    // The standard library's parser would also accept a plus and leading zeros.
    core::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|_| canonical)
}

/// Parses an integer argument of a command.
pub(super) fn argument(text: &[u8]) -> Result<i64, Fault> {
    parse(text).ok_or(Fault::NO_INTEGER)
}

pub(super) fn format(number: i64) -> Vec<u8> {
    number.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn only_the_canonical_form_is_a_number() {
        for (text, number) in [("0", 0), ("-1", -1), ("9223372036854775807", i64::MAX)] {
            assert_eq!(parse(text.as_bytes()), Some(number));
        }
        for text in [
            "",
            "-",
            "-0",
            "01",
            "+1",
            " 1",
            "1 ",
            "9223372036854775808",
            "1.0",
            "\u{661}",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
