//! Runs an operation once, with its result as JSON.

use core::fmt;

use serde::{Serialize, de::DeserializeOwned};

use super::{Claim, Claimed, Completion, Idempotency};
use crate::{Error, MAX_RESULT, Record, Refusal, Refused, Shown, StoredError};

/// The tag of a result that is JSON.
const JSON: &str = "json";
/// The tag of a stored error. Its result is the error's text, the same in every language.
const ERROR: &str = "error";

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<T> {
    /// The result.
    pub value: T,
    /// Whether an earlier attempt stored it.
    pub replayed: bool,
}

/// The reason why an operation has no result.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OnceError<E> {
    /// The client did not get the claim, or the server did not store the result.
    #[error(transparent)]
    Fencepost(#[from] Error),
    /// The operation itself has failed. Its claim has ended as [`on_error`](Operation::on_error) decided.
    #[error("{0}")]
    Operation(E),
    /// An earlier attempt has failed, and its error is the result: see [`OnError::Store`].
    #[error(transparent)]
    Stored(StoredError),
    /// The result is not JSON of the expected type: it cannot be stored, or another program stored it. A value that
    /// changes in JSON, such as [`f64::NAN`], is not stored, and its claim is left.
    #[error("the result of the operation cannot be written or read as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The same as the inner error.
impl<E: fmt::Debug> fmt::Debug for OnceError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fencepost(error) => write!(f, "{error:?}"),
            Self::Operation(error) => write!(f, "{error:?}"),
            Self::Stored(error) => write!(f, "{error:?}"),
            Self::Json(error) => write!(
                f,
                "the result of the operation cannot be written or read as JSON: {error}"
            ),
        }
    }
}

/// The meaning of an operation's error, which decides how its claim ends. Python and JavaScript have lists of errors
/// for it: `release_on` and `store_on`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The outcome is unknown. The claim is left, and the scope's [policy](super::IdempotencyOptions::on_lease_end)
    /// decides what the next claim gets.
    #[default]
    Leave,
    /// The operation had no effect. The claim is released, and another attempt may claim the operation at once.
    Release,
    /// The error is the result. The server stores its text, and every later call returns it as [`OnceError::Stored`].
    /// If the text has more than [`MAX_RESULT`] bytes, the server stores only its beginning.
    Store,
}

/// How the claim of a failed operation ends.
enum Ending {
    Leave,
    Release,
    Store(String),
}

/// One operation of a scope, and the meaning of its errors. [`Idempotency::operation`] makes it.
#[must_use = "nothing is sent before `once` or `outcome`"]
pub struct Operation<'a, E> {
    of: &'a Idempotency,
    key: &'a str,
    fingerprint: &'a [u8],
    ending: Box<dyn FnOnce(&E) -> Ending + Send + 'a>,
}

impl Idempotency {
    /// Runs an operation once: claims its key, runs it, and stores the value as JSON. Later calls with the same key get
    /// the stored value. A call while another attempt runs the operation waits for it.
    ///
    /// If the operation fails, its claim is left, because the operation may have had an effect. To treat errors in
    /// another way, use [`operation`](Self::operation).
    ///
    /// # Errors
    /// [`OnceError::Operation`] with the operation's own error; [`OnceError::Stored`] with that of an earlier attempt;
    /// [`OnceError::Fencepost`] as [`claim`](Self::claim) and [`Claim::complete`], and with
    /// [`Refusal::CorruptRecord`](crate::Refusal::CorruptRecord) for a result with another tag than `json`;
    /// [`OnceError::Json`].
    pub async fn once<T, E>(
        &self,
        key: &str,
        fingerprint: &[u8],
        run: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<T, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        self.operation(key, fingerprint).once(run).await
    }

    /// Does the same, and returns whether an earlier attempt stored the value.
    ///
    /// # Errors
    /// The errors of [`once`](Self::once).
    pub async fn outcome<T, E>(
        &self,
        key: &str,
        fingerprint: &[u8],
        run: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<Outcome<T>, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        self.operation(key, fingerprint).outcome(run).await
    }

    /// Makes an operation whose errors decide how its claim ends.
    ///
    /// ```no_run
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use fencepost::OnError;
    ///
    /// let payments = fencepost::connect("redis://127.0.0.1:6379").await?.idempotency("payments")?;
    /// let receipt: String = payments
    ///     .operation("order-17", b"17 EUR")
    ///     .on_error(|error: &ChargeError| match error {
    ///         ChargeError::NotConnected => OnError::Release,
    ///         ChargeError::Declined => OnError::Store,
    ///         ChargeError::NoAnswer => OnError::Leave,
    ///     })
    ///     .once(async |claim| charge(17, claim.derive("charge")).await)
    ///     .await?;
    /// # let _ = receipt; Ok(()) }
    /// # #[derive(Debug)] enum ChargeError { NotConnected, Declined, NoAnswer }
    /// # impl std::error::Error for ChargeError {}
    /// # impl std::fmt::Display for ChargeError {
    /// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{self:?}") }
    /// # }
    /// # async fn charge(_euros: u32, _key: String) -> Result<String, ChargeError> { Ok("r-1".into()) }
    /// ```
    pub fn operation<'a, E>(&'a self, key: &'a str, fingerprint: &'a [u8]) -> Operation<'a, E> {
        Operation {
            of: self,
            key,
            fingerprint,
            ending: Box::new(|_error| Ending::Leave),
        }
    }
}

