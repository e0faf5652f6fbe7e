//! A name with settings.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{ConfigError, Misuse, Patience, RawSettings, Refusal, Settings, positive};

use super::{Grant, Shared, contender::Contender, options::LockOptions};
use crate::{
    Error, Shown, clock,
    hub::{engine::ContenderParams, settings::micros},
};

/// How long a try waits for the server's first answer.
const TRY_WITHIN: Duration = Duration::from_secs(5);

/// A lock's name with its settings: cheap, and shared freely. Each acquire is a new contender.
#[derive(Clone)]
pub struct Lock {
    pub(super) shared: Arc<Shared>,
    pub(super) what: Arc<What>,
}

/// What is locked, and how.
pub(super) struct What {
    pub(super) name: String,
    /// The name as errors and grants show it.
    pub(super) shown: Shown,
    /// Settings before the check, for inspections.
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
            shown: Shown::new(name),
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

    /// The name, as it was given; many are separated by commas.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.what.name
    }

    /// Waits until the lock is granted. On ZooKeeper contenders are served in the order in which they came.
    ///
    /// Dropping the future withdraws the contender. A future that is kept and not polled (in a `select!` whose handler waits, in a stream that is not
    /// read) holds nothing for long either: a grant that no task has taken within half a lease, 10 s at most, is given back, and the future
    /// contends again when it is polled. An [`acquire_within`](Self::acquire_within) whose time has passed by then tries once more.
    ///
    /// # Errors
    /// [`Error::Refused`] if the lock cannot be had (no permission, a key of another type, sequence numbers used up); [`Error::Lost`] if it was
    /// granted, and lost again before this task was awake to hear of it: a new acquire is a new contender;
    /// [`Misuse::Closed`](crate::Misuse::Closed) if the client was closed.
    pub async fn acquire(&self) -> Result<Grant, Error> {
        self.acquire_with(Patience::Forever).await
    }

    /// Waits at most `limit` until the lock is granted; `None` if somebody else held it all the time.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); a limit of zero is an [`Error::Config`]; [`Refusal::Unreachable`] if no server has answered.
    pub async fn acquire_within(&self, limit: Duration) -> Result<Option<Grant>, Error> {
        let limit = positive(
            "timeout",
            micros(limit),
            ", or use try_acquire, which does not wait for others",
        )?;
        none_if_held(self.acquire_with(Patience::For(limit)).await)
    }

    /// Takes the lock if nobody else holds it; `None` if somebody does.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); [`Refusal::Unreachable`] if no server has answered within 5 s.
    pub async fn try_acquire(&self) -> Result<Option<Grant>, Error> {
        none_if_held(self.acquire_with(Patience::Try).await)
    }

    /// Waits until this candidate leads: [`acquire`](Self::acquire), under the name that [elections](crate::Client::election) have for it. The
    /// grant is a term: it lasts until it is released, or [lost](Grant::lost).
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub async fn campaign(&self) -> Result<Grant, Error> {
        self.acquire().await
    }

    async fn acquire_with(&self, patience: Patience) -> Result<Grant, Error> {
        self.shared.engine.check_process()?;
        let what = &self.what;
        let owner = what.owner.as_deref();
        let patience = self.when_connected(patience).await?;
        let params = ContenderParams {
            lock: &what.shown,
            settings: &what.settings,
            has_owner: owner.is_some(),
        };
        let acquired = Contender::acquire(&self.shared, params, patience).await;
        match (acquired, owner) {
            (Err(Error::Misuse(Misuse::OwnerBusy)), Some(owner)) => {
                Err(Error::OwnerBusy { owner: owner.into() })
            }
            (acquired, _) => acquired.map(Grant::new),
        }
    }

    /// Waits for a client's first connection; gives the patience that is left.
    pub(super) async fn when_connected(&self, patience: Patience) -> Result<Patience, Error> {
        let engine = &self.shared.engine;
        if engine.is_connected() {
            return Ok(patience);
        }
        let start = clock::now();
        let most = self.shared.connect_timeout;
        let limit = match patience {
            Patience::Forever => most,
            Patience::Try => most.min(TRY_WITHIN),
            Patience::For(limit) => most.min(limit),
        };
        let ready = engine.ready(limit).await;
        ready.map_err(|error| match error {
            Error::Refused(refused) => Error::Refused(refused.of(&self.what.shown)),
            other => other,
        })?;
        Ok(match patience {
            Patience::For(limit) => {
                let left = limit.saturating_sub(clock::now().since(start));
                Patience::For(left.max(Duration::from_micros(1)))
            }
            Patience::Forever | Patience::Try => patience,
        })
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
