//! Operations: scopes, claims and records, by their names in the commands.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fencepost::{
    Claim, Claimed, Client, Completion, Error, Idempotency, IdempotencyOptions, OnError, OnLeaseEnd,
    OnceError, Record, Update,
};
use serde_json::{Value, json};

use crate::{
    command::{Command, unquoted},
    peer::{Failed, found},
    work,
};

#[derive(Clone)]
struct Scope {
    operations: Idempotency,
    /// The tag of the scope's results.
    tag: String,
}

#[derive(Default)]
struct State {
    scopes: BTreeMap<String, Scope>,
    /// The claims, with the tag of their results.
    claims: BTreeMap<String, (Arc<Claim>, String)>,
    records: BTreeMap<String, Record>,
}

/// The state that all commands share.
#[derive(Default)]
pub(crate) struct Operations(Mutex<State>);

impl Operations {
    /// The claim with this name.
    pub(crate) fn claim(&self, name: &str) -> Option<Arc<Claim>> {
        self.state().claims.get(name).map(|(claim, _)| Arc::clone(claim))
    }

    /// Forgets everything.
    pub(crate) fn reset(&self) {
        let forgotten = std::mem::take(&mut *self.state());
        drop(forgotten);
    }

    /// Makes a scope.
    pub(crate) fn open(&self, command: &Command, client: &Client) -> Result<Value, Failed> {
        let mut options = IdempotencyOptions::new();
        let mut tag = String::from("bytes");
        for (option, value) in command.options() {
            let millis = || value.parse().map(Duration::from_millis);
            options = match option.as_str() {
                "lease" => options.lease(millis()?),
                "retention" => options.retention(millis()?),
                "margin" => options.margin(millis()?),
                "poll" => options.poll(millis()?),
                "answer_within" => options.answer_within(millis()?),
                "renew" => options.renew(value == "true"),
                "on_lease_end" => options.on_lease_end(OnLeaseEnd::named(value).ok_or("no such policy")?),
                "tag" => {
                    tag.clone_from(value);
                    options
                }
                _ => return Err(format!("no such option: {option}").into()),
            };
        }
        let operations = client.idempotency_with(&unquoted(command.word(2)?), options)?;
        let name = command.word(0)?.into();
        self.state().scopes.insert(name, Scope { operations, tag });
        Ok(json!({"answer": "ok"}))
    }

    /// Claims an operation, with a token if the command has a binding.
    pub(crate) async fn begin(&self, command: &Command) -> Result<Value, Failed> {
        let scope = self.scope(command.word(1)?)?;
        let (of, key, print) = (&scope.operations, command.text(2)?, command.option("fingerprint"));
        let (print, waits) = (print.as_bytes(), command.option("wait") != "false");
        let limit = command.millis("timeout")?;
        let claimed = if command.verb == "consume" {
            let binding = command.text(3)?;
            let binding = binding.as_bytes();
            match limit {
                Some(limit) => of.consume_within(&key, binding, print, limit).await?,
                None if waits => of.consume(&key, binding, print).await?,
                None => of.try_consume(&key, binding, print).await?,
            }
        } else {
            match limit {
                Some(limit) => of.claim_within(&key, print, limit).await?,
                None if waits => of.claim(&key, print).await?,
                None => of.try_claim(&key, print).await?,
            }
        };
        Ok(match claimed {
            Claimed::Replayed(record) => replayed(&record),
            Claimed::Run(claim) => {
                let answer = json!({
                    "answer": "claimed",
                    "fence": claim.fence().map(|fence| fence.to_string()),
                    "takeovers": claim.takeovers(),
                });
                let name = command.word(0)?.into();
                self.state().claims.insert(name, (Arc::new(claim), scope.tag));
                answer
            }
        })
    }

    /// Runs any other command.
    pub(crate) async fn run(&self, command: &Command) -> Result<Value, Failed> {
        let name = command.word(0)?;
        match command.verb.as_str() {
            "complete" => {
                let (claim, tag) = found(&self.state().claims, name)?;
                return Ok(completed(claim.complete(&tag, octets(command.word(1)?)?).await?));
            }
            "leave" => self.claim(name).ok_or("no such claim")?.leave().await?,
            "effect" => {
                let claim = self.claim(name).ok_or("no such claim")?;
                work::effect(&command.text(2)?, &claim)?;
            }
            "work" => {
                let scope = self.scope(name)?;
                return work::work(command, &scope.operations, &scope.tag).await;
            }
            "derive" => {
                let claim = self.claim(name).ok_or("no such claim")?;
                return Ok(json!({"answer": "ok", "derived": claim.derive(&command.text(1)?)}));
            }
            "drop" => {
                let dropped = self.state().claims.remove(name);
                drop(dropped.ok_or("no such claim")?);
            }
            _ => return self.step(command, &self.scope(name)?).await,
        }
        Ok(json!({"answer": "ok"}))
    }

