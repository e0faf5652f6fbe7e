//! Layouts: the names of contenders' nodes on the server, and the functions that parse them.
//!
//! | | `curator` | `kazoo` | `plain` |
//! |---|---|---|---|
//! | mutex | `_c_UUID-lock-N` | `HEX__lock__N` | prefix and `N` |
//! | reader | `_c_UUID-__READ__N` | `HEX__rlock__N` | – |
//! | writer | `_c_UUID-__WRIT__N` | `HEX__lock__N` | – |
//! | candidate | `_c_UUID-latch-N` | `HEX__lock__N` | prefix and `N` |
//! | permit | `_c_UUID-lease-N` | `HEX` | – |
//! | single | – | – | the lock's own name |
//!
//! `N` is the server's number. `UUID` and `HEX` are the attempt. The layout `plain` has the attempt in the node's data
//! instead.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, id::EncodedId, text};

use super::wire::CreateMode;

/// A contender's position in the sequence: the number at the end of its node's name. It is compared as a number and not
/// as text, because a comparison of whole names gives a wrong order (ZOOKEEPER-2931), and so do negative numbers as
/// text (ZOOKEEPER-4372).
pub(super) type Sequence = i32;

/// A contender with this number or a higher one never gets a lock. Since 3.6 the 32-bit counter stops at its end, and
/// the server then gives every new node the same number.
pub(super) const SEQUENCE_END: Sequence = Sequence::MAX - 1000;

/// The names and values that a lock writes on its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// The layout of Apache Curator. For the mutex, the Go and Rust clients use it, too.
    #[default]
    Curator,
    /// The layout of Kazoo.
    Kazoo,
    /// The layout of self-written locks: any prefix, followed by the server's number.
    Plain {
        /// The prefix.
        prefix: String,
    },
}

/// The kind of hold that a contender requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A mutex.
    Mutex,
    /// A read/write lock, shared with other readers.
    Reader,
    /// A read/write lock, exclusive.
    Writer,
    /// The leadership of an election, exclusive.
    Candidate,
    /// A lock that is a single node, without a queue: the contender that creates the node holds the lock.
    Single,
    /// One of a semaphore's permits.
    Permit {
        /// How many permits the semaphore has.
        permits: u32,
    },
}

/// A child of the lock's directory, as its name describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Child {
    Contender(Contender),
    /// Not a contender. Such a child cannot hold the lock, so contenders ignore it (CURATOR-43).
    Unrelated,
}

/// A contender, as the name of its node describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contender {
    pub(super) sequence: Sequence,
    /// Whether the contender shares the lock with other contenders that share it.
    pub(super) shared: bool,
    kind: Kind,
}

/// Groups of contenders. A contender recognises only contenders of its own group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    CuratorMutex,
    CuratorReadWrite,
    CuratorLatch,
    Kazoo,
    Plain,
}

/// The marks before the number. If a mark ends with a shorter mark, the longer mark comes first. The Go client and
/// older clients write `lock-` without a dash before it.
const MARKS: [(&str, Kind, bool); 6] = [
    ("__lock__", Kind::Kazoo, false),
    ("__rlock__", Kind::Kazoo, true),
    ("__READ__", Kind::CuratorReadWrite, true),
    ("__WRIT__", Kind::CuratorReadWrite, false),
    ("-latch-", Kind::CuratorLatch, false),
    ("lock-", Kind::CuratorMutex, false),
];

impl Layout {
    /// Parses a child's name from its end. That is fast, and a contender that joins a long queue parses thousands of
    /// names.
    pub(super) fn read(&self, child: &str) -> Child {
        if let Self::Plain { prefix } = self
            && let Some(number) = child.strip_prefix(prefix.as_str())
            && let Some(sequence) = sequence(number)
        {
            return Child::Contender(Contender {
                sequence,
                shared: false,
                kind: Kind::Plain,
            });
        }
        let digits = child.bytes().rev().take_while(u8::is_ascii_digit).count();
        let named = child.len().saturating_sub(digits);
        let named = child.get(..named).unwrap_or_default();
        // If a mark comes before the dash, the dash is the number's sign. No mark ends with two dashes.
        [Some(named), named.strip_suffix('-')]
            .into_iter()
            .flatten()
            .find_map(|named| {
                let (_, kind, shared) = MARKS.iter().find(|(mark, ..)| named.ends_with(mark))?;
                let sequence = sequence(child.get(named.len()..)?)?;
                Some(Child::Contender(Contender {
                    sequence,
                    shared: *shared,
                    kind: *kind,
                }))
            })
            .unwrap_or(Child::Unrelated)
    }

