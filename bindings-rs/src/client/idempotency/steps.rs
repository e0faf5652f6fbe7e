//! Requests in one step: tokens, known results, versioned values, and requests of operators.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, ConfigError, Settings};

use super::{Completion, Idempotency};
use crate::{
    Content, Error, Record, Shown,
    client::contender::{Contender, Stepped},
    engine::ContenderParams,
};

/// The result of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Update {
    /// The value now has this version.
    Applied(u64),
    /// This update was applied before, and the value had this version then.
    Replayed(u64),
}

impl Idempotency {
    /// Makes a token that one claim may [consume](Self::consume) within `life`. The binding identifies the user and the
    /// purpose of the token: a session, for example.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::Mismatch`](crate::Refusal::Mismatch) if the token exists already.
    pub async fn issue(&self, token: &str, binding: &[u8], life: Duration) -> Result<(), Error> {
        let settings = self.scope.issue(token, binding, Some(life));
        self.step(token, settings).await.map(|_| ())
    }

    /// Makes a token with the default life.
    #[cfg(feature = "tower")]
    pub(crate) async fn issue_for_form(&self, token: &str, binding: &[u8]) -> Result<(), Error> {
        let settings = self.scope.issue(token, binding, None);
        self.step(token, settings).await.map(|_| ())
    }

    /// Claims and completes at once, in one request, for a result that the program already knows, such as one order for
    /// each user.
    ///
    /// # Errors
    /// The errors of [`try_claim`](Self::try_claim).
    pub async fn register(
        &self,
        key: &str,
        fingerprint: &[u8],
        tag: &str,
        result: impl Into<Vec<u8>>,
    ) -> Result<Completion, Error> {
        let content = Content::new(tag, result.into())?;
        let settings = self.scope.register(key, None, fingerprint, content);
        self.completion(key, settings).await
    }

    /// [Consumes](Self::consume) a token and completes at once.
    ///
    /// # Errors
    /// The errors of [`try_consume`](Self::try_consume).
    pub async fn register_token(
        &self,
        token: &str,
        binding: &[u8],
        fingerprint: &[u8],
        tag: &str,
        result: impl Into<Vec<u8>>,
    ) -> Result<Completion, Error> {
        let content = Content::new(tag, result.into())?;
        let settings = self.scope.register(token, Some(binding), fingerprint, content);
        self.completion(token, settings).await
    }

    /// Replaces the value at `key`, if it has the version `expected` (0: if there is none). `operation` identifies the
    /// update: a repeated update is not applied again. The tag says what the value is.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::Conflict`](crate::Refusal::Conflict) for another version: the present value
    /// is in [`record`](crate::Refused::record). With [`Refusal::Mismatch`](crate::Refusal::Mismatch) for a repeated
    /// update with another fingerprint, and for the key of an operation.
    pub async fn update(
        &self,
        key: &str,
        operation: &str,
        expected: u64,
        fingerprint: &[u8],
        tag: &str,
        value: impl Into<Vec<u8>>,
    ) -> Result<Update, Error> {
        let content = Content::new(tag, value.into())?;
        let settings = self.scope.update(key, operation, expected, fingerprint, content);
        Ok(match self.step(key, settings).await? {
            Stepped::Stored(record) => Update::Applied(record.version),
            Stepped::Replayed(record) => Update::Replayed(record.version),
            Stepped::Looked(_) => Update::Replayed(0),
        })
    }

    /// Returns the record of an operation, or a value; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Refused`] if the server refuses, or does not reply.
    pub async fn look(&self, key: &str) -> Result<Option<Record>, Error> {
        Ok(match self.step(key, self.scope.look(key)).await? {
            Stepped::Looked(record) => record.map(|record| *record),
            Stepped::Stored(_) | Stepped::Replayed(_) => None,
        })
    }

    /// For an operator: sets the result of an operation whose outcome is now known. `seen` is the record that the
    /// operator has [read](Self::look). If the operation has got a result in the meantime, this call returns that
    /// result and does not replace it.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::RecordChanged`](crate::Refusal::RecordChanged) if the record has changed.
    pub async fn settle(
        &self,
        key: &str,
        seen: &Record,
        tag: &str,
        result: impl Into<Vec<u8>>,
    ) -> Result<Completion, Error> {
        let content = Content::new(tag, result.into())?;
        let settings = self.scope.settle(key, seen.guard(), content);
        self.completion(key, settings).await
    }

    /// For an operator: deletes a record, so that the operation can be claimed again. `seen` is the record that the
    /// operator has [read](Self::look).
    ///
    /// # Errors
    /// The errors of [`settle`](Self::settle).
    pub async fn forget(&self, key: &str, seen: &Record) -> Result<(), Error> {
        let settings = self.scope.forget(key, seen.guard());
        self.step(key, settings).await.map(|_| ())
    }

    /// Deletes records of this scope that are no longer needed: records that were released or forgotten or are past
    /// their retention, and tokens past their life. Returns the number of deleted records. On ZooKeeper, only this call
    /// deletes them, so run it once a day, in one or more processes. On Redis, the server expires them itself, and this
    /// returns 0.
    ///
    /// # Errors
    /// [`Error::Refused`] if the server refuses, or stops replying.
    pub async fn sweep(&self) -> Result<u64, Error> {
        let (shown, settings) = (Shown::scope(&self.name), self.scope.sweep()?);
        let acquire_timeout = self.when_asking(&shown).await?;
        Contender::sweep(&self.shared, params(&shown, &settings), acquire_timeout).await
    }

    async fn completion(
        &self,
        key: &str,
        settings: Result<Settings, ConfigError>,
    ) -> Result<Completion, Error> {
        Ok(match self.step(key, settings).await? {
            Stepped::Replayed(record) => Completion::Replayed(*record),
            Stepped::Stored(_) | Stepped::Looked(_) => Completion::Stored,
        })
    }

    async fn step(&self, key: &str, settings: Result<Settings, ConfigError>) -> Result<Stepped, Error> {
        let (shown, settings) = (Shown::operation(&self.name, key), settings?);
        let acquire_timeout = self.when_asking(&shown).await?;
        Contender::step(&self.shared, params(&shown, &settings), acquire_timeout).await
    }

    async fn when_asking(&self, shown: &Shown) -> Result<AcquireTimeout, Error> {
        self.shared.engine.check_process()?;
        self.shared.when_connected(shown, AcquireTimeout::Try).await
    }
}

const fn params<'a>(lock: &'a Shown, settings: &'a Settings) -> ContenderParams<'a> {
    ContenderParams {
        lock,
        settings,
        has_owner: false,
        is_claim: false,
    }
}
