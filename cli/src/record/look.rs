//! Prints a record.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use clap::Args;
use fencepost::{Record, RecordState};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Which, content::Shown};
use crate::{
    failure::Failure,
    output::{on_one_line, print, print_bytes},
};

/// The arguments of `record look`.
#[derive(Args, Clone, Debug)]
pub(super) struct Look {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the bytes of the result to this file; - means standard output, without any other output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Look {
    pub(super) async fn run(self, url: &str) -> Result<(), Failure> {
        let to_stdout = self.output.as_deref() == Some(Path::new("-"));
        if to_stdout && self.json {
            return Err(Failure::usage(
                "--output - and --json both write to standard output: give one of them",
            ));
        }
        let (client, operations) = self.which.open(url)?;
        let looked = operations.look(&self.which.key).await;
        // The record is valid, even if the close fails.
        let _closed = client.close().await;
        let Some(record) = looked? else {
            if self.json {
                print("null").map_err(Failure::of_output)?;
            }
            return Err(self.which.missing());
        };
        if let Some(file) = &self.output {
            let result = result_of(&record)
                .ok_or_else(|| Failure::missing(format!("{} has no result yet", self.which)))?;
            if to_stdout {
                return print_bytes(result).map_err(Failure::of_output);
            }
            fs::write(file, result)
                .map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))?;
        }
        let lease = Lease::of(&record);
        let now = now();
        let text = if self.json {
            format!("{:#}", self.as_json(&record, lease, now))
        } else {
            self.as_text(&record, lease, now)
        };
        print(&text).map_err(Failure::of_output)
    }

    fn as_text(&self, record: &Record, lease: Lease, now: u64) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: &str| {
            // A write to a String never fails.
            let _written = writeln!(text, "{name:<12} {value}");
        };
        row("scope", &on_one_line(&self.which.scope));
        row("key", &on_one_line(&self.which.key));
        row("state", record.state.name());
        row("attempt", &record.attempt.text());
        row("guard", &record.guard().to_string());
        if record.state == RecordState::Value {
            row("version", &record.version.to_string());
        } else {
            row("fence", &record.fence.0.to_string());
            row("takeovers", &record.takeovers.to_string());
            row("policy", record.policy.name());
        }
        match lease {
            Lease::None => {}
            Lease::Ended => row("lease", "ended"),
            Lease::OfSession => row("lease", "lasts as long as the session of its process"),
            Lease::Until(end) => row("lease", &moment(end, now)),
        }
        if record.retention > 0 {
            row("retention", &length(record.retention));
        }
        if record.kept_until > 0 {
            row("kept", &moment(record.kept_until, now));
        }
        if !record.fingerprint.is_empty() {
            row("fingerprint", &hex(&record.fingerprint));
        }
        if let Some(token) = &record.token {
            row("binding", &hex(&token.binding));
            row("life", &length(token.life));
        }
        match result_of(record) {
            None => row("result", "none"),
            Some(result) => {
                row("tag", &on_one_line(&record.tag));
                text += &self.result_as_text(result);
            }
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    fn result_as_text(&self, result: &[u8]) -> String {
        let size = match result.len() {
            1 => "1 byte".into(),
            size => format!("{size} bytes"),
        };
        let about = format!("{:<12} {size}", "result");
        if let Some(file) = &self.output {
            return format!("{about}, written to {}", file.display());
        }
        match Shown::on_terminal(result) {
            Shown::Text(result) => format!("{about} of text:\n{result}"),
            Shown::Bytes(base64) => format!(
                "{about} that are not plain text, in base64 (--output FILE writes the bytes):\n{base64}"
            ),
        }
    }

    /// The names of the members never change. Numbers that identify are texts, because many readers round numbers of
    /// 64 bits.
    fn as_json(&self, record: &Record, lease: Lease, now: u64) -> Value {
        let result = result_of(record);
        let (encoding, shown) = match result.map(Shown::of) {
            None => (None, None),
            Some(Shown::Text(text)) => (Some("utf-8"), Some(text.to_owned())),
            Some(Shown::Bytes(base64)) => (Some("base64"), Some(base64)),
        };
        let token = record.token.as_ref();
        let (lease_end, lease_left) = match lease {
            Lease::None => (some(record.lease_end), None),
            Lease::Ended => (None, Some(0)),
            // A positive number, for readers that compare it with 0.
            Lease::OfSession => (None, Some(1)),
            Lease::Until(end) => (Some(end), Some(end.saturating_sub(now))),
        };
        json!({
            "scope": self.which.scope,
            "key": self.which.key,
            "state": record.state.name(),
            "attempt": record.attempt.text(),
            "fence": record.fence.0.to_string(),
            "guard": record.guard().to_string(),
            "takeovers": record.takeovers,
            "policy": record.policy.name(),
            "lease_end_ms": lease_end,
            "lease_left_ms": lease_left,
            "retention_ms": some(record.retention),
            "kept_until_ms": some(record.kept_until),
            "fingerprint": hex(&record.fingerprint),
            "binding": token.map(|token| hex(&token.binding)),
            "life_ms": token.map(|token| token.life),
            "version": some(record.version),
            "tag": result.map(|_| &record.tag),
            "result": shown,
            "result_encoding": encoding,
            "result_bytes": result.map(<[u8]>::len),
        })
    }
}

