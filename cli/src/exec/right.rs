//! The right to run the command: a grant, and with `--once` a claim, too.

use std::{future::pending, time::Duration};

use fencepost::{
    Claim, Claimed, Client, Completion, Error, Grant, Idempotency, IdempotencyOptions, Lock, LockOptions,
    Lost, Record, Refusal, clock,
};
use fencepost_core::{Instant, claim::Name};
use sha2::{Digest as _, Sha256};

use super::{
    code::Failure,
    options::{Kind, OnLost, Once, Plan, Wait},
};

/// How often, and in which intervals, fencepost extends a lease of which too little is left. On ZooKeeper, an extension
/// only requests a confirmation of the session, which may prove no more than the last one. fencepost holds the lock
/// during these attempts, so it gives up after a few seconds.
const MOST_EXTENSIONS: u32 = 15;
const BETWEEN_EXTENSIONS: Duration = Duration::from_millis(200);

/// A grant, and with `--once` a claim.
pub(super) struct Right {
    grant: Grant,
    claim: Option<Claim>,
    deadline: Instant,
}

/// The result of an acquire.
pub(super) enum Acquired {
    Run(Right),
    /// The operation has a result.
    Replayed(Grant, Record),
}

/// The lock and the scope to acquire.
pub(super) struct Sought {
    lock: Lock,
    operations: Option<(Idempotency, String)>,
}

impl Sought {
    /// Checks names and options. Sends nothing.
    pub(super) fn of(plan: &Plan, client: &Client) -> Result<Self, Error> {
        let operations = match &plan.once {
            None => None,
            Some(once) => {
                Name::new(&plan.name, &once.key)?;
                Some((operations(plan, client, once)?, once.key.clone()))
            }
        };
        Ok(Self {
            lock: lock(plan, client)?,
            operations,
        })
    }
}

fn lock(plan: &Plan, client: &Client) -> Result<Lock, Error> {
    let mut options = LockOptions::new();
    if plan.on_redis {
        options = options.ttl(plan.ttl);
    } else {
        let host = nix::sys::utsname::uname().map(|name| name.nodename().to_string_lossy().into_owned());
        let text = format!("{}, process {}", host.unwrap_or_default(), std::process::id());
        options = options.identifier(text);
    }
    match plan.kind {
        Kind::Mutex => client.lock_with(&plan.name, options),
        Kind::Reader => Ok(client.read_write_lock_with(&plan.name, options)?.reader().clone()),
        Kind::Semaphore { permits } => client.semaphore_with(&plan.name, permits, options),
    }
}

/// Waits for the right. It is cancel safe: if the caller drops it, the client leaves the queue.
pub(super) async fn acquire(plan: &Plan, sought: &Sought) -> Result<Acquired, Failure> {
    let Sought { lock, operations } = sought;
    let start = clock::now();
    let granted = match plan.wait {
        Wait::Forever => lock.acquire().await.map(Some),
        Wait::For(limit) => lock.acquire_within(limit).await,
        Wait::Not => lock.try_acquire().await,
    };
    let Some(grant) = granted? else {
        return Err(Failure::conflict(match plan.wait {
            Wait::For(limit) => format!(
                "lock {:?}: another contender still holds it after {limit:?}",
                plan.name
            ),
            _ => format!("lock {:?}: another contender holds it", plan.name),
        }));
    };
    let claim = match operations {
        None => None,
        Some((operations, key)) => {
            let waited = clock::now().since(start);
            let claimed = claim(plan, operations, key, waited).await;
            match claimed.map_err(|error| unlike(error, key))? {
                Claimed::Run(claim) => Some(claim),
                Claimed::Replayed(record) => return Ok(Acquired::Replayed(grant, record)),
            }
        }
    };
    let mut right = Right {
        grant,
        claim,
        deadline: clock::now(),
    };
    right.look();
    Ok(Acquired::Run(right))
}

fn operations(plan: &Plan, client: &Client, once: &Once) -> Result<Idempotency, Error> {
    let mut options = IdempotencyOptions::new();
    if plan.on_redis {
        options = options.lease(plan.ttl);
    }
    if let Some(retain) = once.retain {
        options = options.retention(retain);
    }
    client.idempotency_with(&plan.name, options)
}

