//! Options of a lock, and the settings that they come to.

use core::time::Duration;

use fencepost_core::{
    ConfigError, RawSettings, Settings,
    zookeeper::{Layout, RawZooKeeper},
};

use super::{Found, Place};
use crate::hub::settings::micros;

/// What Redis has no counterpart of.
#[cfg(feature = "redis")]
const ELSEWHERE: &str =
    "only ZooKeeper has it; on Redis there are locks, with the options ttl, renew and max_hold";

/// Options of a lock.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LockOptions {
    ttl: Option<Duration>,
    renew: Option<bool>,
    max_hold: Option<Duration>,
    layout: Option<Layout>,
    identifier: Option<String>,
    revocable: Option<bool>,
    owner: Option<String>,
    fair: Option<bool>,
}

/// What is done to contenders from outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action<'a> {
    List,
    Break(&'a Found),
    Revoke(&'a Found),
}

/// What is to be held.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Mutex,
    Single,
    Reader,
    Writer,
    Election,
    Semaphore { permits: u32 },
    Multi { names: Vec<String> },
}

impl LockOptions {
    /// The usual ones.
    pub const fn new() -> Self {
        Self {
            ttl: None,
            renew: None,
            max_hold: None,
            layout: None,
            identifier: None,
            revocable: None,
            owner: None,
            fair: None,
        }
    }

    /// Redis: how long the server keeps the lock when it is not renewed (10 s). ZooKeeper's counterpart is the `session_timeout` of
    /// the address. `memory:` checks it as Redis does; a lock there lasts as long as its client.
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Redis: whether the lease is renewed in the background until the release (yes). Without, a grant lasts for `ttl`, or until the next
    /// [`extend`](crate::Grant::extend) has to be. `memory:` takes it; a lock there lasts as long as its client.
    pub const fn renew(mut self, renew: bool) -> Self {
        self.renew = Some(renew);
        self
    }

    /// The longest hold: then the grant is lost, with [`Loss::MaxHold`](crate::Loss::MaxHold).
    pub const fn max_hold(mut self, limit: Duration) -> Self {
        self.max_hold = Some(limit);
        self
    }

    /// ZooKeeper: the names that contenders have on the server: Apache Curator's (the usual ones), Kazoo's, or `plain` ones with a prefix and a
    /// number, as home-made locks have them. Processes with one of those libraries and ours exclude each other in its layout. Contenders of
    /// other layouts are waited for if they came first, but cannot see ours: see [`mixed_layouts`](crate::Grant::mixed_layouts).
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// ZooKeeper: what the contender's node says, for people and peers: a host's name, for example. At most 1024 bytes.
    pub fn identifier(mut self, identifier: impl Into<String>) -> Self {
        self.identifier = Some(identifier.into());
        self
    }

    /// ZooKeeper: whether a wish for the lock is heard of from the grant on, which costs a request, and not only a third of the session's timeout
    /// later: see [`revoke_requested`](crate::Grant::revoke_requested).
    pub const fn revocable(mut self, revocable: bool) -> Self {
        self.revocable = Some(revocable);
        self
    }

    /// ZooKeeper: whether contenders are served in the order in which they came (yes). `fair(false)` is for a [`lock`](crate::Client::lock) that is mostly tried, and
    /// seldom waited for: it is a single node, the cheapest lock there is, and has no line. Whoever waits is woken by each release and asks again,
    /// so many waiters are a herd, and one of them may wait for ever. All processes have to agree: a fair lock of the same name is another one. It has no
    /// layout, and is not [`revocable`](Self::revocable).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
    /// use fencepost::LockOptions;
    ///
    /// let client = fencepost::connect("memory:").await?;
    /// let nightly = client.lock_with("nightly", LockOptions::new().fair(false))?;
    /// if let Some(grant) = nightly.try_acquire().await? {
    ///     // Only one does it.
    ///     grant.release().await?;
    /// }
    /// # client.close().await }
    /// ```
    pub const fn fair(mut self, fair: bool) -> Self {
        self.fair = Some(fair);
        self
    }

    /// What kind a plain lock with these options is.
    pub(super) fn plain(&self) -> Kind {
        match self.fair {
            Some(false) => Kind::Single,
            None | Some(true) => Kind::Mutex,
        }
    }

