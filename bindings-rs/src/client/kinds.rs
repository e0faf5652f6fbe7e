//! The kinds of locks that only ZooKeeper has.

use fencepost_core::options::Kind;

use super::{Client, Lock, LockOptions};
use crate::Error;

/// A lock that readers share and that a writer holds alone. Both sides are [`Lock`]s, with all
/// their methods.
#[derive(Clone, Debug)]
pub struct ReadWriteLock {
    reader: Lock,
    writer: Lock,
}

impl ReadWriteLock {
    /// The shared side. A reader gets the lock when no writer holds it or came earlier.
    ///
    /// The [fence](crate::Grant::fence) of a reader is not lower than the last writer's. So a
    /// resource refuses a reader whose fence is lower than the highest *writer's* fence that it has
    /// seen, and does not store the fences of readers.
    #[must_use]
    pub const fn reader(&self) -> &Lock {
        &self.reader
    }

    /// The exclusive side. A writer gets the lock when all earlier contenders have left the queue.
    #[must_use]
    pub const fn writer(&self) -> &Lock {
        &self.writer
    }
}

impl Client {
    /// ZooKeeper: the read/write lock of that name, with default options. Sends nothing.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let prices = client.read_write_lock("prices")?;
    ///
    /// let (one, other) = (prices.reader().acquire().await?, prices.reader().acquire().await?);
    /// assert!(prices.writer().try_acquire().await?.is_none());
    /// one.release().await?;
    /// other.release().await?;
    /// let alone = prices.writer().acquire().await?;
    /// assert!(prices.reader().try_acquire().await?.is_none());
    /// alone.release().await?;
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// The errors of [`lock`](Self::lock); [`Error::Config`] on Redis.
    pub fn read_write_lock(&self, name: &str) -> Result<ReadWriteLock, Error> {
        self.read_write_lock_with(name, LockOptions::default())
    }

    /// ZooKeeper: the read/write lock of that name. Sends nothing.
    ///
    /// # Errors
    /// The errors of [`read_write_lock`](Self::read_write_lock); [`Error::Config`] for options that
    /// such a lock does not have, and for the layout `plain`.
    pub fn read_write_lock_with(&self, name: &str, options: LockOptions) -> Result<ReadWriteLock, Error> {
        Ok(ReadWriteLock {
            reader: self.named(Kind::Reader, name, options.clone())?,
            writer: self.named(Kind::Writer, name, options)?,
        })
    }

    /// ZooKeeper: the election of that name, with default options. Sends nothing. Candidates lead
    /// one after another, in the order in which they came:
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let term = client.election("scheduler")?.campaign().await?;
    /// tokio::select! {
    ///     () = lead() => term.release().await?,
    ///     lost = term.lost() => eprintln!("another candidate may lead: {lost}"),
    /// }
    /// # client.close().await }
    /// # async fn lead() {}
    /// ```
    ///
    /// # Errors
    /// The errors of [`lock`](Self::lock); [`Error::Config`] on Redis.
    pub fn election(&self, name: &str) -> Result<Lock, Error> {
        self.election_with(name, LockOptions::default())
    }

    /// ZooKeeper: the election of that name. Sends nothing.
    ///
    /// # Errors
    /// The errors of [`election`](Self::election); [`Error::Config`] for options that an election
    /// does not have.
    pub fn election_with(&self, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.named(Kind::Election, name, options)
    }

    /// ZooKeeper: the semaphore of that name, with default options. Sends nothing. At most
    /// `permits` contenders hold it at a time, and all of them have to use the same number. The
    /// [fence](crate::Grant::fence) of a permit identifies it, and does not order permits.
    /// Contenders get permits one after the other. So a [try](Lock::try_acquire) returns `None`
    /// while another contender is acquiring a permit, even if more permits are free.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let presses = client.semaphore("presses", 2)?;
    ///
    /// let (one, other) = (presses.acquire().await?, presses.acquire().await?);
    /// assert!(presses.try_acquire().await?.is_none());
    /// one.release().await?;
    /// let third = presses.try_acquire().await?;
    /// assert!(third.is_some());
    /// # drop((other, third));
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// The errors of [`lock`](Self::lock); [`Error::Config`] for zero permits, and on Redis.
    pub fn semaphore(&self, name: &str, permits: u32) -> Result<Lock, Error> {
        self.semaphore_with(name, permits, LockOptions::default())
    }

    /// ZooKeeper: the semaphore of that name. Sends nothing.
    ///
    /// # Errors
    /// The errors of [`semaphore`](Self::semaphore); [`Error::Config`] for options that a semaphore
    /// does not have.
    pub fn semaphore_with(&self, name: &str, permits: u32, options: LockOptions) -> Result<Lock, Error> {
        let raw = self.0.place.settings(Kind::Semaphore).with("name", name);
        self.contend(raw.with("permits", permits), name, options)
    }

    /// ZooKeeper: several locks at once, with default options: the client gets all of them or none.
    /// Sends nothing. Multi-locks do not deadlock each other, in any order of the names. Other
    /// contenders may acquire each of the locks as a [`lock`](Self::lock). A contender that holds
    /// one of them and waits for another one (as Curator's `InterProcessMultiLock` does) can
    /// deadlock with a multi-lock. All locks of a grant have the same [fence](crate::Grant::fence).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let transfer = client.multi_lock(["account/1", "account/2"])?.acquire().await?;
    /// assert!(client.lock("account/2")?.try_acquire().await?.is_none());
    /// transfer.release().await?;
    /// # client.close().await }
    /// ```
    ///
    /// # Errors
    /// The errors of [`lock`](Self::lock); [`Error::Config`] for no names, for more than 64, for a
    /// name that occurs twice, and on Redis.
    pub fn multi_lock(&self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Lock, Error> {
        self.multi_lock_with(names, LockOptions::default())
    }

    /// ZooKeeper: several locks at once. Sends nothing.
    ///
    /// # Errors
    /// The errors of [`multi_lock`](Self::multi_lock); [`Error::Config`] for options that a
    /// multi-lock does not have.
    pub fn multi_lock_with(
        &self,
        names: impl IntoIterator<Item = impl Into<String>>,
        options: LockOptions,
    ) -> Result<Lock, Error> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let shown = names.join(", ");
        let raw = self.0.place.settings(Kind::MultiLock).with("names", names);
        self.contend(raw, &shown, options)
    }
}
