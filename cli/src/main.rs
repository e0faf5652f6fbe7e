//! The fencepost command.

mod contenders;
mod demo;
mod output;
mod record;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

/// Distributed locks and idempotent operations on ZooKeeper and Redis.
#[derive(Parser)]
#[command(name = "fencepost", version)]
struct Arguments {
    /// Where the records are, for the command `record`
    #[arg(long = "url", value_name = "URL")]
    address: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A flash sale, first without a lock and then with one
    Demo(demo::Options),
    /// Who holds a lock on ZooKeeper, and who waits for it
    Contenders(contenders::List),
    /// Take its place from one who holds a lock on ZooKeeper or waits for it
    Break(contenders::One),
    /// Ask one who holds a lock on ZooKeeper to give it back: it may, or keep it
    Revoke(contenders::One),
    /// Look at the record of an idempotent operation, give it a result, or delete it
    Record(record::Arguments),
    /// The buyers of one process of a demo: started by the demo itself
    #[command(hide = true)]
    Buyers(demo::Options),
}

/// Something has gone wrong that has nothing to do with what a command shows.
const BROKEN: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| record::explained(error).exit());
    if arguments.address.is_some() && !matches!(arguments.command, Command::Record(_)) {
        let why = "--url before the name of a command is for `record`: `demo` takes it behind its name, and the other commands take the address as their first argument";
        Arguments::command()
            .error(ErrorKind::ArgumentConflict, why)
            .exit();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return broken(&error.into()),
    };
    let code = runtime.block_on(async {
        code_of(match arguments.command {
            Command::Demo(options) => demo::run(options).await,
            Command::Contenders(list) => contenders::list(list).await,
            Command::Break(one) => contenders::break_one(one).await,
            Command::Revoke(one) => contenders::revoke_one(one).await,
            Command::Buyers(options) => demo::run_buyers(options).await,
            Command::Record(record) => return record::run(record, arguments.address).await,
        })
    });
    // Nobody waits for a thread that reads a standard input which does not end.
    runtime.shutdown_background();
    code
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
