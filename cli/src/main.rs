//! The fencepost command.

mod demo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Distributed locks on ZooKeeper and Redis.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A flash sale: it oversells without a lock, and sells exactly the stock with one.
    Demo(demo::Options),
    /// Some of the buyers of a flash sale, in a process of their own: what `demo --processes` starts.
    #[command(hide = true)]
    DemoBuyers(demo::BuyersOptions),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Demo(options) => demo::run(options).await,
        Command::DemoBuyers(options) => demo::run_buyers(options).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fencepost: {error}");
            ExitCode::from(2)
        }
    }
}
