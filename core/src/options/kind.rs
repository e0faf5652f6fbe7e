//! The kinds of locks, and the servers.

/// A kind of lock. In data, its [name](Self::name) identifies it, but the option `fair` distinguishes
/// [`Mutex`](Self::Mutex) from [`Single`](Self::Single).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A lock with one holder. On ZooKeeper the waiters get it in order.
    Mutex,
    /// A lock without a queue: a single node on ZooKeeper.
    Single,
    /// The shared side of a read/write lock.
    Reader,
    /// The exclusive side of a read/write lock.
    Writer,
    /// A permit of a semaphore.
    Semaphore,
    /// A candidate in an election.
    Election,
    /// Several locks at once: the contender gets all of them or none.
    MultiLock,
    /// An inspection of a lock: reads its contenders, requests a revocation, or breaks a contender's place.
    Inspection,
    /// A claim on an idempotent operation.
    Claim,
    /// One request about an operation or a value: issue, register, update, look, settle, forget; or a sweep of a scope.
    SingleStep,
}

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Server {
    /// ZooKeeper.
    ZooKeeper,
    /// Redis.
    Redis,
    /// The server inside the process. It can replace each of the others, so it accepts the options of both.
    Memory,
}

impl Kind {
    /// The kinds that have a constructor in the clients.
    pub const LOCKS: [Self; 7] = [
        Self::Mutex,
        Self::Single,
        Self::Reader,
        Self::Writer,
        Self::Semaphore,
        Self::Election,
        Self::MultiLock,
    ];

    /// The kinds for idempotent operations. A [`Scope`](super::Scope) makes their settings.
    pub const OPERATIONS: [Self; 2] = [Self::Claim, Self::SingleStep];

    /// The name in data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mutex | Self::Single => "lock",
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Semaphore => "semaphore",
            Self::Election => "election",
            Self::MultiLock => "multi-lock",
            Self::Inspection => "inspection",
            Self::Claim => "claim",
            Self::SingleStep => "single-step",
        }
    }

    /// The clients' method that makes a lock of this kind.
    #[must_use]
    pub const fn constructor(self) -> &'static str {
        match self {
            Self::Reader | Self::Writer => "read_write_lock",
            Self::MultiLock => "multi_lock",
            Self::Claim | Self::SingleStep => "idempotency",
            other => other.name(),
        }
    }

    /// The object that the constructor makes, as a part of a sentence.
    #[cfg(feature = "docs")]
    #[must_use]
    pub const fn made(self) -> &'static str {
        match self {
            Self::Single => Self::Mutex.article(),
            Self::Reader | Self::Writer => "a read/write lock",
            other => other.article(),
        }
    }

    /// The name for a table.
    #[cfg(feature = "docs")]
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Single => "unfair lock (`fair` = no)",
            other => other.name(),
        }
    }

    /// The name in a sentence.
    pub(super) const fn article(self) -> &'static str {
        match self {
            Self::Mutex => "a lock",
            Self::Single => "an unfair lock",
            Self::Reader => "a reader",
            Self::Writer => "a writer",
            Self::Semaphore => "a semaphore",
            Self::Election => "an election",
            Self::MultiLock => "a multi-lock",
            Self::Inspection => "an inspection",
            Self::Claim => "a claim",
            Self::SingleStep => "a single step",
        }
    }

    /// The name of the machine on ZooKeeper, without `zookeeper-` before it.
    pub(super) const fn machine(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Single => "single",
            other => other.name(),
        }
    }

    /// The kind with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut kinds = Self::LOCKS.into_iter().chain(Self::OPERATIONS);
        kinds.find(|kind| kind.name() == name)
    }

    /// The server and the kind of a machine.
    pub(super) fn of_machine(name: &str) -> Option<(Server, Self)> {
        if name == "redis-string" {
            return Some((Server::Redis, Self::Mutex));
        }
        if let Some(name) = name.strip_prefix("redis-") {
            let mut kinds = Self::OPERATIONS.into_iter();
            let kind = kinds.find(|kind| kind.name() == name)?;
            return Some((Server::Redis, kind));
        }
        let name = name.strip_prefix("zookeeper-")?;
        let mut kinds = Self::on_zookeeper();
        let kind = kinds.find(|kind| kind.machine() == name)?;
        Some((Server::ZooKeeper, kind))
    }

    /// The kinds of ZooKeeper's machines.
    pub(super) fn on_zookeeper() -> impl Iterator<Item = Self> {
        let others = [Self::Inspection].into_iter().chain(Self::OPERATIONS);
        Self::LOCKS.into_iter().chain(others)
    }

    pub(super) const fn bit(self) -> u32 {
        1 << self as u8
    }
}

impl Server {
    /// All servers.
    pub const ALL: [Self; 3] = [Self::ZooKeeper, Self::Redis, Self::Memory];

    /// The name in data.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ZooKeeper => "zookeeper",
            Self::Redis => "redis",
            Self::Memory => "memory",
        }
    }

    /// The name in a sentence.
    #[must_use]
    pub const fn shown(self) -> &'static str {
        match self {
            Self::ZooKeeper => "ZooKeeper",
            Self::Redis => "Redis",
            Self::Memory => "memory:",
        }
    }

    /// Whether this server has such locks or operations.
    #[must_use]
    pub const fn has(self, kind: Kind) -> bool {
        match self {
            Self::Redis => matches!(kind, Kind::Mutex | Kind::Claim | Kind::SingleStep),
            Self::ZooKeeper | Self::Memory => true,
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|server| server.name() == name)
    }

    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_names_that_clients_and_errors_use() {
        let names = |kind: Kind| [kind.name(), kind.constructor(), kind.machine(), kind.article()];
        assert_eq!(names(Kind::Mutex), ["lock", "lock", "mutex", "a lock"]);
        assert_eq!(names(Kind::Single), ["lock", "lock", "single", "an unfair lock"]);
        assert_eq!(
            names(Kind::Reader),
            ["reader", "read_write_lock", "reader", "a reader"]
        );
        assert_eq!(
            names(Kind::Writer),
            ["writer", "read_write_lock", "writer", "a writer"]
        );
        let semaphore = ["semaphore", "semaphore", "semaphore", "a semaphore"];
        assert_eq!(names(Kind::Semaphore), semaphore);
        let election = ["election", "election", "election", "an election"];
        assert_eq!(names(Kind::Election), election);
        let multi = ["multi-lock", "multi_lock", "multi-lock", "a multi-lock"];
        assert_eq!(names(Kind::MultiLock), multi);
    }

    #[cfg(feature = "docs")]
    #[test]
    fn the_reference_has_words_for_each_kind() {
        let words = |kind: Kind| [kind.made(), kind.label()];
        assert_eq!(words(Kind::Mutex), ["a lock", "mutex"]);
        assert_eq!(words(Kind::Single), ["a lock", "unfair lock (`fair` = no)"]);
        assert_eq!(words(Kind::Reader), ["a read/write lock", "reader"]);
        assert_eq!(words(Kind::Writer), ["a read/write lock", "writer"]);
        assert_eq!(words(Kind::Election), ["an election", "election"]);
    }
}