/// The lease of the attempt.
#[derive(Clone, Copy, Debug)]
enum Lease {
    /// No attempt is running.
    None,
    Ended,
    /// The lease lasts as long as the session of the attempt's client: the server does not report its end.
    OfSession,
    /// The lease ends at this time by the server's clock.
    Until(u64),
}

impl Lease {
    const fn of(record: &Record) -> Self {
        match (record.state, record.lease_end) {
            (RecordState::Running, 0) => Self::Ended,
            (RecordState::Running, Record::LEASE_OF_SESSION) => Self::OfSession,
            (RecordState::Running, end) => Self::Until(end),
            _ => Self::None,
        }
    }
}

/// The result or the value, if there is one.
fn result_of(record: &Record) -> Option<&[u8]> {
    match record.state {
        RecordState::Done | RecordState::Value => Some(&record.result),
        RecordState::Issued | RecordState::Running => None,
    }
}

/// A number; `None` for 0.
fn some(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// This computer's time in milliseconds, in place of the server's.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// A time by the server's clock, and its distance from now by this computer's clock.
fn moment(at: u64, now: u64) -> String {
    let when = i64::try_from(at)
        .ok()
        .and_then(|at| Timestamp::from_millisecond(at).ok());
    let when = when.map_or_else(|| format!("{at} ms after 1970"), |when| when.to_string());
    match at.checked_sub(now) {
        Some(left) if left > 0 => format!("until {when}, {} left", length(left)),
        _ => format!("ended {when}, {} ago", length(now.saturating_sub(at))),
    }
}

/// A length of time. From one minute on, without fractions of a second.
fn length(millis: u64) -> String {
    let millis = if millis >= 60_000 {
        millis - millis % 1000
    } else {
        millis
    };
    let length = SignedDuration::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
    format!("{length:#}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_distance() {
        assert_eq!(
            moment(1_795_000_029_500, 1_795_000_000_000),
            "until 2026-11-18T11:07:09.5Z, 29s 500ms left"
        );
        assert_eq!(
            moment(1_795_000_000_000, 1_795_000_725_800),
            "ended 2026-11-18T11:06:40Z, 12m 5s ago"
        );
        // The greatest number in a record is not a date.
        assert_eq!(
            moment((1 << 53) - 1, 1_795_000_000_000).split(',').next(),
            Some("until 9007199254740991 ms after 1970")
        );
        assert_eq!(length(86_400_000), "24h");
    }
}
