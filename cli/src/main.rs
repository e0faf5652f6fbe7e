//! The fencepost command.

mod contenders;
mod demo;
mod output;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Distributed locks on ZooKeeper and Redis.
#[derive(Parser)]
#[command(name = "fencepost", version)]
struct Arguments {
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
    /// The buyers of one process of a demo: started by the demo itself
    #[command(hide = true)]
    Buyers(demo::Options),
}

/// Something has gone wrong that has nothing to do with what a command shows.
const BROKEN: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return broken(&error.into()),
    };
    let done = runtime.block_on(async {
        match arguments.command {
            Command::Demo(options) => demo::run(options).await,
            Command::Contenders(list) => contenders::list(list).await,
            Command::Break(one) => contenders::break_one(one).await,
            Command::Revoke(one) => contenders::revoke_one(one).await,
            Command::Buyers(options) => demo::run_buyers(options).await,
        }
    });
    // Nobody waits for a thread that reads a standard input which does not end.
    runtime.shutdown_background();
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => broken(&error),
    }
}

fn broken(error: &demo::Failure) -> ExitCode {
    eprintln!("fencepost: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  because: {cause}");
        source = cause.source();
    }
    ExitCode::from(BROKEN)
}
