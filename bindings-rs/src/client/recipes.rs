//! Locks of other kinds than the plain one: ZooKeeper's.

use fencepost_core::options::Kind;

use super::{Client, Lock, LockOptions};
use crate::Error;

/// A lock that readers share and writers have alone. Both sides are [`Lock`]s: whatever can be done with one can be done with them.
#[derive(Clone, Debug)]
pub struct ReadWriteLock {
    reader: Lock,
    writer: Lock,
}

impl ReadWriteLock {
    /// The shared side: granted while no writer holds it or came earlier.
    ///
    /// The [fence](crate::Grant::fence) of a reader is no older than the last writer's, so a resource refuses a reader whose fence is below the highest
    /// *writer's* it has seen, and does not raise that for a reader.
    #[must_use]
    pub const fn reader(&self) -> &Lock {
        &self.reader
    }

    /// The exclusive side: granted when everybody who came earlier is gone.
    #[must_use]
    pub const fn writer(&self) -> &Lock {
        &self.writer
    }
}

impl Client {
    /// ZooKeeper: the read/write lock of that name, with the usual settings. Nothing is sent.
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
    /// As [`lock`](Self::lock); [`Error::Config`] on Redis.
    pub fn read_write_lock(&self, name: &str) -> Result<ReadWriteLock, Error> {
        self.read_write_lock_with(name, LockOptions::default())
    }

    /// ZooKeeper: the read/write lock of that name. Nothing is sent.
    ///
    /// # Errors
    /// As [`read_write_lock`](Self::read_write_lock), and [`Error::Config`] for options that make no sense here, such as the layout `plain`.
    pub fn read_write_lock_with(&self, name: &str, options: LockOptions) -> Result<ReadWriteLock, Error> {
        Ok(ReadWriteLock {
            reader: self.named(Kind::Reader, name, options.clone())?,
            writer: self.named(Kind::Writer, name, options)?,
        })
    }

    /// ZooKeeper: the election of that name, with the usual settings. Nothing is sent. Candidates lead one after another, in the order in which they came:
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// let client = fencepost::connect("memory:").await?;
    /// let term = client.election("scheduler")?.campaign().await?;
    /// tokio::select! {
    ///     () = lead() => term.release().await?,
    ///     lost = term.lost() => eprintln!("somebody else leads: {lost}"),
    /// }
    /// # client.close().await }
    /// # async fn lead() {}
    /// ```
    ///
    /// # Errors
    /// As [`lock`](Self::lock); [`Error::Config`] on Redis.
    pub fn election(&self, name: &str) -> Result<Lock, Error> {
        self.election_with(name, LockOptions::default())
    }

    /// ZooKeeper: the election of that name. Nothing is sent. The [`identifier`](LockOptions::identifier) tells the others who leads.
    ///
    /// # Errors
    /// As [`election`](Self::election), and [`Error::Config`] for options that make no sense here.
    pub fn election_with(&self, name: &str, options: LockOptions) -> Result<Lock, Error> {
        self.named(Kind::Election, name, options)
    }

    /// ZooKeeper: the semaphore of that name, with the usual settings. Nothing is sent. So many contenders hold it at a time; all of them have
    /// to give the same number of permits. The [fence](crate::Grant::fence) of a permit tells it from others, and orders nothing. A
    /// [try](Lock::try_acquire) gives nothing while somebody else is just taking a permit, though there may be more: permits are taken one after
    /// the other.
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
    /// As [`lock`](Self::lock); [`Error::Config`] for no permits at all, and on Redis.
    pub fn semaphore(&self, name: &str, permits: u32) -> Result<Lock, Error> {
        self.semaphore_with(name, permits, LockOptions::default())
    }

    /// ZooKeeper: the semaphore of that name. Nothing is sent.
    ///
    /// # Errors
    /// As [`semaphore`](Self::semaphore), and [`Error::Config`] for options that make no sense here.
    pub fn semaphore_with(&self, name: &str, permits: u32, options: LockOptions) -> Result<Lock, Error> {
        let raw = self.0.place.settings(Kind::Semaphore).with("name", name);
        self.contend(raw.with("permits", permits), name, options)
    }

    /// ZooKeeper: many locks at once, with the usual settings: all of them or none, without a deadlock, whatever the order of the names. Nothing is
    /// sent. Others may take each of them as a [`lock`](Self::lock) of its own; but whoever takes one and waits for another of them (as Curator's
    /// `InterProcessMultiLock` does) can end up waiting for this one, which waits for the first. The [fence](crate::Grant::fence) is one for all.
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
    /// As [`lock`](Self::lock); [`Error::Config`] for no names, more than 64 or one that is there twice, and on Redis.
    pub fn multi_lock(&self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Lock, Error> {
        self.multi_lock_with(names, LockOptions::default())
    }

    /// ZooKeeper: many locks at once. Nothing is sent.
    ///
    /// # Errors
    /// As [`multi_lock`](Self::multi_lock), and [`Error::Config`] for options that make no sense here.
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
