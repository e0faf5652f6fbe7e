//! Layouts: how contenders are called on the server, and what their names say.
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
//! `N` is the server's number. `UUID` and `HEX` are the attempt; in the layout `plain` it stands in the node's data instead.

use alloc::{string::String, vec::Vec};

use crate::{AttemptId, id::Letters, text};

use super::wire::CreateMode;

/// Where a contender stands in the sequence is told by the number at the end of its node's name, read as a number
/// and not as text: whole names sort wrongly (ZOOKEEPER-2931), and so do signs (ZOOKEEPER-4372).
pub(super) type Sequence = i32;

/// From here to the end of the 32-bit sequence nobody is granted anything: since 3.6 the counter sticks at its
/// end, and hands the same number to everybody.
pub(super) const SEQUENCE_END: Sequence = Sequence::MAX - 1000;

/// The names and values that a lock writes on its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Apache Curator's, which the Go and Rust clients share for the mutex.
    #[default]
    Curator,
    /// Kazoo's.
    Kazoo,
    /// What home-made locks write: any prefix with the server's number behind it.
    Plain {
        /// The prefix.
        prefix: String,
    },
}

/// What a contender wants to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A mutex.
    Mutex,
    /// A read/write lock, together with other readers.
    Reader,
    /// A read/write lock, alone.
    Writer,
    /// An election, alone.
    Candidate,
    /// A single node that is the lock, without a line: whoever creates it holds it.
    Single,
    /// One of a semaphore's permits.
    Permit {
        /// How many there are.
        permits: u32,
    },
}

/// What the name of a child says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Child {
    Contender(Contender),
    /// No contender at all: ignored, it cannot hold the lock (CURATOR-43).
    Bystander,
}

/// What the name of a contender says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contender {
    pub(super) sequence: Sequence,
    /// Whether it shares the lock with others of its kind.
    pub(super) shared: bool,
    kind: Kind,
}

/// Contenders that look for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    CuratorMutex,
    CuratorReadWrite,
    CuratorLatch,
    Kazoo,
    Plain,
}

/// The marks before the number, longer ones before those they end in. `lock-` without a dash is the Go client's and older ones'.
const MARKS: [(&str, Kind, bool); 6] = [
    ("__lock__", Kind::Kazoo, false),
    ("__rlock__", Kind::Kazoo, true),
    ("__READ__", Kind::CuratorReadWrite, true),
    ("__WRIT__", Kind::CuratorReadWrite, false),
    ("-latch-", Kind::CuratorLatch, false),
    ("lock-", Kind::CuratorMutex, false),
];