    /// The beginning of the names of an attempt's nodes, for any role. `None` for a layout whose names do not contain
    /// the attempt.
    pub(super) fn stem(&self, attempt: &AttemptId) -> Option<String> {
        let (before, after) = self.around()?;
        Some([before, self.encoded(attempt).as_str(), after].concat())
    }

    /// The texts before and after the attempt in a node's name. `None` for a layout whose names do not contain the
    /// attempt.
    const fn around(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Curator => Some(("_c_", "-")),
            Self::Kazoo => Some(("", "")),
            Self::Plain { .. } => None,
        }
    }

    fn encoded(&self, attempt: &AttemptId) -> EncodedId {
        attempt.encoded(*self == Self::Curator)
    }

    /// The parts of the name of an attempt's node, without the number that the server adds to sequential nodes.
    fn parts<'a>(&'a self, role: Role, attempt: &'a EncodedId) -> [&'a str; 4] {
        let mark = match (self, role) {
            (Self::Plain { prefix }, _) => prefix,
            (Self::Curator, Role::Mutex | Role::Single) => "lock-",
            (Self::Curator, Role::Reader) => "__READ__",
            (Self::Curator, Role::Writer) => "__WRIT__",
            (Self::Curator, Role::Candidate) => "latch-",
            (Self::Curator, Role::Permit { .. }) => "lease-",
            (Self::Kazoo, Role::Mutex | Role::Writer | Role::Candidate | Role::Single) => "__lock__",
            (Self::Kazoo, Role::Reader) => "__rlock__",
            (Self::Kazoo, Role::Permit { .. }) => "",
        };
        match self.around() {
            Some((before, after)) => [before, attempt.as_str(), after, mark],
            None => ["", "", "", mark],
        }
    }

    /// The path of an attempt's node, without the number that the server adds to sequential nodes.
    pub(super) fn path(&self, directory: &str, role: Role, attempt: &AttemptId) -> String {
        let encoded = self.encoded(attempt);
        let [before, attempt, after, mark] = self.parts(role, &encoded);
        [directory, "/", before, attempt, after, mark].concat()
    }

    /// The rest of a node's name after the attempt and the mark, if the node belongs to the attempt.
    fn number<'a>(&self, role: Role, attempt: &EncodedId, node: &'a str) -> Option<&'a str> {
        let parts = self.parts(role, attempt);
        parts.iter().try_fold(node, |rest, part| rest.strip_prefix(part))
    }

    /// The name of a writer's node after its downgrade to a reader. The node keeps the number, and so the writer's
    /// place in the queue.
    pub(super) fn downgraded(&self, attempt: &AttemptId, writer: &str) -> Option<String> {
        let encoded = self.encoded(attempt);
        let number = self.number(Role::Writer, &encoded, writer)?;
        let [before, attempt, after, mark] = self.parts(Role::Reader, &encoded);
        Some([before, attempt, after, mark, number].concat())
    }

    /// Whether a node that was created for the attempt could have this name.
    pub(super) fn names(&self, role: Role, attempt: &AttemptId, node: &str) -> bool {
        let number = self.number(role, &self.encoded(attempt), node);
        number.is_some_and(|number| match self.mode(role) {
            CreateMode::EphemeralSequential => sequence(number).is_some(),
            _ => number.is_empty(),
        })
    }

    /// Whether the client, after a create without a reply, can find the node by its name and keep it. Otherwise the
    /// client deletes the node.
    pub(super) const fn recovers(&self, role: Role) -> bool {
        matches!(
            (self, role),
            (Self::Curator, _)
                | (Self::Plain { .. }, Role::Single)
                | (
                    Self::Kazoo,
                    Role::Mutex | Role::Reader | Role::Writer | Role::Candidate
                )
        )
    }

    /// The mode of the node's create.
    pub(super) const fn mode(&self, role: Role) -> CreateMode {
        match (self, role) {
            (Self::Kazoo, Role::Permit { .. }) | (_, Role::Single) => CreateMode::Ephemeral,
            _ => CreateMode::EphemeralSequential,
        }
    }

    /// The node's data.
    pub(super) fn data(&self, attempt: &AttemptId, identifier: Option<&str>) -> Vec<u8> {
        match (self, identifier) {
            (Self::Plain { .. }, Some(identifier)) => [&attempt.text(), " ", identifier].concat().into(),
            (_, Some(identifier)) => identifier.into(),
            (_, None) => attempt.text().into(),
        }
    }

    /// The identifier in a node's data, without the attempt that the layout `plain` writes before it.
    pub(super) fn identifier<'a>(&self, data: &'a [u8]) -> &'a [u8] {
        match self {
            Self::Plain { .. } => data
                .iter()
                .position(|byte| *byte == b' ')
                .and_then(|space| data.get(space.saturating_add(1)..))
                .unwrap_or(data),
            Self::Curator | Self::Kazoo => data,
        }
    }

    /// The kebab-case name.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Curator => "curator",
            Self::Kazoo => "kazoo",
            Self::Plain { .. } => "plain",
        }
    }
}

