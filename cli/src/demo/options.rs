//! The options of the demo, and their checks.

use std::time::Duration;

use clap::{Args, value_parser};

use super::Failure;
use crate::time::time;

/// Options of the demo.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// The address of the lock's server: memory:, zk://HOST:PORT/PREFIX or redis://HOST:PORT
    #[arg(long, default_value = "memory:")]
    pub(crate) url: String,
    /// The number of buyers
    #[arg(long, value_name = "N", default_value_t = 99, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub(crate) buyers: u32,
    /// The number of buyers that buy at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(crate) at_once: u32,
    /// The number of items in stock
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
    pub(crate) items: u32,
    /// How long a buyer waits for the lock, such as 200ms or 2s
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = time)]
    pub(crate) wait: Duration,
    /// How long the shop works between reading its stock and writing it back
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = time)]
    pub(crate) work: Duration,
    /// The number of processes in which the buyers run (more than 1 only with a real server)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=256))]
    pub(crate) processes: u32,
    /// The lock's name
    #[arg(long, value_name = "NAME", default_value = "fencepost-demo/stock")]
    pub(crate) lock: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The address of the shop, for one of several processes
    #[arg(long, hide = true)]
    pub(crate) shop: Option<String>,
    /// Whether the buyers acquire the lock
    #[arg(long, hide = true)]
    pub(crate) locked: bool,
}

impl Options {
    /// Checks options that depend on each other.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.processes > 1 && self.url.starts_with("memory:") {
            return Err("--processes needs a server that they can share: give --url zk://HOST:PORT or redis://HOST:PORT".into());
        }
        if self.processes > self.buyers || self.processes > self.at_once {
            return Err(format!(
                "--processes {} is more than there are buyers ({}) or buyers at a time ({})",
                self.processes, self.buyers, self.at_once
            )
            .into());
        }
        Ok(())
    }

    /// The address without its secret parts.
    pub(crate) fn place(&self) -> String {
        match (self.url.split_once("//"), self.url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, place))) => format!("{scheme}//{place}"),
            _ => self.url.clone(),
        }
    }

    /// The part of `of` for this process.
    pub(crate) const fn share(&self, of: u32, process: u32) -> u32 {
        of / self.processes + if process < of % self.processes { 1 } else { 0 }
    }
}
