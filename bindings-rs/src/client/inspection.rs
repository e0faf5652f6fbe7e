//! Inspections: the holders and waiters of a lock, and the controls for operators.

use std::time::{Duration, SystemTime};

use fencepost_core::{AcquireTimeout, Fence, Settings};

use super::{Lock, contender::Contender};
use crate::{Error, engine::ContenderParams};

/// A contender for a lock that [`Lock::contenders`] found, in any process and of any library. Redis stores no waiters,
/// so there it is always the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Identifies the contender on the server. ZooKeeper: the path of its node. Redis: the value of the lock's key.
    pub node: String,
    /// Whether the contender holds the lock; otherwise it waits.
    pub holds: bool,
    /// Whether the contender is a reader, which shares the lock with other readers.
    pub shared: bool,
    /// ZooKeeper: the session that owns its node.
    pub session: Option<i64>,
    /// ZooKeeper: when the contender's node was created, by the server's clock.
    pub since: Option<SystemTime>,
    /// Redis: the remaining lease, if the holder does not renew it; `None` if the lease has no end.
    pub expires_in: Option<Duration>,
    /// The [fence](crate::Grant::fence) of its grant, or the fence that it would get. Redis: 0 for a holder of another
    /// library.
    pub fence: u64,
    /// ZooKeeper: the text in its node, see [`identifier`](crate::LockOptions::identifier).
    pub identifier: String,
}

impl Lock {
    /// Returns the holders of the lock and its waiters, in the order in which they came. Redis stores no waiters, so
    /// there it returns the holder. The list is for people and tools; it may be out of date when you read it.
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
    /// // Send a revocation request. The holder may release the lock or keep it.
    /// stock.revoke(holder).await?;
    /// // Or break the holder.
    /// stock.break_contender(holder).await?;
    /// assert_eq!(grant.lost().await.reason(), fencepost::Loss::Deleted);
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] if the server denies access, or if no server replies within 5 s; [`Error::Config`] for a
    /// multi-lock.
    pub async fn contenders(&self) -> Result<Vec<Found>, Error> {
        let found = self.inspect("list", None).await?;
        let mut found: Vec<_> = found.into_iter().map(Found::from).collect();
        found.sort_by_key(|contender| contender.fence);
        Ok(found)
    }

    /// Removes a contender. A holder [loses](crate::Grant::lost) the lock; a waiter moves to the end of the queue. If
    /// it was the holder, another contender gets the lock while the old holder may still work: the old holder detects
    /// the loss within a third of its session timeout or of its lease. On ZooKeeper, the old holder is notified at once
    /// if its lock is [revocable](crate::LockOptions::revocable). Until then, only the fence protects the resource from
    /// the old holder.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::NoContender`](crate::Refusal::NoContender) if the contender no longer exists,
    /// and the errors of [`contenders`](Self::contenders); [`Error::Config`] for a contender of another lock.
    pub async fn break_contender(&self, contender: &Found) -> Result<(), Error> {
        self.inspect("break", Some(contender)).await.map(drop)
    }

    /// ZooKeeper: sends a revocation request to a contender, like Curator's `Revoker`. The contender gets the request
    /// through [`revoke_requested`](crate::Grant::revoke_requested), and may release the lock or keep it.
    ///
    /// # Errors
    /// The errors of [`break_contender`](Self::break_contender); also [`Error::Config`] on Redis, where a holder does
    /// not receive requests.
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