    /// Who acquires, by a name of your choice, from 1 to 1024 bytes: `"request-17"`, for example. What an owner holds it may acquire again, through any
    /// lock of the same client, name and kind, in any task: it gets a grant of its own at once, with the same fence, and nothing is sent. The lock is
    /// given back when the last of them has been. Who waits for its first grant is [busy](crate::Error::OwnerBusy).
    ///
    /// Of a [read/write lock](crate::Client::read_write_lock) a writer's owner may acquire the reader as well, and becomes a reader when its holds through the
    /// writer have been released; a reader's owner that acquires the writer gets the error [`Misuse::Upgrade`](crate::Misuse::Upgrade), and
    /// keeps its share. The settings are those of the first acquire.
    ///
    /// Without an owner each acquire is a new contender.
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
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// The owner's name, if there is an owner.
    pub(super) fn owner_name(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    pub(super) fn settings(&self, place: &Place, kind: &Kind, name: &str) -> Result<Settings, ConfigError> {
        let raw = match place {
            Place::ZooKeeper { prefix } => {
                refuse(
                    self.leases(),
                    "on ZooKeeper a lock lasts as long as its session: give the address a session_timeout, or the lock a max_hold",
                )?;
                self.on_zookeeper(prefix, kind, name)?
            }
            Place::Memory => self.in_memory(kind, name)?,
            #[cfg(feature = "redis")]
            Place::Redis => self.on_redis(kind, name)?,
        };
        Settings::try_from(raw)
    }

    /// A look at the contenders of such a lock.
    pub(super) fn inspection(
        &self,
        place: &Place,
        kind: &Kind,
        name: &str,
        action: &Action<'_>,
    ) -> Result<Settings, ConfigError> {
        let (action, contender) = match action {
            Action::List => ("list", None),
            Action::Break(contender) => ("break", Some(contender)),
            Action::Revoke(contender) => ("revoke", Some(contender)),
        };
        let of = match kind {
            Kind::Mutex => "mutex",
            Kind::Single => "single",
            Kind::Reader | Kind::Writer => "read-write",
            Kind::Election => "election",
            Kind::Semaphore { .. } => "semaphore",
            Kind::Multi { .. } => {
                return Err(ConfigError::UnknownOption {
                    option: "contenders".into(),
                    known: "many locks have as many lines: look at each lock",
                });
            }
        };
        match place {
            Place::ZooKeeper { .. } | Place::Memory => {
                Settings::try_from(RawSettings::ZookeeperInspection(RawZooKeeper {
                    of: Some(of.into()),
                    action: Some(action.into()),
                    node: contender.map(|contender| contender.node.clone()),
                    fence: contender.map(|contender| contender.fence.to_string()),
                    ..self.common(place.prefix(), kind, name)
                }))
            }
            #[cfg(feature = "redis")]
            Place::Redis => Err(ConfigError::UnknownOption {
                option: "contenders".into(),
                known: ELSEWHERE,
            }),
        }
    }

    /// What contenders and inspections have in common.
    fn common(&self, prefix: &str, kind: &Kind, name: &str) -> RawZooKeeper {
        RawZooKeeper {
            // Many locks have names instead.
            name: match kind {
                Kind::Multi { .. } => String::new(),
                _ => name.into(),
            },
            prefix: prefix.into(),
            layout: self.layout.as_ref().map(|layout| layout.as_str().into()),
            node_prefix: match &self.layout {
                Some(Layout::Plain { prefix }) => Some(prefix.clone()),
                _ => None,
            },
            permits: match kind {
                Kind::Semaphore { permits } => Some((*permits).into()),
                _ => None,
            },
            names: match kind {
                Kind::Multi { names } => Some(names.clone()),
                _ => None,
            },
            ..RawZooKeeper::default()
        }
    }

    fn on_zookeeper(&self, prefix: &str, kind: &Kind, name: &str) -> Result<RawSettings, ConfigError> {
        let lined = !matches!(kind, Kind::Mutex | Kind::Single);
        refuse(
            [("fair", lined && self.fair.is_some())],
            "locks may be unfair; all others serve in the order in which contenders came",
        )?;
        let raw = RawZooKeeper {
            identifier: self.identifier.clone(),
            revocable: self.revocable,
            max_hold: self.max_hold.map(micros),
            owner: self.owner.clone(),
            ..self.common(prefix, kind, name)
        };
        Ok(match kind {
            Kind::Mutex => RawSettings::ZookeeperMutex(raw),
            Kind::Single => RawSettings::ZookeeperSingle(raw),
            Kind::Reader => RawSettings::ZookeeperReader(raw),
            Kind::Writer => RawSettings::ZookeeperWriter(raw),
            Kind::Election => RawSettings::ZookeeperElection(raw),
            Kind::Semaphore { .. } => RawSettings::ZookeeperSemaphore(raw),
            Kind::Multi { .. } => RawSettings::ZookeeperMultiLock(raw),
        })
    }

    /// What only leases have, and whether it was given.
    const fn leases(&self) -> [(&'static str, bool); 2] {
        [("ttl", self.ttl.is_some()), ("renew", self.renew.is_some())]
    }

    /// The server inside the process stands for ZooKeeper, and for Redis: a program that is to run there may be tried here. What
    /// Redis would refuse is refused.
    fn in_memory(&self, kind: &Kind, name: &str) -> Result<RawSettings, ConfigError> {
        if matches!(kind, Kind::Mutex) {
            let leased = self.leases().iter().any(|(_, given)| *given);
            if leased {
                Settings::try_from(self.leased(name))?;
            }
        } else {
            refuse(self.leases(), "only locks have it, on Redis and on memory:")?;
        }
        self.on_zookeeper("", kind, name)
    }

    #[cfg(feature = "redis")]
    fn on_redis(&self, kind: &Kind, name: &str) -> Result<RawSettings, ConfigError> {
        refuse(
            [
                ("read_write_lock", matches!(kind, Kind::Reader | Kind::Writer)),
                ("election", matches!(kind, Kind::Election)),
                ("semaphore", matches!(kind, Kind::Semaphore { .. })),
                ("multi_lock", matches!(kind, Kind::Multi { .. })),
                ("layout", self.layout.is_some()),
                ("fair", self.fair.is_some()),
                ("identifier", self.identifier.is_some()),
                ("revocable", self.revocable.is_some()),
            ],
            ELSEWHERE,
        )?;
        Ok(self.leased(name))
    }

    fn leased(&self, name: &str) -> RawSettings {
        RawSettings::RedisString {
            name: name.into(),
            ttl: self.ttl.map(micros),
            margin: None,
            renew: self.renew,
            poll: None,
            answer_within: None,
            max_hold: self.max_hold.map(micros),
            owner: self.owner.clone(),
        }
    }
}

/// Refuses the first option that was given and should not have been.
fn refuse<const N: usize>(options: [(&str, bool); N], known: &'static str) -> Result<(), ConfigError> {
    match options.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(ConfigError::UnknownOption {
            option: option.into(),
            known,
        }),
    }
}
