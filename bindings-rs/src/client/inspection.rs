//! Who holds a lock, who waits, and what an operator may do about it.

use std::time::{Duration, SystemTime};

use fencepost_core::{AcquireTimeout, Fence, Settings};

use super::{Lock, contender::Contender};
use crate::{Error, engine::ContenderParams};

/// A contender for a lock, as [`Lock::contenders`] found it: of this process or another one, of fencepost or another
/// library. Redis stores no waiters, so there it is the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What names it on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key.
    pub node: String,
    /// Whether it holds the lock, or waits.
    pub holds: bool,
    /// Whether it shares the lock with others of its kind: a reader.
    pub shared: bool,
    /// ZooKeeper: the session that owns its node.
    pub session: Option<i64>,
    /// ZooKeeper: since when it holds or waits, by the server's clock.
    pub since: Option<SystemTime>,
    /// Redis: how long its lease still runs if it does not renew it; `None` if the lease has no end.
    pub expires_in: Option<Duration>,
    /// The [fence](crate::Grant::fence) that it has, or would have. Redis: 0 for a holder of another library.
    pub fence: u64,
    /// ZooKeeper: the text in its node, see [`identifier`](crate::LockOptions::identifier).
    pub identifier: String,
}

impl Lock {
    /// Returns the holders of the lock and its waiters, in the order in which they came. Redis stores no waiters, so
    /// there it returns the holder. The answer is for people and tools; it may be out of date when you read it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// use fencepost::LockOptions;
    ///
    /// let client = fencepost::connect("memory:").await?;
    /// let stock = client.lock_with("stock/42", LockOptions::new().identifier("till-7").revocable(true))?;
    /// let grant = stock.acquire().await?;
    ///
    /// let holder = &stock.contenders().await?[0];
    /// assert!(holder.holds && holder.identifier == "till-7" && Some(holder.fence) == grant.fence());
    /// // Ask for the lock, which the holder may give back or keep:
    /// stock.revoke(holder).await?;
    /// // ... or take it away:
    /// stock.break_contender(holder).await?;
    /// assert_eq!(grant.lost().await.reason(), fencepost::Loss::Deleted);
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] if the server denies access, or if no server has answered within 5 s;
    /// [`Error::Config`] for a multi-lock.
    pub async fn contenders(&self) -> Result<Vec<Found>, Error> {
        let found = self.inspect("list", None).await?;
        let mut found: Vec<_> = found.into_iter().map(Found::from).collect();
        found.sort_by_key(|contender| contender.fence);
        Ok(found)
    }

    /// Takes its place from a contender. A holder [loses](crate::Grant::lost) the lock; a waiter goes to the end of
    /// the queue. If it was the holder, another contender gets the lock while the old holder may still work: the old
    /// holder notices within a third of its session's timeout or of its lease. On ZooKeeper it notices at once if its
    /// lock is [revocable](crate::LockOptions::revocable). Until then only its fence keeps it from doing harm.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::NoContender`](crate::Refusal::NoContender) if the
    /// contender is gone, and as [`contenders`](Self::contenders); [`Error::Config`] for a
    /// contender of another lock.
    pub async fn break_contender(&self, contender: &Found) -> Result<(), Error> {
        self.inspect("break", Some(contender)).await.map(drop)
    }

    /// ZooKeeper: requests the lock from a contender, as Curator's `Revoker` does. The contender
    /// gets the request through [`revoke_requested`](crate::Grant::revoke_requested), and may
    /// release the lock or keep it.
    ///
    /// # Errors
    /// As [`break_contender`](Self::break_contender); also [`Error::Config`] on Redis, where a holder does not receive
    /// requests.
    pub async fn revoke(&self, contender: &Found) -> Result<(), Error> {
        self.inspect("revoke", Some(contender)).await.map(drop)
    }

    async fn inspect(
        &self,
        action: &str,
        contender: Option<&Found>,
    ) -> Result<Vec<fencepost_core::Found>, Error> {
        self.shared.engine.check_process()?;
        let what = &self.what;
        let contender = contender.map(|found| (found.node.as_str(), Fence(found.fence)));
        let settings = Settings::try_from(what.raw.clone().inspecting(action, contender))?;
        let acquire_timeout = self
            .shared
            .when_connected(&what.shown, AcquireTimeout::Try)
            .await?;
        let params = ContenderParams {
            lock: &what.shown,
            settings: &settings,
            has_owner: false,
            is_claim: false,
        };
        Contender::inspect(&self.shared, params, acquire_timeout).await
    }
}

impl From<fencepost_core::Found> for Found {
    fn from(found: fencepost_core::Found) -> Self {
        let moment = |millis| {
            SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or_default())
        };
        Self {
            node: found.node,
            holds: found.holds,
            shared: found.shared,
            session: found.session.map(|session| session.0),
            since: found.since.map(moment),
            expires_in: found.expires_in,
            fence: found.fence.0,
            identifier: found.identifier,
        }
    }
}
