//! The table of options.

use super::{Kind, Server, ValueType, draft::Slot};

/// One option.
#[derive(Debug)]
pub struct OptionSpec {
    name: &'static str,
    pub(super) slot: Slot,
    servers: u8,
    kinds: u32,
    /// Whether a user may set it as an option. The other fields of settings are, for example, the lock's name and the
    /// action of an inspection.
    is_option: bool,
    #[cfg(feature = "docs")]
    about: About,
}

/// The texts of the reference about an option. They are Markdown; a name in backquotes is another option.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "it is written out in the table")]
pub struct About {
    /// The values that are allowed.
    pub range: &'static str,
    /// The value that applies if the option is not given.
    pub default: &'static str,
    /// The meaning of the option, as a part of a sentence.
    pub meaning: &'static str,
}

const ZOOKEEPER: u8 = Server::ZooKeeper.bit() | Server::Memory.bit();
const REDIS: u8 = Server::Redis.bit() | Server::Memory.bit();
const ALL: u8 = ZOOKEEPER | REDIS;

const MUTEX: u32 = Kind::Mutex.bit();
const SINGLE: u32 = Kind::Single.bit();
const READ_WRITE: u32 = Kind::Reader.bit() | Kind::Writer.bit();
const SEMAPHORE: u32 = Kind::Semaphore.bit();
const ELECTION: u32 = Kind::Election.bit();
const MULTI_LOCK: u32 = Kind::MultiLock.bit();
const INSPECTION: u32 = Kind::Inspection.bit();
const CLAIM: u32 = Kind::Claim.bit();
const STEP: u32 = Kind::SingleStep.bit();
const OPERATIONS: u32 = CLAIM | STEP;
/// The kinds with a queue.
const FAIR: u32 = MUTEX | READ_WRITE | SEMAPHORE | ELECTION | MULTI_LOCK;
const LOCKS: u32 = FAIR | SINGLE;

/// The range of most durations.
const POSITIVE: &str = "more than 0, to 365 days";

