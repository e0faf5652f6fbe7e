//! Who holds a lock, who waits, and what an operator may do about it.

use std::time::{Duration, SystemTime};

use fencepost_core::{AcquireTimeout, Fence, Settings};

use super::{Lock, contender::Contender};
use crate::{Error, engine::ContenderParams};

/// A contender for a lock on ZooKeeper, as [`Lock::contenders`] found it: of this process or
/// another one, of fencepost or another library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The path of its node.
    pub node: String,
    /// Whether it holds the lock, or waits.
    pub holds: bool,
    /// Whether it shares the lock with others of its kind: a reader.
    pub shared: bool,
    /// The session that its node goes with.
    pub session: i64,
    /// Since when it holds or waits, by the server's clock.
    pub since: SystemTime,
    /// The [fence](crate::Grant::fence) that it has, or would have.
    pub fence: u64,
    /// What its node says of it: see [`identifier`](crate::LockOptions::identifier).
    pub identifier: String,
}

impl Lock {
    /// ZooKeeper: returns the holders of the lock and its waiters, in the order in which they came.
    /// The answer is for people and tools; it may be out of date when you read it.
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
    /// [`Error::Config`] on Redis, and for a multi-lock.
    pub async fn contenders(&self) -> Result<Vec<Found>, Error> {
        let found = self.inspect("list", None).await?;
        let mut found: Vec<_> = found.into_iter().map(Found::from).collect();
        found.sort_by_key(|contender| contender.fence);
        Ok(found)
    }

    /// ZooKeeper: deletes a contender's node. A holder [loses](crate::Grant::lost) the lock; a
    /// waiter goes to the end of the queue. If it was the holder, another contender gets the lock
    /// while the old holder may still work: the old holder notices within a third of its session's
    /// timeout, or at once if its lock is [revocable](crate::LockOptions::revocable). Until then
    /// only its fence keeps it from doing harm.
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
    /// As [`break_contender`](Self::break_contender).
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
        let since = Duration::from_millis(u64::try_from(found.since).unwrap_or_default());
        Self {
            node: found.node,
            holds: found.holds,
            shared: found.shared,
            session: found.session.0,
            since: SystemTime::UNIX_EPOCH + since,
            fence: found.fence.0,
            identifier: found.identifier,
        }
    }
}
