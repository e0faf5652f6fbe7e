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

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

use failure::Failure;

/// Distributed locks and idempotent operations on ZooKeeper and Redis.
#[derive(Parser)]
#[command(name = "fencepost", version)]
struct Arguments {
    /// Where the server is
    #[arg(long = "url", value_name = "URL")]
    address: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A flash sale, first without a lock and then with one
    Demo(demo::Options),
    /// Whether a lock is held, and by whom
    Status(lock::Status),
    /// Who holds a lock, and on ZooKeeper who waits for it
    Contenders(lock::List),
    /// Take its place from one who holds a lock or waits for it
    Break(lock::One),
    /// Ask one who holds a lock on ZooKeeper to give it back: it may, or keep it
    Revoke(lock::One),
    /// Look at the record of an idempotent operation, give it a result, or delete it
    Record(record::Arguments),
    /// Issue, check and consume tokens: each lets one operation run, once
    Token(token::Arguments),
    /// Run a command under a lock
    #[cfg(unix)]
    Exec(exec::Options),
    /// Print a script that completes the command's options in a shell
    Completions(manual::Completions),
    /// Write the manual pages to a directory
    Man(manual::Pages),
    /// Ends a command whose `exec` was killed or stopped: started by `exec` itself
    #[cfg(unix)]
    #[command(hide = true)]
    Guard,
    /// The buyers of one process of a demo: started by the demo itself
    #[command(hide = true)]
    Buyers(demo::Options),
}

/// Something has gone wrong that has nothing to do with what a command shows.
const BROKEN: u8 = 2;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse().map_err(record::explained) {
        Ok(arguments) => arguments,
        #[cfg(unix)]
        Err(error) if error.use_stderr() && is_exec() => return exec::refuse(&error),
        Err(error) => error.exit(),
    };
    let takes_none = match arguments.command {
        Command::Demo(_) | Command::Buyers(_) | Command::Completions(_) | Command::Man(_) => true,
        #[cfg(unix)]
        Command::Guard => true,
        _ => false,
    };
    if arguments.address.is_some() && takes_none {
        let why = "--url before the name of a command is not for this command: `demo` takes it behind its name, and the others talk to no server";
        Arguments::command()
            .error(ErrorKind::ArgumentConflict, why)
            .exit();
    }
    match &arguments.command {
        Command::Completions(completions) => return code_of(completions.print(&mut Arguments::command())),
        Command::Man(pages) => return code_of(pages.write(Arguments::command())),
        #[cfg(unix)]
        Command::Guard => {
            exec::guard::run();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return broken(&error.into()),
    };
    let code = runtime.block_on(async {
        code_of(match arguments.command {
            Command::Demo(options) => demo::run(options).await,
            Command::Status(status) => return Failure::code(status.run(arguments.address).await),
            Command::Contenders(list) => return Failure::end(list.run(arguments.address).await),
            Command::Break(one) => return Failure::end(one.break_it(arguments.address).await),
            Command::Revoke(one) => return Failure::end(one.revoke(arguments.address).await),
            Command::Buyers(options) => demo::run_buyers(options).await,
            Command::Record(record) => return record::run(record, arguments.address).await,
            Command::Token(token) => return token::run(token, arguments.address).await,
            #[cfg(unix)]
            Command::Exec(options) => return exec::run(options, arguments.address).await,
            #[cfg(unix)]
            Command::Guard => Ok(true),
            Command::Completions(_) | Command::Man(_) => Ok(true),
        })
    });
    // Nobody waits for a thread that reads a standard input which does not end.
    runtime.shutdown_background();
    code
}

/// Whether the arguments name `exec`, though something is wrong with them.
#[cfg(unix)]
fn is_exec() -> bool {
    let mut words = std::env::args_os().skip(1);
    let is_url = |word: &std::ffi::OsStr| word.as_encoded_bytes().starts_with(b"--url=");
    match words.next() {
        Some(word) if word == "--url" => words.nth(1),
        Some(word) if is_url(&word) => words.next(),
        word => word,
    }
    .is_some_and(|word| word == "exec")
}

fn code_of(done: Result<bool, demo::Failure>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => broken(&error),
    }
}

fn broken(error: &demo::Failure) -> ExitCode {
    output::complain(&error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        output::complain_because(&cause.to_string());
        source = cause.source();
    }
    ExitCode::from(BROKEN)
}
