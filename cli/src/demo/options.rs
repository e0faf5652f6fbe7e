//! What can be asked of the demo.

use core::{net::SocketAddr, time::Duration};

use clap::Args;

use super::Failed;

/// A flash sale.
#[derive(Args, Clone)]
pub(crate) struct Options {
    /// Where the lock is: `memory:`, `zk://HOST:PORT`, `redis://HOST:PORT`
    #[arg(long, default_value = "memory:")]
    pub(crate) url: String,
    /// How many want to buy
    #[arg(long, default_value_t = 99, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) buyers: u32,
    /// How many are let in at once
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) at_once: u32,
    /// How many items there are
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) items: u32,
    /// How long a buyer waits for the lock, in milliseconds
    #[arg(long, default_value = "200", value_parser = milliseconds)]
    pub(crate) patience: Duration,
    /// How long the shop works between reading and writing the stock, in milliseconds
    #[arg(long, default_value = "2", value_parser = milliseconds)]
    pub(crate) work: Duration,
    /// In how many processes the buyers are (needs a real server)
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) processes: u32,
    /// Print the numbers as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Some of the buyers.
#[derive(Args, Clone)]
pub(crate) struct BuyersOptions {
    /// Where the lock is; nothing: there is none
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// The lock's name
    #[arg(long)]
    pub(crate) lock: String,
    /// Where the shop is
    #[arg(long)]
    pub(crate) shop: SocketAddr,
    /// How many want to buy
    #[arg(long)]
    pub(crate) buyers: u32,
    /// How many are let in at once
    #[arg(long)]
    pub(crate) at_once: u32,
    /// See the demo
    #[arg(long, value_parser = milliseconds)]
    pub(crate) patience: Duration,
    /// See the demo
    #[arg(long, value_parser = milliseconds)]
    pub(crate) work: Duration,
}

impl Options {
    /// Checks what clap cannot.
    pub(crate) fn check(&self) -> Result<(), Failed> {
        if self.processes > 1 && self.url.starts_with("memory:") {
            return Err(
                "memory: locks within one process only: give --url zk://… or redis://… with --processes"
                    .into(),
            );
        }
        if self.processes > self.at_once {
            let (processes, at_once) = (self.processes, self.at_once);
            return Err(
                format!("{processes} processes need at least as many --at-once, not {at_once}").into(),
            );
        }
        Ok(())
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let millis: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is no number of milliseconds"))?;
    if !(millis > 0.0 && millis <= 3_600_000.0) {
        return Err(format!(
            "{text} ms: give more than 0 and at most 3600000 (an hour)"
        ));
    }
    Ok(Duration::from_secs_f64(millis / 1e3))
}
