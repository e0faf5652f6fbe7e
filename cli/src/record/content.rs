//! A stored result, for a terminal and as JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::output::is_visible;

/// The number of characters in a row of base64, for the usual width of a terminal.
const ROW: usize = 76;

/// A result as text, if it is text.
pub(super) enum Shown<'a> {
    Text(&'a str),
    /// Base64.
    Bytes(String),
}

impl<'a> Shown<'a> {
    /// The form for JSON, which writes control characters as escapes.
    pub(super) fn of(result: &'a [u8]) -> Self {
        match str::from_utf8(result) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Bytes(STANDARD.encode(result)),
        }
    }

    /// The form for a terminal: a text with characters that control a terminal is also shown as
    /// base64.
    pub(super) fn on_terminal(result: &'a [u8]) -> Self {
        match Self::of(result) {
            Self::Text(text)
                if text
                    .chars()
                    .all(|letter| matches!(letter, '\n' | '\t') || is_visible(letter)) =>
            {
                Self::Text(text)
            }
            _ => Self::Bytes(in_rows(&STANDARD.encode(result))),
        }
    }
}

fn in_rows(base64: &str) -> String {
    let rows: Vec<_> = base64
        .as_bytes()
        .chunks(ROW)
        .map(String::from_utf8_lossy)
        .collect();
    rows.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_terminal(result: &[u8]) -> (bool, String) {
        match Shown::on_terminal(result) {
            Shown::Text(text) => (true, text.into()),
            Shown::Bytes(base64) => (false, base64),
        }
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_obeys() {
        assert_eq!(
            on_terminal("bezahlt: 17 €\n".as_bytes()),
            (true, "bezahlt: 17 €\n".into())
        );
        assert_eq!(on_terminal(b""), (true, String::new()));
        assert_eq!(on_terminal(b"\x1b[2J"), (false, "G1sySg==".into()));
        assert_eq!(on_terminal("\u{202e}71".as_bytes()), (false, "4oCuNzE=".into()));
        assert_eq!(on_terminal(b"\xff"), (false, "/w==".into()));
        let rows = on_terminal(&[0xff; 100]).1;
        assert_eq!(rows.lines().map(str::len).collect::<Vec<_>>(), [76, 60]);
    }
}
