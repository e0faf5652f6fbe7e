//! Running an operation once, with its result as JSON.

use serde::{Serialize, de::DeserializeOwned};

use super::{Claim, Claimed, Completion, Idempotency};
use crate::{Error, Record};

/// The tag of a result that is JSON.
const JSON: &str = "json";

/// What an operation has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<T> {
    /// The result.
    pub value: T,
    /// Whether an earlier attempt has stored it.
    pub replayed: bool,
}

/// Why an operation has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnceError<E> {
    /// The operation was not claimed, or its result is not stored.
    #[error(transparent)]
    Fencepost(#[from] Error),
    /// The operation itself has failed. Its claim is left: the policy decides what the next claim gets.
    #[error("{0}")]
    Operation(E),
    /// The result is not JSON of the expected type: it cannot be stored, or it was stored by something else.
    #[error("the result of the operation cannot be written or read as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Idempotency {
    /// Runs an operation once: claims its key, runs it, and stores the value as JSON. Later calls with the same key get
    /// the stored value. A call while another attempt runs the operation waits for it.
    ///
    /// An error of the operation leaves the claim, because the operation may have had an effect. To say that nothing
    /// has happened, [claim](Self::claim) and [release](Claim::release).
    ///
    /// # Errors
    /// [`OnceError::Operation`] with the operation's own error; [`OnceError::Fencepost`] as [`claim`](Self::claim) and
    /// [`Claim::complete`]; [`OnceError::Json`].
    pub async fn once<T, E>(
        &self,
        key: &str,
        fingerprint: &[u8],
        run: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<T, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        Ok(self.outcome(key, fingerprint, run).await?.value)
    }

    /// The same, and says whether the value was stored by an earlier attempt.
    ///
    /// # Errors
    /// As [`once`](Self::once).
    pub async fn outcome<T, E>(
        &self,
        key: &str,
        fingerprint: &[u8],
        run: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<Outcome<T>, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let claim = match self.claim(key, fingerprint).await? {
            Claimed::Run(claim) => claim,
            Claimed::Replayed(record) => return replayed(&record),
        };
        let value = match run(&claim).await {
            Ok(value) => value,
            Err(error) => {
                // The operation's error matters more than that of the leave, which the end of the lease replaces.
                let _left = claim.leave().await;
                return Err(OnceError::Operation(error));
            }
        };
        let result = serde_json::to_vec(&value)?;
        match claim.complete(JSON, result).await? {
            Completion::Stored => Ok(Outcome {
                value,
                replayed: false,
            }),
            Completion::Replayed(record) => replayed(&record),
        }
    }
}

fn replayed<T: DeserializeOwned, E>(record: &Record) -> Result<Outcome<T>, OnceError<E>> {
    Ok(Outcome {
        value: serde_json::from_slice(&record.result)?,
        replayed: true,
    })
}
