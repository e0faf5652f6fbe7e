//! The right to hold a lock.

use core::{fmt, time::Duration};

use super::contender::Contender;
use crate::{Error, Lost, clock};

/// The right to hold a lock, until it is [released](Self::release) or [lost](Self::lost). Dropped, it is released in the background.
///
/// The background needs a runtime that goes on: a grant that is dropped as the last thing in `main` stays on the server for its lease or session.
/// End with [`Client::close`](crate::Client::close), which waits for the server.
///
/// It may be shared and moved between tasks and threads. It can be released only once, as the release takes it:
///
/// ```compile_fail
/// # async fn twice(grant: fencepost::Grant) -> Result<(), fencepost::Error> {
/// grant.release().await?;
/// grant.release().await
/// # }
/// ```
#[must_use = "a grant that is dropped is released"]
pub struct Grant {
    contender: Contender,
    fence: Option<u64>,
}

impl Grant {
    pub(super) fn new(contender: Contender) -> Self {
        let fence = contender.state().grant.and_then(|grant| grant.fence);
        Self {
            fence: fence.map(|fence| fence.0),
            contender,
        }
    }

    /// The lock's name, or the first 64 characters of it.
    #[must_use]
    pub fn lock(&self) -> &str {
        self.contender.lock().as_str()
    }

    /// The grant's number, which grows from grant to grant. Present it to the resource, and have the resource refuse lower ones than it has
    /// seen: that is safe, however long this process is paused. `None` where the backend can give none; every one so far can.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        self.fence
    }

    /// Whether the grant is valid, by this process's own clock: right also straight after a suspend. `false` while the connection to
    /// ZooKeeper is gone, which means "start nothing new" and is not yet a loss.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.contender.state().is_valid(clock::now())
    }

    /// How long the grant stays valid unless it is renewed, which it is in the background; zero if it is not valid.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let now = clock::now();
        let state = self.contender.state();
        let valid = state.grant.filter(|_| state.is_valid(now));
        valid.map_or(Duration::ZERO, |grant| {
            grant.remaining(now).unwrap_or(Duration::MAX)
        })
    }

    /// Completes when the grant has ended without a release, and says why. Cancel safe; any number of tasks may wait.
    pub async fn lost(&self) -> Lost {
        self.contender.lost().await
    }

    /// ZooKeeper: completes when somebody would like to have the lock (Curator's `Revoker`, or this crate's). It is a wish: release the grant
    /// soon, or keep it. Never completes if nobody asks, so wait for it beside the work and for the [loss](Self::lost). Cancel safe; any number of
    /// tasks may wait.
    pub async fn revoke_requested(&self) {
        self.contender.revoke_requested().await;
    }

    /// ZooKeeper: whether somebody would like to have the lock: [`revoke_requested`](Self::revoke_requested) without waiting.
    #[must_use]
    pub fn is_revoke_requested(&self) -> bool {
        self.contender.state().revoke_requested
    }

    /// ZooKeeper: the node of a contender of another layout that was found in the lock's directory. It cannot see ours, so it may be granted the lock
    /// as well: have all processes use one [layout](crate::LockOptions::layout).
    #[must_use]
    pub fn mixed_layouts(&self) -> Option<String> {
        self.contender.state().foreign_node.clone()
    }

    /// Has the grant last from now on: on Redis for its `ttl`. On ZooKeeper the session is confirmed, which proves that its leader counts from
    /// an earlier confirmation on, if there was one more than a quarter of the session's timeout ago: asking more often gains nothing, and as
    /// sessions are confirmed every third of their timeouts anyway, there is little reason to ask.
    ///
    /// # Errors
    /// [`Error::Lost`] if the grant has ended, also by the end of its client.
    pub async fn extend(&self) -> Result<(), Error> {
        self.contender.extend().await
    }

    /// ZooKeeper: turns a [writer](crate::ReadWriteLock::writer)'s grant into a reader's, without giving it up in between: readers that wait get in, nobody writes
    /// before this grant is released too. It stays the same grant, with the same [fence](Self::fence). Of an [owner](crate::LockOptions::owner)'s grants this
    /// one becomes a reader's at once, and the lock when the last of them has become one or was released. Returns when the server has confirmed it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let prices = client.read_write_lock("prices")?;
    /// let grant = prices.writer().acquire().await?;
    /// // Write, then let others read what was written, and read on:
    /// grant.downgrade().await?;
    /// let other = prices.reader().acquire().await?;
    /// # drop(other);
    /// # grant.release().await?;
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// [`Misuse::NotAWriter`](crate::Misuse::NotAWriter) for any other grant, and the second time; [`Error::Lost`] if the grant has ended;
    /// [`Error::Refused`] if the server does not let it, when the grant stays as it was.
    pub async fn downgrade(&self) -> Result<(), Error> {
        self.contender.downgrade().await
    }

    /// Gives the lock back; returns when the server has confirmed it. Of an [owner](crate::LockOptions::owner)'s grants the last one does; the others return
    /// at once.
    ///
    /// # Errors
    /// [`Error::Lost`] if the grant had ended before, also by the end of its client; [`Error::ReleaseUnconfirmed`] after 5 s, when the
    /// client goes on in the background; [`Error::Refused`] if the server does not let go; [`Misuse::Closed`](crate::Misuse::Closed) if the
    /// client is closed meanwhile.
    pub async fn release(self) -> Result<(), Error> {
        self.contender.release().await
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("lock", &self.lock())
            .field("fence", &self.fence)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}
