//! Who holds a lock, who waits, and what an operator may do about it.

use std::time::{Duration, SystemTime};

use fencepost_core::{Fence, Patience, Settings};

use super::{Lock, contender::Contender};
use crate::{Error, hub::engine::ContenderParams};

/// A contender for a lock on ZooKeeper, as [`Lock::contenders`] has found it: of this process or another one, ours or a peer's.
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
    /// ZooKeeper: who holds the lock, and who waits, first come first. For people and tools: when you read it, it may already be otherwise.
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
    /// [`Error::Refused`] if there is no permission to look, or no server has answered within 5 s; [`Error::Config`] on Redis,
    /// and for many locks in one.
    pub async fn contenders(&self) -> Result<Vec<Found>, Error> {
        let found = self.inspect("list", None).await?;
        let mut found: Vec<_> = found.into_iter().map(Found::from).collect();
        found.sort_by_key(|contender| contender.fence);
        Ok(found)
    }

    /// ZooKeeper: takes a contender's place from it: a holder has [lost](crate::Grant::lost) the lock then, and a waiter begins at the end of the
    /// line. If it is the holder, somebody else gets the lock while it may still be at work, as it hears of it a third of its session's timeout
    /// later at the latest (at once if it is [revocable](crate::LockOptions::revocable)): only its fence keeps it from doing harm.
    ///
    /// # Errors
    /// [`Error::Refused`] with [`Refusal::NoContender`](crate::Refusal::NoContender) if it is not there any more, and as
    /// [`contenders`](Self::contenders); [`Error::Config`] for one of another lock.
    pub async fn break_contender(&self, contender: &Found) -> Result<(), Error> {
        self.inspect("break", Some(contender)).await.map(drop)
    }

    /// ZooKeeper: asks a contender for the lock, in Curator's way: it is [told](crate::Grant::revoke_requested), and may give the lock back or keep it.
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
        let patience = self.when_connected(Patience::Try).await?;
        let params = ContenderParams {
            lock: &what.shown,
            settings: &settings,
            has_owner: false,
        };
        Contender::inspect(&self.shared, params, patience).await
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
