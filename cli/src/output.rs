//! Standard output and standard error.

use std::io::{self, ErrorKind, Write};

/// Prints a text. A reader that has gone has read what it wanted: that is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    unless_gone(writeln!(io::stdout(), "{text}"))
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout();
    unless_gone(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Says on one line of standard error what has gone wrong. If standard error is closed, the exit code says it.
pub(crate) fn complain(text: &str) {
    complain_after("fencepost: ", text);
}

/// Adds a cause on a line of its own.
pub(crate) fn complain_because(cause: &str) {
    complain_after("  because: ", cause);
}

/// The name and the text of an error with its causes, on one line.
pub(crate) fn with_causes(error: &fencepost::Error) -> String {
    format!("{}: {error:?}", error.name())
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
