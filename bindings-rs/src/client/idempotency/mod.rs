//! Idempotent operations.

mod claim;
mod once;
mod options;
mod steps;

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{
    AcquireTimeout, ConfigError, Settings,
    options::{Kind, Scope},
    positive,
};

use super::{
    Client,
    contender::{Contender, Opened},
    shared::Shared,
};
use crate::{Error, Record, Shown, engine::ContenderParams, hub::settings::micros};

pub use claim::{Claim, Completion};
pub use once::{OnError, OnceError, Operation, Outcome};
pub use options::IdempotencyOptions;
pub use steps::Update;

/// The idempotent operations of one scope. It is cheap to clone and to share.
///
/// An operation has a key: an order's number, or the key that a client sends with its request. The first claim of a key
/// gets the right to run the operation. Claims wait while it runs. Every later claim gets the stored result.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = fencepost::connect("redis://127.0.0.1:6379").await?;
/// let payments = client.idempotency("payments")?;
///
/// let receipt: String = payments
///     .once("order-17", b"17 EUR", async |claim| {
///         // The payment provider has its own keys: this one is the same for every attempt.
///         charge(17, claim.derive("charge")).await
///     })
///     .await?;
/// # let _ = receipt; Ok(()) }
/// # async fn charge(_euros: u32, _key: String) -> Result<String, std::io::Error> { Ok("r-1".into()) }
/// ```
///
/// This is not exactly-once: a process may end between the effect and the completion. The scope's
/// [policy](IdempotencyOptions::on_lease_end) decides what a later claim then gets. On ZooKeeper, a claim lasts as long
/// as its session. If Redis evicts keys, or fails over without its last writes, claims and results are lost.
#[derive(Clone)]
pub struct Idempotency {
    shared: Arc<Shared>,
    name: Arc<str>,
    scope: Arc<Scope>,
}

/// The result of a claim.
#[derive(Debug)]
#[must_use]
pub enum Claimed {
    /// Run the operation, and [complete](Claim::complete) the claim.
    Run(Claim),
    /// The operation has a result.
    Replayed(Record),
}

impl Client {
    /// The idempotent operations of a scope, with default options. The scope is a namespace for the keys: use the name
    /// of the operation, and the tenant if there are several. Sends nothing.
    ///
    /// # Errors
    /// [`Error::Config`] for an empty or overlong scope.
    pub fn idempotency(&self, scope: &str) -> Result<Idempotency, Error> {
        self.idempotency_with(scope, IdempotencyOptions::default())
    }

    /// The idempotent operations of a scope. Sends nothing.
    ///
    /// # Errors
    /// The errors of [`idempotency`](Self::idempotency); [`Error::Config`] for options that are not valid.
    pub fn idempotency_with(&self, scope: &str, options: IdempotencyOptions) -> Result<Idempotency, Error> {
        self.0.engine.check_process()?;
        self.0.engine.check_open()?;
        let raw = options.add_to(self.0.place.settings(Kind::Claim).with("scope", scope));
        Ok(Idempotency {
            shared: Arc::clone(&self.0),
            name: scope.into(),
            scope: Arc::new(Scope::try_from(raw)?),
        })
    }
}

