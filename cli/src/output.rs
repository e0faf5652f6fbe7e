//! Standard output and standard error.

use std::io::{self, ErrorKind, Write};

/// Prints a text. It is not an error if the reader has closed the pipe.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_with(|| writeln!(io::stdout(), "{text}"))
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    print_with(|| io::stdout().write_all(bytes))
}

/// Runs `write`, which writes to standard output.
pub(crate) fn print_with(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    unless_gone(write().and_then(|()| io::stdout().flush()))
}

/// The error text if standard output cannot be written.
pub(crate) fn unwritten(error: &io::Error) -> String {
    format!("cannot write to standard output: {error}")
}

/// Prints an error as one line on standard error. If standard error is closed, only the exit code reports the error.
pub(crate) fn complain(text: &str) {
    complain_after("fencepost: ", text);
}

/// Adds a cause on a separate line.
pub(crate) fn complain_because(cause: &str) {
    complain_after("  because: ", cause);
}

/// The name and the text of an error with its causes, on one line.
pub(crate) fn with_causes(error: &fencepost::Error) -> String {
    format!("{}: {error:?}", error.name())
}

/// Shows a short text of another client on one line, with escapes for characters that control a terminal.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        if is_visible(letter) {
            line.push(letter);
        } else {
            line.extend(letter.escape_default());
        }
    }
    line
}

/// Whether a terminal shows the character: control characters and marks that change the direction of a text are not
/// shown.
pub(crate) fn is_visible(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !turns && !letter.is_control()
}

fn complain_after(head: &str, text: &str) {
    let text = text.replace(char::is_control, " ");
    let _written = writeln!(io::stderr(), "{head}{text}");
}

fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_escapes_for_what_a_terminal_obeys() {
        assert_eq!(on_one_line("a\u{1b}[2J\nü\u{202e}"), "a\\u{1b}[2J\\nü\\u{202e}");
    }
}
