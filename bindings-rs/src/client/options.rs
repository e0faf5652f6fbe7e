//! Options of a lock.

#[path = "options/generated.rs"]
mod generated;

use fencepost_core::{RawSettings, options::Value, zookeeper::Layout};

/// Options of a lock. Options that are not set have the core's defaults. The core checks them when the client makes the
/// lock. If the kind of lock or the server does not have an option, this is an [`Error::Config`](crate::Error::Config).
///
/// A lock without a queue, for a job that one process does and the others skip:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
/// use fencepost::LockOptions;
///
/// let client = fencepost::connect("memory:").await?;
/// let nightly = client.lock_with("nightly", LockOptions::new().fair(false))?;
/// if let Some(grant) = nightly.try_acquire().await? {
///     // Only one process does it.
///     grant.release().await?;
/// }
/// # client.close().await }
/// ```
///
/// A lock that its owner may acquire again. Each acquire returns another grant with the same fence, and sends nothing.
/// The client releases the lock when the owner has released its last grant. While an owner waits for its first grant,
/// its other acquires return [`Error::OwnerBusy`](crate::Error::OwnerBusy). An owner that holds the writer of a
/// [read/write lock](crate::Client::read_write_lock) may acquire the reader. When it releases the writer, it becomes a
/// reader. An owner that holds the reader and acquires the writer gets [`Misuse::Upgrade`](crate::Misuse::Upgrade).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
/// use fencepost::LockOptions;
///
/// let client = fencepost::connect("memory:").await?;
/// let stock = client.lock_with("stock/42", LockOptions::new().owner("request-17"))?;
/// let outer = stock.acquire().await?;
/// let inner = stock.acquire().await?;
/// assert_eq!(inner.fence(), outer.fence());
/// outer.release().await?;
/// assert!(client.lock("stock/42")?.try_acquire().await?.is_none());
/// inner.release().await?;
/// # client.close().await }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LockOptions {
    values: Vec<(&'static str, Value)>,
}

impl LockOptions {
    /// The core's defaults.
    pub const fn new() -> Self {
        Self { values: Vec::new() }
    }

    /// ZooKeeper and `memory:`: the names of the contenders' nodes (by default Curator's). Programs with different
    /// libraries and the same layout exclude each other. Contenders of another layout ignore this client's nodes: see
    /// [`mixed_layouts`](crate::Grant::mixed_layouts). [`Layout::Plain`] is for locks, elections and multi-locks only.
    pub fn layout(self, layout: Layout) -> Self {
        let named = self.with("layout", layout.as_str());
        match layout {
            // Kinds without the layout `plain` do not have this option: there, the error names the layout.
            Layout::Plain { prefix } if prefix != "node_" => named.with("node_prefix", prefix),
            _ => named,
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// Adds the options to the settings of a lock.
    pub(super) fn add_to(self, mut raw: RawSettings) -> RawSettings {
        for (name, value) in self.values {
            raw.set(name, value);
        }
        raw
    }

    /// The owner's name, if there is an owner.
    pub(super) fn owner_name(&self) -> Option<&str> {
        self.values.iter().rev().find_map(|(name, value)| match value {
            Value::Text(owner) if *name == "owner" => Some(owner.as_str()),
            _ => None,
        })
    }
}
