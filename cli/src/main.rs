//! The fencepost command.

mod address;
mod demo;
#[cfg(unix)]
mod exec;
mod failure;
mod lock;
mod manual;
mod output;
mod record;
mod scope;
mod time;
mod token;
mod usage;

use std::{process::ExitCode, sync::Mutex};

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

use failure::Failure;
use usage::BROKEN;

/// Distributed locks and idempotent operations on ZooKeeper and Redis.
#[derive(Parser)]
#[command(name = "fencepost", version)]
struct Arguments {
    /// The address of the server
    #[arg(long = "url", value_name = "URL")]
    address: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a flash sale, first without a lock and then with one
    Demo(demo::Options),
    /// Print whether a lock is held, and its holders
    Status(lock::Status),
    /// List the holders of a lock, and on ZooKeeper also its waiters
    Contenders(lock::List),
    /// Remove a contender: the holder of a lock, or a waiter
    Break(lock::One),
    /// Send the holder a revocation request (ZooKeeper): it may release the lock, or keep it
    Revoke(lock::One),
    /// Print the record of an idempotent operation, set its result, or delete it
    Record(record::Arguments),
    /// Issue, check and consume tokens: each token lets one operation run once
    Token(token::Arguments),
    /// Run a command under a lock
    #[cfg(unix)]
    Exec(exec::Options),
    /// Print a script that completes the command's options in a shell
    Completions(manual::Completions),
    /// Write the manual pages to a directory
    Man(manual::Pages),
}

/// Commands that the program starts itself.
#[derive(Parser)]
enum Internal {
    /// Ends a command whose `exec` was killed or stopped
    #[cfg(unix)]
    Watchdog,
    /// The buyers of one process of a demo
    Buyers(demo::Options),
}

fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) => match Internal::try_parse() {
            #[cfg(unix)]
            Ok(Internal::Watchdog) => {
                exec::watchdog::run();
                ExitCode::SUCCESS
            }
            Ok(Internal::Buyers(options)) => {
                in_runtime(BROKEN, async { code_of(demo::run_buyers(options).await) })
            }
            Err(_) => end(explained(error)),
        },
    }
}

/// Ends a run whose arguments the parser refused.
fn end(error: clap::Error) -> ExitCode {
    let command = Arguments::command();
    #[cfg(unix)]
    if usage::named(&command).first().is_some_and(|name| name == "exec") {
        return exec::end(error, &command);
    }
    usage::end(&error, &command, BROKEN)
}

/// Adds to the parser's error which argument is wrong, and where the user finds a missing one.
fn explained(error: clap::Error) -> clap::Error {
    let is_no_text = |word: &std::ffi::OsString| word.to_str().is_none();
    match std::env::args_os().find(is_no_text) {
        Some(word) if error.kind() == ErrorKind::InvalidUtf8 => Arguments::command().error(
            ErrorKind::InvalidUtf8,
            format!("the argument {word:?} is not UTF-8: names, keys and addresses are texts"),
        ),
        _ => record::explained(error),
    }
}

fn run(arguments: Arguments) -> ExitCode {
    let takes_none = matches!(
        arguments.command,
        Command::Demo(_) | Command::Completions(_) | Command::Man(_)
    );
    if arguments.address.is_some() && takes_none {
        let why = "this command does not accept --url before its name: write it after `demo`; the other commands use no server";
        return end(Arguments::command().error(ErrorKind::ArgumentConflict, why));
    }
    let address = arguments.address;
    match arguments.command {
        Command::Completions(completions) => code_of(completions.print(&mut Arguments::command())),
        Command::Man(pages) => code_of(pages.write(Arguments::command())),
        Command::Demo(options) => in_runtime(BROKEN, async { code_of(demo::run(options).await) }),
        Command::Status(status) => in_runtime(BROKEN, async { Failure::code(status.run(address).await) }),
        Command::Contenders(list) => in_runtime(BROKEN, async { Failure::end(list.run(address).await) }),
        Command::Break(one) => in_runtime(BROKEN, async { Failure::end(one.break_it(address).await) }),
        Command::Revoke(one) => in_runtime(BROKEN, async { Failure::end(one.revoke(address).await) }),
        Command::Record(record) => in_runtime(BROKEN, record::run(record, address)),
        Command::Token(token) => in_runtime(BROKEN, token::run(token, address)),
        #[cfg(unix)]
        Command::Exec(options) => in_runtime(exec::SYSTEM, exec::run(options, address)),
    }
}

/// Runs a command on this thread only, because a limit on processes may not allow another thread.
/// `broken` is the exit code if a limit of this computer does not allow even that.
fn in_runtime(broken: u8, command: impl Future<Output = ExitCode>) -> ExitCode {
    let runtime = enough_descriptors()
        .and_then(|()| enough_threads())
        .and_then(|()| tokio::runtime::Builder::new_current_thread().enable_all().build());
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("fencepost cannot start on this computer: {error}"));
            return ExitCode::from(broken);
        }
    };
    let code = runtime.block_on(command);
    // This does not wait for a thread that reads standard input, which may have no end.
    runtime.shutdown_background();
    code
}

/// The number of descriptors that a runtime, a connection and a child need. A runtime without
/// descriptors would panic.
const DESCRIPTORS: usize = 24;

fn enough_descriptors() -> std::io::Result<()> {
    (0..DESCRIPTORS)
        .map(|_| std::io::pipe().map(|(end, _)| end))
        .collect::<std::io::Result<Vec<_>>>()
        .map(drop)
}

/// The number of threads that the client libraries may start at once, for example to look up host names. Without them,
/// the libraries panic or wait for ever.
const THREADS: usize = 6;

fn enough_threads() -> std::io::Result<()> {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let closed = gate.lock();
        let waits = || drop(gate.lock());
        let started =
            (0..THREADS).try_for_each(|_| std::thread::Builder::new().spawn_scoped(scope, waits).map(drop));
        drop(closed);
        started
    })
}

fn code_of(done: Result<bool, demo::Failure>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => broken(&error),
    }
}

fn broken(error: &demo::Failure) -> ExitCode {
    let mut last = error.to_string();
    output::complain(&last);
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if text != last {
            output::complain_because(&text);
        }
        last = text;
        source = cause.source();
    }
    ExitCode::from(BROKEN)
}