impl Contender {
    /// Whether the two contenders are foreign to each other: neither recognises the other.
    pub(super) fn is_foreign_to(self, other: Self) -> bool {
        self.kind != other.kind
    }

    /// Whether this contender's node may be replaced by a reader's node with the same number, as in a writer's
    /// downgrade (CURATOR-621). In Kazoo's layout a mutex, a candidate and a writer have the same name, so each of them
    /// may be a writer.
    pub(super) const fn may_downgrade(self) -> bool {
        let writes = match self.kind {
            Kind::CuratorReadWrite | Kind::Kazoo => true,
            Kind::CuratorMutex | Kind::CuratorLatch | Kind::Plain => false,
        };
        writes && !self.shared
    }
}

/// The number in the text, if the text is a number. A server pads the number to ten characters, including the sign. So
/// after the counter has wrapped, the text has a sign and nine digits.
fn sequence(written: &str) -> Option<Sequence> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    // The conversion below rejects every other error, but would accept a second sign.
    let plausible = digits.len() >= 9 && digits.starts_with(|letter: char| letter.is_ascii_digit());
    if !plausible {
        return None;
    }
    text::whole(written)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContenderId;

    fn number(child: &str) -> Option<Sequence> {
        match Layout::Curator.read(child) {
            Child::Contender(contender) => Some(contender.sequence),
            Child::Unrelated => None,
        }
    }

    #[test]
    fn children_are_read_by_their_number() {
        for (child, sequence) in [
            ("_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000012", 12),
            ("lock-0000000000", 0),
            ("_c_x-lock--000000003", -3),
            ("_c_x-lock--2147483648", i32::MIN),
            ("_c_x-lock-2147483647", i32::MAX),
            ("a__lock__0000000001", 1),
            ("_c_x-__READ__0000000001", 1),
            ("_c_x-latch-0000000007", 7),
            ("x__lock__-lock-0000000008", 8),
            ("lock-0000000001__rlock__-000000009", -9),
        ] {
            assert_eq!(number(child), Some(sequence), "{child}");
        }
        for unrelated in [
            "",
            "notes",
            "lock-",
            "lock-12",
            "_c_x-lock-00000000xx",
            "lock-99999999999",
            "__lock__",
            "0000000001",
            "-0000000001",
            "lock---0000000001",
            "ü0000000001",
            "node_0000000001",
        ] {
            assert_eq!(number(unrelated), None, "{unrelated}");
        }
    }

    #[test]
    fn layouts_that_do_not_recognise_each_other_are_foreign() {
        let plain = Layout::Plain {
            prefix: "node_".into(),
        };
        let read = |child: &str| match plain.read(child) {
            Child::Contender(contender) => contender,
            Child::Unrelated => panic!("{child}"),
        };
        let (own, latch) = (read("node_0000000001"), read("_c_x-latch-0000000001"));
        assert!(own.is_foreign_to(latch));
        assert!(!own.is_foreign_to(read("node_0000000002")));
        assert!(!read("a__lock__0000000001").is_foreign_to(read("b__rlock__0000000001")));
        assert!(read("a__lock__0000000001").is_foreign_to(read("_c_x-lock-0000000001")));
        for (child, may) in [
            ("_c_x-__WRIT__0000000001", true),
            ("_c_x-__READ__0000000001", false),
            ("_c_x-lock-0000000001", false),
            ("a__lock__0000000001", true),
            ("a__rlock__0000000001", false),
        ] {
            assert_eq!(read(child).may_downgrade(), may, "{child}");
        }
    }

    #[test]
    fn an_attempt_names_its_nodes_as_its_peers_do() {
        let attempt = AttemptId {
            contender: ContenderId([0xff; 16]),
            number: 2,
        };
        let path = Layout::Curator.path("/a", Role::Mutex, &attempt);
        assert_eq!(path, "/a/_c_00000000-0000-0000-0000-000000000001-lock-");
        assert_eq!(path.len(), "/a/".len() + 39 + "-lock-".len());
        let reader = Layout::Kazoo.path("/a", Role::Reader, &attempt);
        assert_eq!(reader, "/a/00000000000000000000000000000001__rlock__");
    }

    #[test]
    fn a_layout_has_the_name_that_settings_use() {
        let prefix = "n-".into();
        let layouts = [Layout::Curator, Layout::Kazoo, Layout::Plain { prefix }];
        assert_eq!(
            layouts.map(|layout| layout.as_str()),
            ["curator", "kazoo", "plain"]
        );
    }
}