    /// Runs a single step.
    async fn step(&self, command: &Command, scope: &Scope) -> Result<Value, Failed> {
        let (key, operations) = (command.text(1)?, &scope.operations);
        match command.verb.as_str() {
            "issue" => {
                let life = command.millis("life")?.unwrap_or(Duration::from_secs(600));
                operations.issue(&key, command.text(2)?.as_bytes(), life).await?;
            }
            "register" => {
                let (print, result) = (command.option("fingerprint"), octets(command.word(2)?)?);
                let (print, tag) = (print.as_bytes(), &scope.tag);
                return Ok(completed(match command.option("binding") {
                    "" => operations.register(&key, print, tag, result).await?,
                    binding => {
                        let binding = binding.as_bytes();
                        operations
                            .register_token(&key, binding, print, tag, result)
                            .await?
                    }
                }));
            }
            "update" => {
                let (id, value) = (command.text(2)?, octets(command.word(4)?)?);
                let (version, print) = (command.word(3)?.parse()?, command.option("fingerprint"));
                let update = operations.update(&key, &id, version, print.as_bytes(), &scope.tag, value);
                return Ok(match update.await? {
                    Update::Applied(version) => json!({"answer": "ok", "version": version}),
                    Update::Replayed(version) => json!({"answer": "replayed", "version": version}),
                });
            }
            "record" => {
                let Some(record) = operations.look(&key).await? else {
                    return Ok(json!({"answer": "none"}));
                };
                let answer = recorded("ok", &record);
                self.state().records.insert(key, record);
                return Ok(answer);
            }
            "settle" => {
                let seen = found(&self.state().records, &key)?;
                let settled = operations.settle(&key, &seen, &scope.tag, octets(command.word(2)?)?);
                return Ok(completed(settled.await?));
            }
            "forget" => {
                let seen = found(&self.state().records, &key)?;
                operations.forget(&key, &seen).await?;
            }
            "once" => return once(command, operations, &key).await,
            _ => return Err("no such command".into()),
        }
        Ok(json!({"answer": "ok"}))
    }

    fn scope(&self, name: &str) -> Result<Scope, Failed> {
        found(&self.state().scopes, name)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An operation has failed.
#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declined")
    }
}

/// Runs an operation once. The function returns, or its error determines how the claim ends.
async fn once(command: &Command, operations: &Idempotency, key: &str) -> Result<Value, Failed> {
    let ending = command.word(2)?;
    let mut runs = 0;
    let outcome = operations
        .operation(key, b"")
        .on_error(|_: &Declined| match ending {
            "releases" => OnError::Release,
            "stores" => OnError::Store,
            _ => OnError::Leave,
        })
        .outcome(async |_claim| {
            runs += 1;
            if ending == "returns" {
                return Ok(String::from("receipt"));
            }
            Err(Declined)
        })
        .await;
    Ok(match outcome {
        Ok(outcome) => {
            json!({"answer": "ok", "value": outcome.value, "replayed": outcome.replayed, "runs": runs})
        }
        Err(OnceError::Operation(_)) => json!({"answer": "failed", "runs": runs}),
        Err(OnceError::Stored(error)) => json!({"answer": error.name(), "detail": error.text()}),
        Err(OnceError::Fencepost(error)) => return Err(error.into()),
        Err(error) => return Err(error.to_string().into()),
    })
}

/// The state of a claim.
pub(crate) fn look(claim: &Claim) -> Value {
    let remaining = claim.remaining();
    json!({
        "answer": "ok",
        "fence": claim.fence().map(|fence| fence.to_string()),
        "valid": claim.is_valid(),
        "remaining": (remaining != Duration::MAX).then(|| u64::try_from(remaining.as_millis()).ok()),
        "lost": futures_util::FutureExt::now_or_never(claim.lost()).is_some(),
        "takeovers": claim.takeovers(),
    })
}

/// The answer to a command that has failed.
pub(crate) fn failure(error: &Error) -> Value {
    let mut answer = json!({"answer": error.name(), "detail": error.to_string()});
    if let Error::Refused(refused) = error {
        if let Some(record) = refused.record() {
            answer = recorded(error.name(), record);
        }
        let left = refused.retry_after().map(|left| left.as_millis());
        answer["retry_after"] = left.and_then(|left| u64::try_from(left).ok()).into();
    }
    answer
}

fn completed(completion: Completion) -> Value {
    match completion {
        Completion::Stored => json!({"answer": "ok"}),
        Completion::Replayed(record) => replayed(&record),
    }
}

fn replayed(record: &Record) -> Value {
    json!({"answer": "replayed", "result": hexadecimal(&record.result), "tag": record.tag})
}

/// The fields of a record.
fn recorded(answer: &str, record: &Record) -> Value {
    json!({
        "answer": answer,
        "state": record.state.name(),
        "takeovers": record.takeovers,
        "policy": record.policy.name(),
        "version": record.version,
        "tag": record.tag,
        "result": hexadecimal(&record.result),
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok(), "a text takes all that is written");
    }
    text
}

/// The bytes of a word: `00ff`, or `00ff*1000`.
fn octets(word: &str) -> Result<Vec<u8>, Failed> {
    let (digits, times) = word.split_once('*').unwrap_or((word, "1"));
    let mut once = Vec::new();
    for pair in digits.as_bytes().chunks(2) {
        once.push(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    }
    Ok(once.repeat(times.parse()?))
}