/// All options, in the order of the reference, and the other fields of settings.
pub static OPTIONS: [OptionSpec; 33] = [
    option(
        "ttl",
        Slot::Duration(|draft| &mut draft.ttl),
        REDIS,
        MUTEX,
        About {
            range: "at least 5 ms and three times `margin`, at most 365 days",
            default: "10 s",
            meaning: "the lease: how long the server keeps the lock without a renewal",
        },
    ),
    option(
        "renew",
        Slot::Flag(|draft| &mut draft.renew),
        REDIS,
        MUTEX | CLAIM,
        About {
            range: "",
            default: "yes",
            meaning: "whether the client renews the lease after each third of it, until the release",
        },
    ),
    option(
        "margin",
        Slot::Duration(|draft| &mut draft.margin),
        REDIS,
        MUTEX | CLAIM,
        About {
            range: "more than 0, to a third of the lease",
            default: "2 ms",
            meaning: "the client ends a grant this much, plus 1 % of the lease, before the lease ends",
        },
    ),
    option(
        "poll",
        Slot::Duration(|draft| &mut draft.poll),
        REDIS,
        MUTEX | CLAIM,
        About {
            range: POSITIVE,
            default: "100 ms",
            meaning: "the longest mean time between two requests of a waiter; each time is random, from half to one and a half of the mean",
        },
    ),
    option(
        "max_hold",
        Slot::Duration(|draft| &mut draft.max_hold),
        ALL,
        LOCKS,
        About {
            range: POSITIVE,
            default: "none",
            meaning: "the longest time that a grant lasts; then it is lost with `max-hold`",
        },
    ),
    option(
        "answer_within",
        Slot::Duration(|draft| &mut draft.answer_within),
        ALL,
        LOCKS | INSPECTION | OPERATIONS,
        About {
            range: POSITIVE,
            default: "5 s",
            meaning: "how long a try waits for an answer of the server; on Redis, also the time after which the client repeats a request",
        },
    ),
    option(
        "layout",
        Slot::Text(|draft| &mut draft.layout),
        ZOOKEEPER,
        FAIR | INSPECTION,
        About {
            range: "`curator`, `kazoo`, `plain`; `plain` for mutex, election and multi-lock only",
            default: "`curator`",
            meaning: "the names of the nodes; fencepost and another library exclude each other if both use this layout",
        },
    ),
    option(
        "node_prefix",
        Slot::Text(|draft| &mut draft.node_prefix),
        ZOOKEEPER,
        MUTEX | ELECTION | MULTI_LOCK | INSPECTION,
        About {
            range: "with `plain` only; not empty, no `/`, characters as in a name",
            default: "`node_`",
            meaning: "what the names of the nodes begin with",
        },
    ),
    option(
        "identifier",
        Slot::Text(|draft| &mut draft.identifier),
        ZOOKEEPER,
        LOCKS,
        About {
            range: "at most 1024 bytes",
            default: "none",
            meaning: "text in the node, for people and other programs: a host's name, for example",
        },
    ),
    option(
        "revocable",
        Slot::Flag(|draft| &mut draft.revocable),
        ZOOKEEPER,
        FAIR,
        About {
            range: "",
            default: "no",
            meaning: "whether a holder sees a revocation request at once, or only with the next confirmation of its session",
        },
    ),
    option(
        "owner",
        Slot::Text(|draft| &mut draft.owner),
        ALL,
        MUTEX | SINGLE | READ_WRITE,
        About {
            range: "1 to 1024 bytes",
            default: "none",
            meaning: "makes the lock re-entrant: each acquire of an owner on one client gets its own grant; the owner's grants have one fence and are lost together",
        },
    ),
    option(
        "fair",
        Slot::Flag(|draft| &mut draft.fair),
        ZOOKEEPER,
        MUTEX | SINGLE,
        About {
            range: "",
            default: "yes",
            meaning: "whether waiters get the lock in order; `no` makes one node and no queue",
        },
    ),
    option(
        "permits",
        Slot::Whole(|draft| &mut draft.permits),
        ZOOKEEPER,
        SEMAPHORE | INSPECTION,
        About {
            range: "1 to 4294967295",
            default: "required",
            meaning: "how many contenders may hold a semaphore at once",
        },
    ),
    option(
        "names",
        Slot::Texts(|draft| &mut draft.names),
        ZOOKEEPER,
        MULTI_LOCK,
        About {
            range: "1 to 64, each lock once",
            default: "required",
            meaning: "the locks of a multi-lock",
        },
    ),
    option(
        "lease",
        Slot::Duration(|draft| &mut draft.lease),
        REDIS,
        CLAIM,
        About {
            range: "at least 5 ms and three times `margin`, at most 365 days",
            default: "30 s",
            meaning: "how long a claim lasts without a renewal",
        },
    ),
    option(
        "retention",
        Slot::Duration(|draft| &mut draft.retention),
        ALL,
        OPERATIONS,
        About {
            range: POSITIVE,
            default: "24 h",
            meaning: "how long the server keeps a record after it was last written: within this time a repeated operation gets its first result",
        },
    ),
    option(
        "on_lease_end",
        Slot::Text(|draft| &mut draft.on_lease_end),
        ALL,
        CLAIM,
        About {
            range: "`retake`, `block`, `indeterminate`",
            default: "`retake`",
            meaning: "what a claim gets after the lease of an earlier attempt has ended: the operation, which may then run twice; `in-progress`; or `indeterminate`",
        },
    ),
    field("scope", Slot::Text(|draft| &mut draft.scope), ALL, OPERATIONS),
    field("key", Slot::Text(|draft| &mut draft.key), ALL, OPERATIONS),
    field(
        "fingerprint",
        Slot::Text(|draft| &mut draft.fingerprint),
        ALL,
        OPERATIONS,
    ),
    field("binding", Slot::Text(|draft| &mut draft.binding), ALL, OPERATIONS),
    field("step", Slot::Text(|draft| &mut draft.step), ALL, STEP),
    field("operation", Slot::Text(|draft| &mut draft.operation), ALL, STEP),
    field("version", Slot::Whole(|draft| &mut draft.version), ALL, STEP),
    field("life", Slot::Duration(|draft| &mut draft.life), ALL, STEP),
    field("tag", Slot::Text(|draft| &mut draft.tag), ALL, STEP),
    field("result", Slot::Text(|draft| &mut draft.result), ALL, STEP),
    field(
        "name",
        Slot::Text(|draft| &mut draft.name),
        ALL,
        LOCKS & !MULTI_LOCK | INSPECTION,
    ),
    field(
        "prefix",
        Slot::Text(|draft| &mut draft.prefix),
        ZOOKEEPER,
        LOCKS | INSPECTION | OPERATIONS,
    ),
    field("of", Slot::Text(|draft| &mut draft.of), ZOOKEEPER, INSPECTION),
    field(
        "action",
        Slot::Text(|draft| &mut draft.action),
        ALL,
        LOCKS | INSPECTION,
    ),
    field(
        "node",
        Slot::Text(|draft| &mut draft.node),
        ALL,
        LOCKS | INSPECTION,
    ),
    field(
        "fence",
        Slot::Text(|draft| &mut draft.fence),
        ALL,
        LOCKS | INSPECTION,
    ),
];

/// The option with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static OptionSpec> {
    OPTIONS.iter().find(|option| option.name == name)
}

#[cfg_attr(
    not(feature = "docs"),
    expect(unused_variables, reason = "only the reference needs it")
)]
const fn option(name: &'static str, slot: Slot, servers: u8, kinds: u32, about: About) -> OptionSpec {
    OptionSpec {
        name,
        slot,
        servers,
        kinds,
        is_option: true,
        #[cfg(feature = "docs")]
        about,
    }
}

const fn field(name: &'static str, slot: Slot, servers: u8, kinds: u32) -> OptionSpec {
    OptionSpec {
        name,
        slot,
        servers,
        kinds,
        is_option: false,
        #[cfg(feature = "docs")]
        about: About {
            range: "",
            default: "",
            meaning: "",
        },
    }
}

impl OptionSpec {
    /// The name, as the core and most languages write it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The type of the value.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        self.slot.value_type()
    }

    /// Whether a user may set it for a lock of this kind on this server.
    #[must_use]
    pub const fn is_option_of(&self, server: Server, kind: Kind) -> bool {
        self.is_option && self.is_for(server, kind)
    }

    /// The texts of the reference.
    #[cfg(feature = "docs")]
    #[must_use]
    pub const fn about(&self) -> &About {
        &self.about
    }

    pub(super) const fn is_for(&self, server: Server, kind: Kind) -> bool {
        self.is_on(server) && self.kinds & kind.bit() != 0
    }

    pub(super) const fn is_on(&self, server: Server) -> bool {
        self.servers & server.bit() != 0
    }
}
