//! The records of idempotent operations: an operator prints a record, sets its result, or deletes it; or sweeps a
//! scope.

mod change;
mod content;
mod look;
mod sweep;

use std::process::ExitCode;

use clap::{
    Args, Subcommand,
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};
use fencepost::{Client, Idempotency};

use crate::{address::address, failure::Failure, scope::open};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  there is no record, or no result to write
  2  wrong usage, or a failure on this computer
  3  refused: the record has changed or cannot be read, or the server refuses
  4  unavailable: no server has answered";

/// Operations and their records.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// The address of the records' server: redis://HOST:PORT or zk://HOST:PORT/PREFIX; by default the value of
    /// FENCEPOST_URL
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand, Clone, Debug)]
enum Step {
    /// Print the record of an operation
    #[command(after_help = EXIT_CODES)]
    Look(look::Look),
    /// Store the result of an operation; this never replaces a result
    #[command(after_help = EXIT_CODES)]
    Settle(change::Settle),
    /// Delete the record of an operation, so that the operation can run
    #[command(after_help = EXIT_CODES)]
    Forget(change::Forget),
    /// Delete the records of a scope that were released or forgotten, or are past their retention
    #[command(after_help = EXIT_CODES)]
    Sweep(sweep::Sweep),
}

/// The operation.
#[derive(Args, Clone, Debug)]
struct Which {
    /// The scope, as in client.idempotency(SCOPE)
    scope: String,
    /// The operation's key in this scope
    key: String,
}

/// Runs one of the commands. `before` is the address before the command's name.
pub(crate) async fn run(arguments: Arguments, before: Option<String>) -> ExitCode {
    let done = async {
        let (url, _) = address(before, arguments.url).map_err(Failure::usage)?;
        match arguments.step {
            Step::Look(look) => look.run(&url).await,
            Step::Settle(settle) => settle.run(&url).await,
            Step::Forget(forget) => forget.run(&url).await,
            Step::Sweep(sweep) => sweep.run(&url).await,
        }
    };
    Failure::end(done.await)
}

/// Adds to the error where the user finds a missing guard.
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if error.kind() == ErrorKind::MissingRequiredArgument => missing,
        _ => return error,
    };
    if missing.iter().any(|argument| argument.starts_with("--guard")) {
        let tip = "`fencepost record look` prints the guard of the record. With it, the command changes only the record that you have seen.";
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

impl Which {
    fn open(&self, url: &str) -> Result<(Client, Idempotency), Failure> {
        open(url, &self.scope)
    }

    /// The failure if there is no record.
    fn missing(&self) -> Failure {
        Failure::missing(format!(
            "there is no record of {self}: it was never claimed, or it was released or forgotten, or its retention has ended"
        ))
    }
}

impl std::fmt::Display for Which {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "operation {:?}", format!("{}/{}", self.scope, self.key))
    }
}