async fn claim(plan: &Plan, of: &Idempotency, key: &str, waited: Duration) -> Result<Claimed, Error> {
    let what = fingerprint(plan);
    match plan.wait {
        Wait::Forever => of.claim(key, &what).await,
        Wait::For(limit) if limit > waited => of.claim_within(key, &what, limit - waited).await,
        Wait::For(_) | Wait::Not => of.try_claim(key, &what).await,
    }
}

/// The failure of a claim, with the terms of this command.
fn unlike(error: Error, key: &str) -> Failure {
    match &error {
        Error::Refused(refused) if refused.reason() == Refusal::Mismatch => Failure::record(format!(
            "mismatch: the key {key:?} was used with another command or other arguments: give a new key, or the same command"
        )),
        _ => Failure::from(error),
    }
}

/// A digest of the command and its arguments: a key is for one command only.
fn fingerprint(plan: &Plan) -> Vec<u8> {
    let mut digest = Sha256::new();
    for word in &plan.command {
        // No argument contains a zero byte.
        digest.update(word.as_encoded_bytes());
        digest.update([0]);
    }
    digest.finalize().to_vec()
}

impl Right {
    pub(super) fn fence(&self) -> Option<u64> {
        self.grant.fence()
    }

    pub(super) fn takeovers(&self) -> Option<u64> {
        self.claim.as_ref().map(Claim::takeovers)
    }

    pub(super) fn remaining(&self) -> Duration {
        let claim = self.claim.as_ref().map_or(Duration::MAX, Claim::remaining);
        self.grant.remaining().min(claim)
    }

    /// Updates the deadline of the right. While the connection to ZooKeeper is lost, the last known deadline stays.
    pub(super) fn look(&mut self) {
        let now = clock::now();
        let remaining = self.remaining();
        if !remaining.is_zero() {
            self.deadline = now.plus(remaining);
        }
    }

    /// When the right ends without an extension, as of the last update.
    pub(super) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The latest time for SIGKILL, with a reserve until all processes have ended.
    pub(super) fn kill_by(&self, plan: &Plan) -> Instant {
        self.deadline.minus(plan.reserve())
    }

    /// Extends the lease until enough of it is left to start the command and to end it. Fails if the server grants only
    /// shorter leases.
    pub(super) async fn freshen(&mut self, plan: &Plan) -> Result<(), Failure> {
        let mut extensions = 0;
        while plan.on_lost != OnLost::Warn && self.remaining() < plan.notice() + plan.reserve() {
            if extensions == MOST_EXTENSIONS {
                return Err(Failure::usage(format!(
                    "the server's lease is too short to end the command in it; {:?} was asked for: ask for a shorter --grace, or let the server grant such a lease (maxSessionTimeout)",
                    plan.ttl
                )));
            }
            if extensions > 0 {
                tokio::time::sleep(BETWEEN_EXTENSIONS).await;
            }
            self.grant.extend().await?;
            if let Some(claim) = &self.claim {
                claim.extend().await?;
            }
            extensions += 1;
        }
        self.look();
        Ok(())
    }

    /// Completes when the right has ended without a release. It is cancel safe.
    pub(super) async fn lost(&self) -> Lost {
        let claim = async {
            match &self.claim {
                Some(claim) => claim.lost().await,
                None => pending().await,
            }
        };
        tokio::select! {
            lost = self.grant.lost() => lost,
            lost = claim => lost,
        }
    }

    /// Stores that the command has succeeded.
    pub(super) async fn complete(&mut self) -> Result<(), Failure> {
        let Some(claim) = self.claim.take() else {
            return Ok(());
        };
        let stored = claim.complete("json", r#"{"status":0}"#).await;
        let unless =
            "the command has succeeded, but its result is not stored, so that a later run may repeat it";
        match stored.map_err(|error| Failure::from(error).because(unless))? {
            Completion::Stored => Ok(()),
            Completion::Replayed(_) => Err(Failure::lost(
                "another run of this operation has stored its result before",
            )),
        }
    }

    /// Releases the claim, because the command has reported a failure: a later run repeats it.
    pub(super) async fn give_back(&mut self) -> Result<(), Error> {
        match self.claim.take() {
            Some(claim) => claim.release().await,
            None => Ok(()),
        }
    }

    /// Leaves the claim, because the effect of the command is unknown.
    pub(super) async fn leave(&mut self) -> Result<(), Error> {
        match self.claim.take() {
            Some(claim) => claim.leave().await,
            None => Ok(()),
        }
    }

    pub(super) async fn release(self) -> Result<(), Error> {
        self.grant.release().await
    }
}