impl Idempotency {
    /// The scope.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.name
    }

    /// Claims the operation `key`. Waits while another attempt runs it. `fingerprint` is a digest of the operation's
    /// input: the server refuses a claim of the same key with another fingerprint.
    ///
    /// Dropping the future cancels the claim: the operation has not run.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::Mismatch`](crate::Refusal::Mismatch) for another fingerprint, with
    /// [`Refusal::Indeterminate`](crate::Refusal::Indeterminate) if the operation may have run, or with
    /// [`Refusal::CorruptRecord`](crate::Refusal::CorruptRecord); [`Error::Config`] for a key that is empty or too long.
    pub async fn claim(&self, key: &str, fingerprint: &[u8]) -> Result<Claimed, Error> {
        let settings = self.scope.claim(key, fingerprint);
        self.claim_with(key, settings, AcquireTimeout::Forever).await
    }

    /// Claims the operation, and waits at most `limit` for another attempt.
    ///
    /// # Errors
    /// The errors of [`claim`](Self::claim); [`Refusal::InProgress`](crate::Refusal::InProgress) if another attempt
    /// still runs it: see [`retry_after`](crate::Refused::retry_after).
    pub async fn claim_within(
        &self,
        key: &str,
        fingerprint: &[u8],
        limit: Duration,
    ) -> Result<Claimed, Error> {
        let limit = longest(limit, ", or use try_claim, which does not wait for others")?;
        let settings = self.scope.claim(key, fingerprint);
        self.claim_with(key, settings, limit).await
    }

    /// Claims the operation if no other attempt runs it.
    ///
    /// # Errors
    /// The errors of [`claim_within`](Self::claim_within).
    pub async fn try_claim(&self, key: &str, fingerprint: &[u8]) -> Result<Claimed, Error> {
        let settings = self.scope.claim(key, fingerprint);
        self.claim_with(key, settings, AcquireTimeout::Try).await
    }

    /// Claims the operation of a token that was [issued](Self::issue) with this `binding`. Waits while another attempt
    /// runs it.
    ///
    /// # Errors
    /// The errors of [`claim`](Self::claim); [`Refusal::UnknownToken`](crate::Refusal::UnknownToken) for a token that
    /// was never issued or has expired, and [`Refusal::Mismatch`](crate::Refusal::Mismatch) for another binding.
    pub async fn consume(&self, token: &str, binding: &[u8], fingerprint: &[u8]) -> Result<Claimed, Error> {
        let settings = self.scope.consume(token, binding, fingerprint);
        self.claim_with(token, settings, AcquireTimeout::Forever).await
    }

    /// Claims with a token, and waits at most `limit` for another attempt.
    ///
    /// # Errors
    /// The errors of [`consume`](Self::consume) and [`claim_within`](Self::claim_within).
    pub async fn consume_within(
        &self,
        token: &str,
        binding: &[u8],
        fingerprint: &[u8],
        limit: Duration,
    ) -> Result<Claimed, Error> {
        let limit = longest(limit, ", or use try_consume, which does not wait for others")?;
        let settings = self.scope.consume(token, binding, fingerprint);
        self.claim_with(token, settings, limit).await
    }

    /// Claims with a token, if no other attempt runs its operation.
    ///
    /// # Errors
    /// The errors of [`consume_within`](Self::consume_within).
    pub async fn try_consume(
        &self,
        token: &str,
        binding: &[u8],
        fingerprint: &[u8],
    ) -> Result<Claimed, Error> {
        let settings = self.scope.consume(token, binding, fingerprint);
        self.claim_with(token, settings, AcquireTimeout::Try).await
    }

    /// Claims the operation of an HTTP request. With a binding, `key` is the key of a token.
    #[cfg(feature = "tower")]
    pub(crate) async fn claim_request(
        &self,
        key: &str,
        binding: Option<&[u8]>,
        fingerprint: &[u8],
        acquire_timeout: AcquireTimeout,
    ) -> Result<Claimed, Error> {
        let settings = match binding {
            Some(binding) => self.scope.consume(key, binding, fingerprint),
            None => self.scope.claim(key, fingerprint),
        };
        self.claim_with(key, settings, acquire_timeout).await
    }

    async fn claim_with(
        &self,
        key: &str,
        settings: Result<Settings, ConfigError>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<Claimed, Error> {
        let (shown, settings) = (Shown::operation(&self.name, key), settings?);
        self.shared.engine.check_process()?;
        let acquire_timeout = self.shared.when_connected(&shown, acquire_timeout).await?;
        let params = ContenderParams {
            lock: &shown,
            settings: &settings,
            has_owner: false,
            is_claim: true,
        };
        Ok(
            match Contender::claim(&self.shared, params, acquire_timeout).await? {
                Opened::Granted(contender) => Claimed::Run(Claim::new(contender, self.clone(), key)),
                Opened::Replayed(record) => Claimed::Replayed(*record),
            },
        )
    }
}

/// The maximum time that a claim waits for another attempt. The hint names the call that does not wait.
fn longest(limit: Duration, hint: &'static str) -> Result<AcquireTimeout, ConfigError> {
    positive("timeout", micros(limit), hint).map(AcquireTimeout::For)
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("scope", &self.name)
            .finish_non_exhaustive()
    }
}
