//! A name with settings.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{AcquireTimeout, ConfigError, Misuse, RawSettings, Refusal, Settings, positive};

use super::{Grant, contender::Contender, options::LockOptions, shared::Shared};
use crate::{Error, Shown, engine::ContenderParams, hub::settings::micros};

/// A lock's name with its settings. It is cheap to clone and to share. Each acquire is a new
/// contender.
#[derive(Clone)]
pub struct Lock {
    pub(super) shared: Arc<Shared>,
    pub(super) what: Arc<What>,
}

/// A lock's name and settings.
pub(super) struct What {
    pub(super) name: String,
    /// The name in the form for errors and grants.
    pub(super) shown: Shown,
    /// The unchecked settings, for inspections.
    pub(super) raw: RawSettings,
    owner: Option<String>,
    settings: Settings,
}

impl Lock {
    pub(super) fn new(
        shared: Arc<Shared>,
        name: &str,
        raw: RawSettings,
        options: LockOptions,
    ) -> Result<Self, ConfigError> {
        let owner = options.owner_name().map(Into::into);
        let raw = options.add_to(raw);
        let settings = Settings::try_from(raw.clone())?;
        let what = What {
            shown: Shown::lock(name),
            name: name.into(),
            raw,
            owner,
            settings,
        };
        Ok(Self {
            shared,
            what: Arc::new(what),
        })
    }

    /// The name, as the program passed it. The names of a multi-lock are separated by commas.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.what.name
    }

    /// Waits until the client has the lock. On ZooKeeper, contenders get the lock in the order in
    /// which they joined the queue.
    ///
    /// Dropping the future cancels the acquire. A future that a task keeps and does not poll (in a
    /// `select!` whose handler waits, or in a stream that no task reads) does not hold the lock for
    /// long. The client releases a grant that no task has taken within half a lease, 10 s at most,
    /// and the future acquires again when it is polled. If the time limit of an
    /// [`acquire_within`](Self::acquire_within) has passed by then, the future tries once more.
    ///
    /// # Errors
    /// [`Error::Refused`] if the server refuses (no permission, a key of another type, no sequence
    /// numbers left); [`Error::Lost`] if the grant ended before this task ran: acquire again;
    /// [`Misuse::Closed`](crate::Misuse::Closed) if the client was closed.
    pub async fn acquire(&self) -> Result<Grant, Error> {
        self.acquire_with(AcquireTimeout::Forever).await
    }

    /// Waits at most `limit` for the lock. Returns `None` if another contender still holds it at
    /// the end of that time.
    ///
    /// # Errors
    /// The errors of [`acquire`](Self::acquire); [`Error::Config`] for a limit of zero;
    /// [`Refusal::Unreachable`] if no server replied.
    pub async fn acquire_within(&self, limit: Duration) -> Result<Option<Grant>, Error> {
        let limit = positive(
            "timeout",
            micros(limit),
            ", or use try_acquire, which does not wait for others",
        )?;
        none_if_held(self.acquire_with(AcquireTimeout::For(limit)).await)
    }

    /// Acquires the lock if no other contender holds it; otherwise returns `None`.
    ///
    /// # Errors
    /// The errors of [`acquire`](Self::acquire); [`Refusal::Unreachable`] if no server replies
    /// within 5 s.
    pub async fn try_acquire(&self) -> Result<Option<Grant>, Error> {
        none_if_held(self.acquire_with(AcquireTimeout::Try).await)
    }

    /// Waits until this candidate leads. This is the same as [`acquire`](Self::acquire), with the
    /// word of [elections](crate::Client::election). The grant is a term: the candidate leads until
    /// it releases the grant or [loses](Grant::lost) it.
    ///
    /// # Errors
    /// The errors of [`acquire`](Self::acquire).
    pub async fn campaign(&self) -> Result<Grant, Error> {
        self.acquire().await
    }

    async fn acquire_with(&self, acquire_timeout: AcquireTimeout) -> Result<Grant, Error> {
        self.shared.engine.check_process()?;
        let what = &self.what;
        let owner = what.owner.as_deref();
        let acquire_timeout = self.shared.when_connected(&what.shown, acquire_timeout).await?;
        let params = ContenderParams {
            lock: &what.shown,
            settings: &what.settings,
            has_owner: owner.is_some(),
            is_claim: false,
        };
        let acquired = Contender::acquire(&self.shared, params, acquire_timeout).await;
        match (acquired, owner) {
            (Err(Error::Misuse(Misuse::OwnerBusy)), Some(owner)) => {
                Err(Error::OwnerBusy { owner: owner.into() })
            }
            (acquired, _) => acquired.map(Grant::new),
        }
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock")
            .field("name", &self.what.name)
            .finish_non_exhaustive()
    }
}

fn none_if_held(acquired: Result<Grant, Error>) -> Result<Option<Grant>, Error> {
    match acquired {
        Ok(grant) => Ok(Some(grant)),
        Err(Error::Refused(refused))
            if matches!(refused.reason(), Refusal::Timeout | Refusal::NotAvailable) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
