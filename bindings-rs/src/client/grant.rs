//! The right to hold a lock.

use core::{fmt, time::Duration};

use super::contender::Contender;
use crate::{Error, Lost, clock};

/// The right to hold a lock, until the program [releases](Self::release) it or the grant is
/// [lost](Self::lost). Dropping a grant releases it in the background.
///
/// The background work needs a running runtime. If a grant is dropped as the last thing in `main`,
/// its node or key stays on the server until the session or lease ends. End a program with
/// [`Client::close`](crate::Client::close), which waits for the server.
///
/// Tasks and threads may share a grant and move it. A release consumes it, so a program can release
/// it only once:
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

    /// The fence: a number that grows from grant to grant. Send it to the resource with each
    /// request. If the resource refuses numbers lower than the highest one so far, it is safe, even
    /// if this process pauses for a long time. `None` if the server provides no number; ZooKeeper,
    /// Redis and `memory:` always provide one.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        self.fence
    }

    /// Whether the grant is valid, by this process's own clock. This is also correct after the
    /// computer was suspended. `false` while the connection to ZooKeeper is lost: start no new work
    /// then. The grant may become valid again.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.contender.state().is_valid(clock::now())
    }

    /// How long the grant stays valid without a renewal; zero if it is not valid. The client renews
    /// grants in the background.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let now = clock::now();
        let state = self.contender.state();
        let valid = state.grant.filter(|_| state.is_valid(now));
        valid.map_or(Duration::ZERO, |grant| {
            grant.remaining(now).unwrap_or(Duration::MAX)
        })
    }

    /// Completes when the grant has ended without a release, and returns the reason. It is cancel
    /// safe, and any number of tasks may wait for it.
    pub async fn lost(&self) -> Lost {
        self.contender.lost().await
    }

    /// ZooKeeper: completes when another contender sends a revocation request, with Curator's
    /// `Revoker` or [`Lock::revoke`](crate::Lock::revoke). The holder may release the lock soon, or
    /// keep it. Without a request, this never completes. So wait for it in a `select!`, together
    /// with the work and [`lost`](Self::lost). It is cancel safe, and any number of tasks may wait
    /// for it.
    pub async fn revoke_requested(&self) {
        self.contender.revoke_requested().await;
    }

    /// ZooKeeper: whether another contender has sent a revocation request. See
    /// [`revoke_requested`](Self::revoke_requested), which waits for one.
    #[must_use]
    pub fn is_revoke_requested(&self) -> bool {
        self.contender.state().revoke_requested
    }

    /// ZooKeeper: the node of a contender of another layout in the lock's directory, if there is
    /// one. That contender ignores this client's node, so both may hold the lock at the same time.
    /// Give all processes the same [layout](crate::LockOptions::layout).
    #[must_use]
    pub fn mixed_layouts(&self) -> Option<String> {
        self.contender.state().foreign_node.clone()
    }

    /// Renews the grant now. On Redis, the grant then lasts for its `ttl`. On ZooKeeper, the client
    /// confirms the session. It also does so by itself, every third of the session timeout, so more
    /// frequent calls have no effect.
    ///
    /// # Errors
    /// [`Error::Lost`] if the grant has ended, also if its client was closed.
    pub async fn extend(&self) -> Result<(), Error> {
        self.contender.extend().await
    }

    /// ZooKeeper: changes the grant of a [writer](crate::ReadWriteLock::writer) into a reader's,
    /// without releasing it in between. Waiting readers get the lock; no writer gets it before this
    /// grant is released. The [fence](Self::fence) stays the same. If an
    /// [owner](crate::LockOptions::owner) has several grants, the lock becomes a reader's when the
    /// last of them has been downgraded or released. Returns when the server has confirmed the
    /// change.
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
    /// If the future is dropped, the downgrade continues: call `downgrade` again to get the result.
    ///
    /// # Errors
    /// [`Misuse::NotAWriter`](crate::Misuse::NotAWriter) for any other grant, and after a call that
    /// has succeeded; [`Error::Lost`] if the grant has ended; [`Error::Refused`] if the server
    /// refuses: the grant then stays a writer's.
    pub async fn downgrade(&self) -> Result<(), Error> {
        self.contender.downgrade().await
    }

    /// Releases the lock. Returns when the server has confirmed it. If an
    /// [owner](crate::LockOptions::owner) has several grants, the client releases the lock with the
    /// last of them; the others return at once.
    ///
    /// # Errors
    /// [`Error::Lost`] if the grant had ended before, also if its client was closed;
    /// [`Error::ReleaseUnconfirmed`] after 5 s without a reply: the client then retries the release
    /// in the background; [`Error::Refused`] if the server refuses the release;
    /// [`Misuse::Closed`](crate::Misuse::Closed) if the client is closed during the release.
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
