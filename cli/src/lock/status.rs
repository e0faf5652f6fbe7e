//! The status of a lock: whether it is held.

use clap::Args;
use fencepost::Found;
use serde_json::json;

use super::{
    Which,
    contenders::{age, as_json, spoken},
};
use crate::{failure::Failure, output::print};

const EXIT_CODES: &str = "\
Exit codes:
  0  held
  1  free
  2  wrong usage
  3  refused by the server
  4  unavailable: no server has answered";

/// The arguments of `status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Status {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print nothing; only return the exit code
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
}

impl Status {
    /// Prints whether the lock is held, and its holders. Returns whether it is held.
    pub(crate) async fn run(self, before: Option<String>) -> Result<bool, Failure> {
        let opened = self.which.open(before)?;
        let on_redis = opened.on_redis;
        let found = opened.contenders().await?;
        let (holders, waiters): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|one| one.holds);
        if !self.quiet {
            let text = if self.json {
                self.as_json(&holders, (!on_redis).then_some(waiters.len()))
            } else {
                self.in_words(&holders, waiters.len())
            };
            print(&text).map_err(Failure::of_output)?;
        }
        Ok(!holders.is_empty())
    }

    /// `waiting` is unknown on Redis, which stores no waiters.
    fn as_json(&self, holders: &[Found], waiting: Option<usize>) -> String {
        let status = json!({
            "name": self.which.name,
            "held": !holders.is_empty(),
            "holders": holders.iter().map(as_json).collect::<Vec<_>>(),
            "waiting": waiting,
        });
        format!("{status:#}")
    }

    fn in_words(&self, holders: &[Found], waiting: usize) -> String {
        let name = &self.which.name;
        let mut lines: Vec<String> = holders
            .iter()
            .map(|one| format!("{name:?} is held: {}", holder(one)))
            .collect();
        if lines.is_empty() {
            lines.push(format!("{name:?} is free"));
        }
        if waiting > 0 {
            lines.push(format!("{waiting} waiting"));
        }
        lines.join("\n")
    }
}

fn holder(one: &Found) -> String {
    let mut parts = Vec::new();
    if one.fence > 0 {
        parts.push(format!("fence {}", one.fence));
    }
    if one.since.is_some() {
        parts.push(format!("for {}", spoken(age(one))));
        parts.push(format!("by {:?}", one.identifier));
    } else {
        parts.push(match one.expires_in {
            Some(left) => format!("the lease ends in {} unless it is renewed", spoken(left)),
            None => "without an end".into(),
        });
        parts.push(format!("token {:?}", one.node));
    }
    parts.join(", ")
}
