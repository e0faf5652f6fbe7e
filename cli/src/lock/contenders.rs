//! The contenders of a lock, as a table or JSON; and the commands that break or revoke one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fencepost::{Error, Found, Refusal};
use serde_json::{Value, json};

use super::{Kind, Opened, Which};
use crate::{
    failure::Failure,
    output::{on_one_line, print},
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  `break`, `revoke`: there is no such contender
  2  wrong usage
  3  refused by the server
  4  unavailable: no server has answered";

/// The arguments of `contenders`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct List {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `break` and `revoke`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct One {
    #[command(flatten)]
    which: Which,
    /// The contender's fence, as shown by `fencepost contenders`
    #[arg(value_parser = fence)]
    fence: u64,
}

fn fence(text: &str) -> Result<u64, &'static str> {
    text.parse()
        .map_err(|_| "give the number that `fencepost contenders` shows")
}

impl List {
    /// Prints the holders and the waiters.
    pub(crate) async fn run(self, before: Option<String>) -> Result<(), Failure> {
        let opened = self.which.open(before)?;
        let on_redis = opened.on_redis;
        let found = opened.contenders().await?;
        let text = if self.json {
            format!("{:#}", Value::from_iter(found.iter().map(as_json)))
        } else if found.is_empty() {
            format!("no contender holds {:?} or waits for it", self.which.name)
        } else {
            table(&found, on_redis).to_string()
        };
        print(&text).map_err(Failure::of_output)
    }
}

impl One {
    /// Removes a contender.
    pub(crate) async fn break_it(self, before: Option<String>) -> Result<(), Failure> {
        let (opened, found) = self.find(self.which.open(before)?).await?;
        let done = opened.lock.break_contender(&found).await;
        self.end(opened, done, "broken", &found).await
    }

    /// Sends a contender a revocation request.
    pub(crate) async fn revoke(self, before: Option<String>) -> Result<(), Failure> {
        let opened = self.which.open(before)?;
        let lacks = match (opened.on_redis, self.which.of) {
            (true, _) => Some(("Redis", "")),
            (false, Kind::Single) => Some(("a lock of the kind single", " --of single")),
            _ => None,
        };
        if let Some((what, of)) = lacks {
            return Err(Failure::usage(format!(
                "{what} has no revocation requests: to remove the holder, run `fencepost break NAME FENCE{of}`"
            )));
        }
        let (opened, found) = self.find(opened).await?;
        let done = opened.lock.revoke(&found).await;
        self.end(opened, done, "asked", &found).await
    }

    async fn find(&self, opened: Opened) -> Result<(Opened, Found), Failure> {
        let found = opened.lock.contenders().await?;
        match found.into_iter().find(|found| found.fence == self.fence) {
            Some(found) => Ok((opened, found)),
            None => Err(self.gone()),
        }
    }

    /// Closes the client, and prints the effect on the contender, which stays even if the close fails.
    async fn end(
        &self,
        opened: Opened,
        done: Result<(), Error>,
        what: &str,
        found: &Found,
    ) -> Result<(), Failure> {
        let _closed = opened.client.close().await;
        match done {
            Err(Error::Refused(refused)) if refused.reason() == Refusal::NoContender => Err(self.gone()),
            Err(error) => Err(error.into()),
            Ok(()) => print(&format!("{what}: {}", on_one_line(&found.node))).map_err(Failure::of_output),
        }
    }

    fn gone(&self) -> Failure {
        Failure::missing(format!(
            "no contender for {:?} has the fence {}: see `fencepost contenders`",
            self.which.name, self.fence
        ))
    }
}

/// Makes the table. Redis stores no sessions and no ages, but leases.
fn table(found: &[Found], on_redis: bool) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(if on_redis {
        vec!["", "fence", "lease ends in", "token"]
    } else {
        vec!["", "fence", "for", "says", "session", "node"]
    });
    for one in found {
        let what = match (one.holds, one.shared) {
            (true, false) => "holds",
            (true, true) => "shares",
            (false, false) => "waits",
            (false, true) => "waits to share",
        };
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let mut row = vec![Cell::new(what), right(one.fence.to_string())];
        if on_redis {
            row.push(right(one.expires_in.map_or_else(|| "never".into(), spoken)));
        } else {
            row.push(right(spoken(age(one))));
            row.push(Cell::new(on_one_line(&one.identifier)));
            row.push(Cell::new(format!("{:#x}", one.session.unwrap_or_default())));
        }
        row.push(Cell::new(on_one_line(&one.node)));
        table.add_row(row);
    }
    table
}

/// How long the contender has held the lock or waited.
pub(super) fn age(one: &Found) -> Duration {
    let since = one
        .since
        .and_then(|since| SystemTime::now().duration_since(since).ok());
    since.unwrap_or_default()
}

/// A time with a useful precision: clocks differ.
pub(super) fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

pub(super) fn as_json(found: &Found) -> Value {
    let since = found
        .since
        .map(|since| millis(since.duration_since(UNIX_EPOCH).unwrap_or_default()));
    // Integers of 64 bits are strings in JSON, because many readers round them.
    json!({
        "node": found.node,
        "holds": found.holds,
        "shared": found.shared,
        "session": found.session.map(|session| format!("{session:#x}")),
        "since_ms": since,
        "expires_in_ms": found.expires_in.map(millis),
        "fence": found.fence.to_string(),
        "identifier": found.identifier,
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
