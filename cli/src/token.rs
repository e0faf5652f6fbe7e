//! Tokens: a program issues a token, and one consumer may consume it, once, within its life.

use std::{process::ExitCode, time::Duration};

use clap::{Args, Subcommand};
use fencepost::{Completion, Error, Record, RecordState, Refusal};
use serde_json::json;

use crate::{address::address, failure::Failure, output::print, scope::open, time::time};

const EXIT_CODES: &str = "\
Exit codes:
  0  done; `check`: the token can be consumed
  1  the token is unknown, its life has ended, or it was consumed before
  2  wrong usage, or a failure on this computer
  3  refused: the token exists, or is bound to something else, or the server refuses
  4  unavailable: no server has answered";

/// Tokens, and their consumers.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// The address of the tokens' server: redis://HOST:PORT or zk://HOST:PORT/PREFIX; by default the value of
    /// FENCEPOST_URL
    #[arg(long, value_name = "URL", global = true)]
    url: Option<String>,
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand, Clone, Debug)]
enum Step {
    /// Make a token, and print it
    #[command(after_help = EXIT_CODES)]
    Issue(Issue),
    /// Print whether a token can be consumed, without consuming it
    #[command(after_help = EXIT_CODES)]
    Check(Which),
    /// Consume a token. Only one consumer succeeds
    #[command(after_help = EXIT_CODES)]
    Consume(Consume),
}

/// The arguments of `token issue`.
#[derive(Args, Clone, Debug)]
struct Issue {
    /// The scope, as in client.idempotency(SCOPE)
    scope: String,
    /// The token. By default a random one of 128 bits
    token: Option<String>,
    /// A text that the consumer must repeat, such as a session and a purpose
    #[arg(long, value_name = "TEXT", default_value = "")]
    binding: String,
    /// How long the token can be consumed: 30s, 5m, 24h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    life: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `token check`.
#[derive(Args, Clone, Debug)]
struct Which {
    /// The scope, as in client.idempotency(SCOPE)
    scope: String,
    /// The token
    token: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `token consume`.
#[derive(Args, Clone, Debug)]
struct Consume {
    #[command(flatten)]
    which: Which,
    /// The binding with which the token was issued
    #[arg(long, value_name = "TEXT", default_value = "")]
    binding: String,
}

/// Runs one of the commands. `before` is the address before the command's name.
pub(crate) async fn run(arguments: Arguments, before: Option<String>) -> ExitCode {
    let done = async {
        let (url, _) = address(before, arguments.url).map_err(Failure::usage)?;
        match arguments.step {
            Step::Issue(issue) => issue.run(&url).await,
            Step::Check(which) => which.check(&url).await,
            Step::Consume(consume) => consume.run(&url).await,
        }
    };
    Failure::end(done.await)
}

impl Issue {
    async fn run(self, url: &str) -> Result<(), Failure> {
        let token = match self.token {
            Some(token) => token,
            None => random()?,
        };
        let (client, tokens) = open(url, &self.scope)?;
        let issued = tokens.issue(&token, self.binding.as_bytes(), self.life).await;
        let _closed = client.close().await;
        issued.map_err(|error| match reason(&error) {
            Some(Refusal::Mismatch) => {
                let of = named(&self.scope, &token);
                Failure::refused(format!("{of} exists already: issue another one"))
            }
            _ => Failure::from(error),
        })?;
        let text = if self.json {
            format!("{:#}", json!({ "scope": self.scope, "token": token }))
        } else {
            token
        };
        print(&text).map_err(Failure::of_output)
    }
}

/// The state of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Issued,
    Consumed,
    Unknown,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Consumed => "consumed",
            Self::Unknown => "unknown",
        }
    }
}

impl Which {
    async fn check(self, url: &str) -> Result<(), Failure> {
        let (client, tokens) = open(url, &self.scope)?;
        let record = tokens.look(&self.token).await;
        let _closed = client.close().await;
        let state = match &record? {
            None => State::Unknown,
            Some(Record { token: None, .. }) => {
                let of = named(&self.scope, &self.token);
                return Err(Failure::refused(format!(
                    "{of} was not issued: it is the key of an operation"
                )));
            }
            Some(record) if record.state == RecordState::Issued => State::Issued,
            Some(_) => State::Consumed,
        };
        self.report(state)?;
        self.demand_issued(state)
    }

    fn report(&self, state: State) -> Result<(), Failure> {
        let state = state.name();
        let text = if self.json {
            format!(
                "{:#}",
                json!({ "scope": self.scope, "token": self.token, "state": state })
            )
        } else {
            state.into()
        };
        print(&text).map_err(Failure::of_output)
    }

    /// Fails for a token that cannot be consumed.
    fn demand_issued(&self, state: State) -> Result<(), Failure> {
        let of = named(&self.scope, &self.token);
        Err(Failure::missing(match state {
            State::Issued => return Ok(()),
            State::Consumed => format!("{of} was consumed before"),
            State::Unknown => {
                format!("{of} is unknown: it was never issued, or its life or retention has ended")
            }
        }))
    }
}

impl Consume {
    async fn run(self, url: &str) -> Result<(), Failure> {
        let which = &self.which;
        let (client, tokens) = open(url, &which.scope)?;
        let binding = self.binding.as_bytes();
        let consumed = tokens.register_token(&which.token, binding, b"", "", "").await;
        let _closed = client.close().await;
        let before = match consumed {
            Ok(Completion::Stored) => State::Issued,
            Ok(Completion::Replayed(_)) => State::Consumed,
            Err(error) => match reason(&error) {
                Some(Refusal::UnknownToken) => State::Unknown,
                // Another consumer has claimed the token, and has not completed.
                Some(Refusal::InProgress | Refusal::Indeterminate) => State::Consumed,
                Some(Refusal::Mismatch) => {
                    let of = named(&which.scope, &which.token);
                    return Err(Failure::refused(format!(
                        "{of} was issued for something else, or consumed with another fingerprint: give the --binding with which it was issued"
                    )));
                }
                _ => return Err(Failure::from(error)),
            },
        };
        which.demand_issued(before)?;
        which.report(State::Consumed)
    }
}

fn named(scope: &str, token: &str) -> String {
    format!("token {:?}", format!("{scope}/{token}"))
}

fn reason(error: &Error) -> Option<Refusal> {
    match error {
        Error::Refused(refused) => Some(refused.reason()),
        _ => None,
    }
}

/// 128 random bits in hexadecimal, which cannot be guessed.
fn random() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::usage(format!("the operating system gives no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