impl Layout {
    /// Reads a child's name, from its end: whoever joins a long line reads thousands of them.
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
        // A sign belongs to the number where a mark stands before it; no mark ends with two dashes.
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
            .unwrap_or(Child::Bystander)
    }

    /// What the names of an attempt's nodes begin with, whatever it wants to hold; `None` where names do not say whose they are.
    pub(super) fn stem(&self, attempt: &AttemptId) -> Option<String> {
        let (before, after) = self.around()?;
        Some([before, self.letters(attempt).as_str(), after].concat())
    }

    /// What stands before and behind an attempt in the name of its node; `None` where it does not stand there.
    const fn around(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Curator => Some(("_c_", "-")),
            Self::Kazoo => Some(("", "")),
            Self::Plain { .. } => None,
        }
    }

    fn letters(&self, attempt: &AttemptId) -> Letters {
        attempt.letters(*self == Self::Curator)
    }

    /// What the name of an attempt's node is made of, before the server's number is added, if one is.
    fn parts<'a>(&'a self, role: Role, attempt: &'a Letters) -> [&'a str; 4] {
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

    /// The path of an attempt's node before the server's number is added, if one is.
    pub(super) fn path(&self, directory: &str, role: Role, attempt: &AttemptId) -> String {
        let letters = self.letters(attempt);
        let [before, attempt, after, mark] = self.parts(role, &letters);
        [directory, "/", before, attempt, after, mark].concat()
    }

    /// What comes behind an attempt in the name of a node, if it is one of its own.
    fn number<'a>(&self, role: Role, attempt: &Letters, node: &'a str) -> Option<&'a str> {
        let parts = self.parts(role, attempt);
        parts.iter().try_fold(node, |rest, part| rest.strip_prefix(part))
    }

    /// What the node of a writer is called when it has turned into a reader: the writer's place in the line is kept by its number.
    pub(super) fn downgraded(&self, attempt: &AttemptId, writer: &str) -> Option<String> {
        let letters = self.letters(attempt);
        let number = self.number(Role::Writer, &letters, writer)?;
        let [before, attempt, after, mark] = self.parts(Role::Reader, &letters);
        Some([before, attempt, after, mark, number].concat())
    }

    /// Whether a node that was made for an attempt could be called so.
    pub(super) fn names(&self, role: Role, attempt: &AttemptId, node: &str) -> bool {
        let number = self.number(role, &self.letters(attempt), node);
        number.is_some_and(|number| match self.mode(role) {
            CreateMode::EphemeralSequential => sequence(number).is_some(),
            _ => number.is_empty(),
        })
    }

    /// Whether a node whose create was never answered can be found by its name and kept. Otherwise it is deleted.
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

    /// How the node is made.
    pub(super) const fn mode(&self, role: Role) -> CreateMode {
        match (self, role) {
            (Self::Kazoo, Role::Permit { .. }) | (_, Role::Single) => CreateMode::Ephemeral,
            _ => CreateMode::EphemeralSequential,
        }
    }

    /// What the node holds.
    pub(super) fn data(&self, attempt: &AttemptId, identifier: Option<&str>) -> Vec<u8> {
        match (self, identifier) {
            (Self::Plain { .. }, Some(identifier)) => [&attempt.text(), " ", identifier].concat().into(),
            (_, Some(identifier)) => identifier.into(),
            (_, None) => attempt.text().into(),
        }
    }

    /// What somebody has said of a contender in its node, without what we add.
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
    /// Whether the two do not look for each other.
    pub(super) fn is_strange_to(self, other: Self) -> bool {
        self.kind != other.kind
    }

    /// Whether this may leave a reader with its own number behind, if it is a writer (Curator's downgrade, CURATOR-621). In Kazoo's layout a
    /// mutex, a candidate and a writer have one name: every one of them may be a writer.
    pub(super) const fn may_downgrade(self) -> bool {
        let writes = match self.kind {
            Kind::CuratorReadWrite | Kind::Kazoo => true,
            Kind::CuratorMutex | Kind::CuratorLatch | Kind::Plain => false,
        };
        writes && !self.shared
    }
}

/// A server pads to ten characters, sign included; a wrapped counter gives nine digits and a sign.
fn sequence(written: &str) -> Option<Sequence> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    // A second sign is the one thing that parsing would let through.
    let plausible = digits.len() >= 9 && digits.starts_with(|letter: char| letter.is_ascii_digit());
    if !plausible {
        return None;
    }
    text::whole(written)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnerId;

    fn number(child: &str) -> Option<Sequence> {
        match Layout::Curator.read(child) {
            Child::Contender(contender) => Some(contender.sequence),
            Child::Bystander => None,
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
        for bystander in [
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
            assert_eq!(number(bystander), None, "{bystander}");
        }
    }

    #[test]
    fn layouts_that_do_not_look_for_each_other_are_strangers() {
        let plain = Layout::Plain {
            prefix: "node_".into(),
        };
        let read = |child: &str| match plain.read(child) {
            Child::Contender(contender) => contender,
            Child::Bystander => panic!("{child}"),
        };
        let (own, latch) = (read("node_0000000001"), read("_c_x-latch-0000000001"));
        assert!(own.is_strange_to(latch));
        assert!(!own.is_strange_to(read("node_0000000002")));
        assert!(!read("a__lock__0000000001").is_strange_to(read("b__rlock__0000000001")));
        assert!(read("a__lock__0000000001").is_strange_to(read("_c_x-lock-0000000001")));
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
            owner: OwnerId([0xff; 16]),
            number: 2,
        };
        let path = Layout::Curator.path("/a", Role::Mutex, &attempt);
        assert_eq!(path, "/a/_c_00000000-0000-0000-0000-000000000001-lock-");
        assert_eq!(path.len(), "/a/".len() + 39 + "-lock-".len());
        let reader = Layout::Kazoo.path("/a", Role::Reader, &attempt);
        assert_eq!(reader, "/a/00000000000000000000000000000001__rlock__");
    }
}
