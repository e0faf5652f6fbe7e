//! Errors of the arguments, on one line.

use std::{ffi::OsString, process::ExitCode};

use clap::{Command, error::ErrorKind};

use crate::output::{self, complain};

/// The exit code of a failure that is not a result of the command.
pub(crate) const BROKEN: u8 = 2;

/// Ends a command whose arguments the parser refused, or that printed its help. `broken` is the exit code if the help
/// cannot be written to standard output.
pub(crate) fn end(error: &clap::Error, command: &Command, broken: u8) -> ExitCode {
    if !error.use_stderr() {
        return match output::print_with(|| error.print()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&output::unwritten(&error));
                ExitCode::from(broken)
            }
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // If standard error is closed, only the exit code reports the error.
        let _printed = error.print();
    } else {
        let help = [&["fencepost".into()], &*named(command), &["--help".into()]].concat();
        complain(&format!("{} (see `{}`)", on_one_line(error), help.join(" ")));
    }
    ExitCode::from(BROKEN)
}

/// The error without the synopsis.
pub(crate) fn on_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let is_over = |line: &str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = text.lines().take_while(|line| !is_over(line));
    let words: Vec<String> = lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| match line.starts_with("tip: ") {
            true => format!("({line})"),
            false => line.into(),
        })
        .collect();
    let text = words.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).into()
}

/// The command that wrong arguments name: `record look`, for example.
pub(crate) fn named(command: &Command) -> Vec<String> {
    named_in(command, std::env::args_os().skip(1))
}

fn named_in(mut command: &Command, mut words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        if word == "--url" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"--url=") {
            match command.find_subcommand(&word) {
                Some(found) => command = found,
                None => break,
            }
            names.push(command.get_name().into());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::named_in;

    #[test]
    fn a_command_is_found_behind_the_address() {
        let record = Command::new("record").subcommand(Command::new("look"));
        let all = Command::new("fencepost")
            .subcommand(record)
            .subcommand(Command::new("exec"));
        for (words, names) in [
            (&["exec", "record"][..], &["exec"][..]),
            (
                &["--url", "exec", "record", "--url=x", "look", "exec"],
                &["record", "look"],
            ),
            (&["--url=record", "exec", "--bogus"], &["exec"]),
            (&["--bogus", "exec"], &[]),
            (&["--url"], &[]),
            (&[], &[]),
        ] {
            let found = named_in(&all, words.iter().map(Into::into));
            assert_eq!(found, names, "{words:?}");
        }
    }
}
