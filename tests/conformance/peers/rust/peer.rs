//! The clients, locks and grants, by their names in the commands.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fencepost::{Client, Error, Found, Grant, Lock, testing::MemoryServer};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    command::{Command, unquoted},
    operations::{self, Operations},
};

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Default)]
struct State {
    clients: BTreeMap<String, Client>,
    locks: BTreeMap<String, Lock>,
    grants: BTreeMap<String, Arc<Grant>>,
    found: BTreeMap<String, Vec<Found>>,
    /// The senders that cancel waiting acquires.
    waiting: BTreeMap<String, oneshot::Sender<()>>,
}

/// The state that all commands share.
#[derive(Default)]
pub(crate) struct Peer {
    state: Mutex<State>,
    operations: Operations,
}

impl Peer {
    /// Registers a command that can be cancelled. The caller does this before it reads the next command, so
    /// that a following `cancel` finds this one even if its task has not run yet. Returns the receiver of the
    /// cancellation.
    pub(crate) fn register(&self, command: &Command) -> oneshot::Receiver<()> {
        let (end, ended) = oneshot::channel();
        if let ("acquire" | "try" | "claim" | "consume", Ok(name)) = (command.verb.as_str(), command.word(0))
        {
            self.state().waiting.insert(name.into(), end);
        }
        ended
    }

    /// Runs a command, and returns its answer. `ended` comes from [`Peer::register`].
    pub(crate) async fn answer(&self, command: &Command, ended: oneshot::Receiver<()>) -> Value {
        match self.run(command, ended).await {
            Ok(answer) => answer,
            Err(failed) => match failed.downcast_ref::<Error>() {
                Some(error) => operations::failure(error),
                None => json!({"answer": format!("exception {failed}")}),
            },
        }
    }

    /// Closes all clients, and forgets everything.
    pub(crate) async fn reset(&self) -> Result<(), Failed> {
        let state = std::mem::take(&mut *self.state());
        self.operations.reset();
        for client in state.clients.values() {
            client.close().await?;
        }
        Ok(())
    }

    async fn run(&self, command: &Command, ended: oneshot::Receiver<()>) -> Result<Value, Failed> {
        let name = || command.word(0);
        match command.verb.as_str() {
            "client" => {
                let client = fencepost::connect(&unquoted(command.word(1)?)).await?;
                self.state().clients.insert(name()?.into(), client);
            }
            "lock" => {
                let client = found(&self.state().clients, command.word(1)?)?;
                let lock = command.lock(&client)?;
                self.state().locks.insert(name()?.into(), lock);
            }
            "acquire" | "try" => return self.acquire(command, ended).await,
            "scope" => {
                let client = found(&self.state().clients, command.word(1)?)?;
                return self.operations.open(command, &client);
            }
            "claim" | "consume" => return self.claim(command, ended).await,
            "cancel" => {
                let waiting = self.state().waiting.remove(name()?);
                let cancelled = waiting.is_some_and(|end| end.send(()).is_ok());
                return Ok(json!({"answer": if cancelled { "ok" } else { "not-waiting" }}));
            }
            "release" if self.operations.claim(name()?).is_some() => {
                let claim = self.operations.claim(name()?).ok_or("no such claim")?;
                claim.release().await?;
            }
            "release" => {
                let grant = self.state().grants.remove(name()?).ok_or("no such grant")?;
                Arc::into_inner(grant)
                    .ok_or("the grant is in use")?
                    .release()
                    .await?;
            }
            "extend" => match self.operations.claim(name()?) {
                Some(claim) => claim.extend().await?,
                None => self.grant(name()?)?.extend().await?,
            },
            "downgrade" => self.grant(name()?)?.downgrade().await?,
            "look" => {
                return Ok(match self.operations.claim(name()?) {
                    Some(claim) => operations::look(&claim),
                    None => look(&*self.grant(name()?)?),
                });
            }
            "loss" => {
                let lost = match self.operations.claim(name()?) {
                    Some(claim) => claim.lost().await,
                    None => self.grant(name()?)?.lost().await,
                };
                return Ok(json!({"answer": lost.reason().name()}));
            }
            "revocation" => {
                let grant = self.grant(name()?)?;
                tokio::select! {
                    () = grant.revoke_requested() => {}
                    _lost = grant.lost() => return Ok(json!({"answer": "over"})),
                }
            }
            "contenders" => {
                let lock = self.lock(name()?)?;
                let contenders = lock.contenders().await?;
                let answer = json!({"answer": "ok", "contenders": described(&contenders)});
                self.state().found.insert(name()?.into(), contenders);
                return Ok(answer);
            }
            "revoke" => self.lock(name()?)?.revoke(&self.contender(command)?).await?,
            "break" => {
                let contender = self.contender(command)?;
                self.lock(name()?)?.break_contender(&contender).await?;
            }
            "control" => {
                let client = found(&self.state().clients, command.word(1)?)?;
                let server = MemoryServer::open(&unquoted(command.word(2)?))?;
                let session = server.session(&client)?;
                match name()? {
                    "expire" => session.expire()?,
                    "suspend" => session.suspend()?,
                    "reconnect" => session.reconnect()?,
                    "pause" => session.pause()?,
                    "resume" => session.resume()?,
                    other => return Err(format!("there is no control {other}").into()),
                }
            }
            "close" => {
                let client = found(&self.state().clients, name()?)?;
                client.close().await?;
            }
            "reset" => self.reset().await?,
            _ => return self.operations.run(command).await,
        }
        Ok(json!({"answer": "ok"}))
    }