impl<'a, E> Operation<'a, E> {
    /// Sets the function that decides the meaning of an error. Without it, every error is [`OnError::Leave`].
    ///
    /// An expected failure, such as a declined payment, can also be part of the stored value: return
    /// `Ok(Err(Declined))`, and every call gets it with its type.
    pub fn on_error(self, decide: impl FnOnce(&E) -> OnError + Send + 'a) -> Self
    where
        E: fmt::Display + 'a,
    {
        let ending = Box::new(move |error: &E| match decide(error) {
            OnError::Leave => Ending::Leave,
            OnError::Release => Ending::Release,
            OnError::Store => Ending::Store(error.to_string()),
        });
        Self { ending, ..self }
    }

    /// Runs the operation once: see [`Idempotency::once`].
    ///
    /// # Errors
    /// The errors of [`Idempotency::once`]. If the server does not confirm the end of a claim after an error of the
    /// operation, the call still returns the operation's error, and the claim is left.
    pub async fn once<T>(self, run: impl AsyncFnOnce(&Claim) -> Result<T, E>) -> Result<T, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        Ok(self.outcome(run).await?.value)
    }

    /// Does the same, and returns whether an earlier attempt stored the value.
    ///
    /// # Errors
    /// The errors of [`once`](Self::once).
    pub async fn outcome<T>(
        self,
        run: impl AsyncFnOnce(&Claim) -> Result<T, E>,
    ) -> Result<Outcome<T>, OnceError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let shown = Shown::operation(&self.of.name, self.key);
        let claim = match self.of.claim(self.key, self.fingerprint).await? {
            Claimed::Run(claim) => claim,
            Claimed::Replayed(record) => return replayed(&shown, &record),
        };
        let error = match run(&claim).await {
            Ok(value) => {
                let result = serde_json::to_vec(&value)?;
                // Without this check, every later call could fail: NaN becomes `null`, for example.
                let _same: T = serde_json::from_slice(&result)?;
                return match claim.complete(JSON, result).await? {
                    Completion::Stored => Ok(Outcome {
                        value,
                        replayed: false,
                    }),
                    Completion::Replayed(record) => replayed(&shown, &record),
                };
            }
            Err(error) => error,
        };
        match end(&claim, (self.ending)(&error)).await {
            Some(record) => replayed(&shown, &record),
            None => Err(OnceError::Operation(error)),
        }
    }
}

impl<E> fmt::Debug for Operation<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("scope", &self.of.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Ends the claim of a failed operation. Returns the record of another attempt that has stored a result. Ignores an
/// error of this end, because the caller returns the operation's error: the claim is then left when its lease ends.
async fn end(claim: &Claim, ending: Ending) -> Option<Record> {
    let ended = match ending {
        Ending::Leave => claim.leave().await.map(|()| Completion::Stored),
        Ending::Release => claim.release().await.map(|()| Completion::Stored),
        Ending::Store(text) => claim.complete(ERROR, shortened(text)).await,
    };
    match ended {
        Ok(Completion::Replayed(record)) => Some(record),
        Ok(Completion::Stored) | Err(_) => None,
    }
}

/// The text of an error as a result. If it is too long, only its beginning.
fn shortened(mut text: String) -> String {
    const REST: char = '…';
    if text.len() > MAX_RESULT {
        let mut end = MAX_RESULT.saturating_sub(REST.len_utf8());
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        text.truncate(end);
        text.push(REST);
    }
    text
}

/// The value of another attempt.
fn replayed<T: DeserializeOwned, E>(shown: &Shown, record: &Record) -> Result<Outcome<T>, OnceError<E>> {
    match record.tag.as_str() {
        JSON => Ok(Outcome {
            value: serde_json::from_slice(&record.result)?,
            replayed: true,
        }),
        ERROR => Err(OnceError::Stored(StoredError::new(&record.result))),
        tag => {
            let detail = format!("the tag of the result is {tag:?}, and not {JSON:?}");
            let refused = Refused::new(Refusal::CorruptRecord, Some(detail), None);
            Err(OnceError::Fencepost(refused.of(shown).into()))
        }
    }
}
