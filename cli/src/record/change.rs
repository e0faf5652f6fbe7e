//! Sets the result of an operation, and deletes a record.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use fencepost::{Completion, Content, Error, MAX_RESULT, Record, RecordState, Refusal};
use serde::de::IgnoredAny;
use serde_json::json;

use super::Which;
use crate::failure::Failure;
use crate::output::print;

/// The tag of results that all clients read by default.
const JSON: &str = "json";

/// The record that the operator has seen.
#[derive(Args, Clone, Debug)]
struct Seen {
    #[command(flatten)]
    which: Which,
    /// The guard of the record, which `fencepost record look` prints: the command changes only the record that you have seen
    #[arg(long, value_name = "N", value_parser = guard)]
    guard: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn guard(text: &str) -> Result<u64, &'static str> {
    text.parse()
        .map_err(|_| "give the number that `fencepost record look` prints")
}

/// The arguments of `record settle`: the result of an operation.
#[derive(Args, Clone, Debug)]
pub(super) struct Settle {
    #[command(flatten)]
    seen: Seen,
    #[command(flatten)]
    given: Given,
    /// The type of the result: `json`, which clients expect; `error`, the text of an error; or the program's own tag
    #[arg(long, value_name = "TAG", default_value = JSON)]
    tag: String,
}

#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
struct Given {
    /// The result
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    result: Option<String>,
    /// The file with the result; - means standard input
    #[arg(long, value_name = "FILE")]
    result_file: Option<PathBuf>,
}

/// The arguments of `record forget`: the record to delete.
#[derive(Args, Clone, Debug)]
pub(super) struct Forget {
    #[command(flatten)]
    seen: Seen,
}

impl Settle {
    pub(super) async fn run(self, url: &str) -> Result<(), Failure> {
        let content = self.content()?;
        let Seen { which, .. } = &self.seen;
        let (client, operations) = which.open(url)?;
        let seen = operations
            .look(&which.key)
            .await?
            .ok_or_else(|| which.missing())?;
        let outcome = match seen.state {
            RecordState::Value => {
                return Err(Failure::refused(format!(
                    "{which} is a value with a version, and has no result: a program changes it by `update`"
                )));
            }
            RecordState::Done => self.had_before(&seen, &content)?,
            RecordState::Issued | RecordState::Running => {
                self.seen.check(&seen)?;
                // The server compares the guard again.
                let settled = operations
                    .settle(&which.key, &seen, content.tag(), content.bytes())
                    .await;
                match settled.map_err(|error| self.seen.explained(error))? {
                    Completion::Stored => "settled",
                    Completion::Replayed(record) => self.had_before(&record, &content)?,
                }
            }
        };
        // The result is stored, even if the close fails.
        let _closed = client.close().await;
        self.seen.report(outcome)
    }

    /// Handles an operation that already has a result. If the reply to an earlier command was lost, a repeated command
    /// finds its own result.
    fn had_before(&self, record: &Record, content: &Content) -> Result<&'static str, Failure> {
        if (record.tag.as_str(), record.result.as_slice()) == (content.tag(), content.bytes()) {
            return Ok("settled before");
        }
        Err(Failure::refused(format!(
            "{} has another result, which is never replaced: `fencepost record look` prints it",
            self.seen.which
        )))
    }

    /// The checked result.
    fn content(&self) -> Result<Content, Failure> {
        let bytes = self.given.bytes()?;
        if self.tag == JSON
            && let Err(error) = serde_json::from_slice::<IgnoredAny>(&bytes)
        {
            return Err(Failure::usage(format!(
                "the result is not JSON ({error}), and clients could not read it: write a text as '\"paid\"', or give the --tag that the operation's results have"
            )));
        }
        Content::new(&self.tag, bytes).map_err(|error| Error::from(error).into())
    }
}

impl Given {
    /// The bytes of the result. From a file, it reads only a little more than the maximum size of a result.
    fn bytes(&self) -> Result<Vec<u8>, Failure> {
        let Some(file) = &self.result_file else {
            return Ok(self.result.clone().unwrap_or_default().into());
        };
        let read = |from: &mut dyn Read| {
            let mut bytes = Vec::new();
            from.take(MAX_RESULT as u64 + 1)
                .read_to_end(&mut bytes)
                .map(|_| bytes)
        };
        let (name, bytes) = if file == Path::new("-") {
            ("standard input".into(), read(&mut io::stdin()))
        } else {
            (
                file.display().to_string(),
                File::open(file).and_then(|mut file| read(&mut file)),
            )
        };
        bytes.map_err(|error| Failure::usage(format!("cannot read the result from {name}: {error}")))
    }
}

impl Forget {
    pub(super) async fn run(self, url: &str) -> Result<(), Failure> {
        let Seen { which, .. } = &self.seen;
        let (client, operations) = which.open(url)?;
        let seen = operations
            .look(&which.key)
            .await?
            .ok_or_else(|| which.missing())?;
        self.seen.check(&seen)?;
        let forgotten = operations.forget(&which.key, &seen).await;
        forgotten.map_err(|error| self.seen.explained(error))?;
        let _closed = client.close().await;
        self.seen.report("forgotten")
    }
}

impl Seen {
    /// Fails if the record is not the record that the operator has seen.
    fn check(&self, record: &Record) -> Result<(), Failure> {
        match record.guard() {
            guard if guard == self.guard => Ok(()),
            guard => Err(Failure::refused(format!(
                "record-changed: {}: the guard is {guard}, and not {}: the record has changed since you looked at it. Look at it again with `fencepost record look`, and decide anew",
                self.which, self.guard
            ))),
        }
    }

    /// Explains a failure of the change itself.
    fn explained(&self, error: Error) -> Failure {
        match &error {
            Error::Refused(refused) if refused.reason() == Refusal::RecordChanged => {
                Failure::refused(format!(
                    "{}: {error} with `fencepost record look`, and decide anew",
                    error.name()
                ))
            }
            _ => Failure::of_change(error),
        }
    }

    fn report(&self, outcome: &str) -> Result<(), Failure> {
        let Which { scope, key } = &self.which;
        let text = if self.json {
            format!(
                "{:#}",
                json!({ "scope": scope, "key": key, "outcome": outcome.replace(' ', "-") })
            )
        } else {
            format!("{outcome}: {}", self.which)
        };
        print(&text).map_err(Failure::of_output)
    }
}
