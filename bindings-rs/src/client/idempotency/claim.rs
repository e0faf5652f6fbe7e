//! The right to run an operation.

use core::{fmt, time::Duration};

use fencepost_core::Intent;

use super::Idempotency;
use crate::{
    Content, Error, Lost, Record, client::contender::Contender, clock, engine::contender_state::Answer,
};

/// The right to run an operation, until the program ends it or it is [lost](Self::lost).
///
/// Dropping a claim leaves it: the operation may have run, and the scope's
/// [policy](super::IdempotencyOptions::on_lease_end) decides what the next claim gets. The client renews a claim until
/// its end.
pub struct Claim {
    contender: Contender,
    of: Idempotency,
    key: String,
}

/// The result of a completion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Completion {
    /// The result is stored.
    Stored,
    /// Another attempt has already stored a result. The server does not store this attempt's result.
    Replayed(Record),
}

impl Claim {
    pub(super) fn new(contender: Contender, of: Idempotency, key: &str) -> Self {
        let key = key.into();
        Self { contender, of, key }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The fence: it is greater than that of every earlier claim of this operation. A resource that stores the highest
    /// fence can reject an attempt that was taken over.
    #[must_use]
    pub fn fence(&self) -> Option<u64> {
        let state = self.contender.state();
        state.grant.and_then(|grant| grant.fence).map(|fence| fence.0)
    }

    /// The number of earlier takeovers of the operation: it may have run that many times.
    #[must_use]
    pub fn takeovers(&self) -> u64 {
        self.contender.state().grant.map_or(0, |grant| grant.takeovers)
    }

    /// Whether the claim is valid by this process's clock: no other attempt can have taken the operation over.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.contender.state().is_valid(clock::now())
    }

    /// How long the claim stays valid without a renewal.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let state = self.contender.state();
        let now = clock::now();
        if !state.is_valid(now) {
            return Duration::ZERO;
        }
        let remaining = state.grant.and_then(|grant| grant.remaining(now));
        remaining.unwrap_or(Duration::MAX)
    }

    /// A key for one step of the operation at another service, such as a payment provider: the same text for all
    /// attempts, in all languages.
    ///
    /// # Panics
    /// Never: the claim's key has been checked.
    #[must_use]
    pub fn derive(&self, step: &str) -> String {
        let derived = self.of.scope.derive(&self.key, step);
        derived.expect("the key of a claim has been checked")
    }

    /// Completes when the claim is lost: its lease has ended, or another attempt has taken the operation over. The
    /// operation should stop. A claim whose lease has ended can still be completed, if no other attempt has claimed the
    /// operation.
    pub async fn lost(&self) -> Lost {
        self.contender.lost().await
    }

    /// Extends the lease to its full length from now.
    ///
    /// # Errors
    /// [`Error::Lost`] if the claim is lost.
    pub async fn extend(&self) -> Result<(), Error> {
        self.contender.extend().await
    }

    /// Stores the result: every later claim of this key gets it. The tag says what the result is, `json` for example.
    ///
    /// # Errors
    /// [`Error::Config`] for a result of more than 1,000,000 bytes: the client sends nothing; [`Error::Lost`] if
    /// another attempt has taken the operation over, or if the server did not reply for a whole lease;
    /// [`Error::Refused`] if the server refuses. After an error, the program may end the claim again.
    ///
    /// [`Misuse::NotHeld`](crate::Misuse::NotHeld) if this claim was already completed, released or left, or if another
    /// end of it is in progress. If a call is cancelled, its end continues: repeat the call with the same tag and
    /// result to get its outcome.
    pub async fn complete(&self, tag: &str, result: impl Into<Vec<u8>>) -> Result<Completion, Error> {
        let content = Content::new(tag, result.into())?;
        match self.contender.end_claim(Intent::Complete(content)).await? {
            Answer::Replayed(record) => Ok(Completion::Replayed(*record)),
            Answer::Completed | Answer::Released => Ok(Completion::Stored),
        }
    }

    /// Ends the claim: the operation had no effect, so another attempt may claim it.
    ///
    /// # Errors
    /// The errors of [`complete`](Self::complete).
    pub async fn release(&self) -> Result<(), Error> {
        self.contender.end_claim(Intent::Release).await.map(|_| ())
    }

    /// Ends the claim: the outcome is unknown, and the policy decides what the next claim gets.
    ///
    /// # Errors
    /// The errors of [`complete`](Self::complete).
    pub async fn leave(&self) -> Result<(), Error> {
        self.contender.end_claim(Intent::Leave).await.map(|_| ())
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("scope", &self.of.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
