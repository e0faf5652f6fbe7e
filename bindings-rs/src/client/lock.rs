//! A name with settings.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use fencepost_core::{ConfigError, Patience, Refusal, Settings, positive};

use super::{
    Grant, Shared,
    contender::Contender,
    hold::Hold,
    options::{Kind, LockOptions},
    owners::{Entered, Ownership},
};
use crate::{Error, clock, hub::settings::micros};

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
    pub(super) kind: Kind,
    pub(super) options: LockOptions,
    settings: Settings,
    /// Where its owner holds it, if it has one.
    ownership: Option<Arc<Ownership>>,
}

impl Lock {
    pub(super) fn new(
        shared: Arc<Shared>,
        kind: Kind,
        name: &str,
        options: LockOptions,
    ) -> Result<Self, ConfigError> {
        let settings = options.settings(&shared.place, &kind, name)?;
        let ownership = options.ownership(&kind, name)?.map(Arc::new);
        let name = name.into();
        let what = What {
            name,
            kind,
            options,
            settings,
            ownership,
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
    /// Dropping the future withdraws the contender.
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
        let side = what.kind.side();
        let turn = match &what.ownership {
            None => None,
            Some(ownership) => match self.shared.owners.enter(ownership, side)? {
                Entered::Again(hold) => return Ok(Grant::new(hold)),
                Entered::Contends(turn) => Some(turn),
            },
        };
        let patience = self.when_connected(patience).await?;
        let contender = Contender::acquire(&self.shared, &what.settings, patience).await?;
        let hold = Hold::first(contender, what.ownership.clone(), side);
        if let Some(turn) = turn {
            turn.take(hold.joint());
        }
        Ok(Grant::new(hold))
    }

    /// Waits for a client's first connection; gives the patience that is left.
    pub(super) async fn when_connected(&self, patience: Patience) -> Result<Patience, Error> {
        let engine = &self.shared.engine;
        if engine.is_connected() {
            return Ok(patience);
        }
        let start = clock::now();
        match patience {
            Patience::Forever => engine.ready(self.shared.connect_within).await?,
            Patience::Try => engine.ready(self.shared.connect_within.min(TRY_WITHIN)).await?,
            Patience::For(limit) => {
                engine.ready(limit).await?;
                let left = limit.saturating_sub(clock::now().since(start));
                return Ok(Patience::For(left.max(Duration::from_micros(1))));
            }
        }
        Ok(patience)
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
