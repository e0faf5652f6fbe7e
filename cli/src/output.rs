//! Standard output.

use std::io::{self, ErrorKind, Write};

/// Prints a text. A reader that has gone has read what it wanted: that is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