    /// Claims an operation.
    async fn claim(&self, command: &Command, ended: oneshot::Receiver<()>) -> Result<Value, Failed> {
        let claimed = tokio::select! {
            claimed = self.operations.begin(command) => claimed,
            Ok(()) = ended => return Ok(json!({"answer": "cancelled"})),
        };
        self.state().waiting.remove(command.word(0)?);
        claimed
    }

    /// Acquires a lock, and stores the grant under that name.
    async fn acquire(&self, command: &Command, ended: oneshot::Receiver<()>) -> Result<Value, Failed> {
        let (name, lock) = (command.word(0)?, self.lock(command.word(1)?)?);
        let acquired = async {
            if command.verb == "try" {
                return lock.try_acquire().await.map_err(Failed::from);
            }
            Ok(match command.millis("timeout")? {
                Some(limit) => lock.acquire_within(limit).await?,
                None => Some(lock.acquire().await?),
            })
        };
        let acquired = tokio::select! {
            acquired = acquired => acquired,
            Ok(()) = ended => return Ok(json!({"answer": "cancelled"})),
        };
        self.state().waiting.remove(name);
        let Some(grant) = acquired? else {
            return Ok(json!({"answer": "not-acquired"}));
        };
        let answer = json!({"answer": "granted", "fence": fence(&grant)});
        self.state().grants.insert(name.into(), Arc::new(grant));
        Ok(answer)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self, name: &str) -> Result<Lock, Failed> {
        found(&self.state().locks, name)
    }

    fn grant(&self, name: &str) -> Result<Arc<Grant>, Failed> {
        found(&self.state().grants, name)
    }

    /// One of the contenders of the last list.
    fn contender(&self, command: &Command) -> Result<Found, Failed> {
        let contenders = found(&self.state().found, command.word(0)?)?;
        let at: usize = command.word(1)?.parse()?;
        Ok(contenders.get(at).ok_or("there are fewer contenders")?.clone())
    }
}

pub(crate) fn found<T: Clone>(all: &BTreeMap<String, T>, name: &str) -> Result<T, Failed> {
    let found = all.get(name);
    Ok(found
        .ok_or_else(|| format!("nothing has the name {name}"))?
        .clone())
}

fn fence(grant: &Grant) -> Option<String> {
    grant.fence().map(|fence| fence.to_string())
}

/// The state of a grant.
fn look(grant: &Grant) -> Value {
    let remaining = grant.remaining();
    let lost = futures_util::FutureExt::now_or_never(grant.lost()).is_some();
    json!({
        "answer": "ok",
        "fence": fence(grant),
        "valid": grant.is_valid(),
        // `MAX` means that the grant has no lease.
        "remaining": (remaining != Duration::MAX).then(|| u64::try_from(remaining.as_millis()).ok()),
        "revoke": grant.is_revoke_requested(),
        "lost": lost,
    })
}

fn described(contenders: &[Found]) -> Vec<Value> {
    let described = |each: &Found| {
        json!({
            "holds": each.holds,
            "shared": each.shared,
            "identifier": each.identifier,
            "fence": each.fence.to_string(),
        })
    };
    contenders.iter().map(described).collect()
}
