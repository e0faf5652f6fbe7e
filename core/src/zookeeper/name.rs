//! Names in a tree: which paths a server takes, and how a contender's node is called.

use alloc::{format, string::String, vec::Vec};

use crate::{AttemptId, ConfigError};

/// Where a contender stands in the sequence is told by the number at the end of its node's name, read as a number
/// and not as text: whole names sort wrongly (ZOOKEEPER-2931), and so do signs (ZOOKEEPER-4372).
pub(super) type Sequence = i32;

/// From here to the end of the 32-bit sequence nobody is granted anything: since 3.6 the counter sticks at its
/// end, and hands the same number to everybody.
pub(super) const SEQUENCE_END: Sequence = Sequence::MAX - 1000;

/// What the name of a child says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Child {
    /// A contender that orders itself as we do.
    Contender(Sequence),
    /// A contender of a layout that cannot see ours.
    Stranger,
    /// No contender at all: ignored, it cannot hold the lock (CURATOR-43).
    Bystander,
}

/// Marks of contenders that do not look for ours: Kazoo's locks, Curator's read/write locks and latches.
const STRANGERS: [&str; 5] = ["__lock__", "__rlock__", "__READ__", "__WRIT__", "-latch-"];

/// Reads a child's name by the layout `curator`: the number after the last `lock-`, which Curator, the Go client and
/// the Rust client share.
pub(super) fn read(child: &str) -> Child {
    if let Some((_, number)) = child.rsplit_once("lock-")
        && let Some(sequence) = sequence(number)
    {
        return Child::Contender(sequence);
    }
    let stranger = STRANGERS.iter().any(|mark| {
        child
            .rsplit_once(mark)
            .is_some_and(|(_, number)| sequence(number).is_some())
    });
    if stranger {
        Child::Stranger
    } else {
        Child::Bystander
    }
}

/// A server pads to ten characters, sign included; a wrapped counter gives nine digits and a sign.
fn sequence(text: &str) -> Option<Sequence> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plausible = digits.len() >= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plausible { text.parse().ok() } else { None }
}

/// What the names of an attempt's own nodes begin with: Curator's protection prefix.
pub(super) fn own_prefix(attempt: &AttemptId) -> String {
    format!("_c_{}-lock-", attempt.uuid())
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path of a child.
pub(super) fn child_of(directory: &str, name: &str) -> String {
    format!("{directory}/{name}")
}

/// All ancestors of a node in the directory, the outermost first, the directory itself last.
pub(super) fn ancestors(directory: &str) -> Vec<String> {
    directory
        .char_indices()
        .skip(1)
        .filter(|(_, letter)| *letter == '/')
        .filter_map(|(at, _)| directory.get(..at))
        .chain([directory])
        .map(String::from)
        .collect()
}

/// The directory of a lock: prefix and name joined, checked by the server's own rules (`PathUtils.validatePath`).
pub(super) fn directory(prefix: &str, name: &str) -> Result<String, ConfigError> {
    let bare = name.strip_prefix('/').unwrap_or(name);
    if bare.is_empty() {
        return Err(ConfigError::EmptyName);
    }
    let path = match prefix.trim_matches('/') {
        "" => format!("/{bare}"),
        prefix => format!("/{prefix}/{bare}"),
    };
    let invalid = |why| {
        Err(ConfigError::InvalidName {
            name: name.into(),
            why,
        })
    };
    if path.split('/').skip(1).any(str::is_empty) {
        return invalid(
            "ZooKeeper takes no empty part in a path: remove the slash at the end, or the doubled one",
        );
    }
    if path.split('/').any(|part| part == "." || part == "..") {
        return invalid("ZooKeeper takes no relative path: remove the parts \".\" and \"..\"");
    }
    if path.split('/').nth(1) == Some("zookeeper") {
        return invalid("ZooKeeper keeps /zookeeper for itself: take another name or prefix");
    }
    if path.chars().any(refused) {
        return invalid("ZooKeeper takes no NUL, control or private-use characters in a path: remove them");
    }
    if path.len() > MAX_PATH {
        return invalid(
            "it is longer than 4096 bytes, prefix included: take a shorter one, such as a hash of it",
        );
    }
    Ok(path)
}

const MAX_PATH: usize = 4096;

const fn refused(letter: char) -> bool {
    matches!(letter, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnerId;

    #[test]
    fn children_are_read_by_their_number() {
        assert_eq!(
            read("_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000012"),
            Child::Contender(12)
        );
        assert_eq!(read("lock-0000000000"), Child::Contender(0));
        assert_eq!(read("_c_x-lock--000000003"), Child::Contender(-3));
        assert_eq!(read("_c_x-lock--2147483648"), Child::Contender(i32::MIN));
        assert_eq!(read("_c_x-lock-2147483647"), Child::Contender(i32::MAX));
        assert_eq!(read("a__lock__0000000001"), Child::Stranger);
        assert_eq!(read("_c_x-__READ__0000000001"), Child::Stranger);
        for bystander in [
            "",
            "notes",
            "lock-",
            "lock-12",
            "_c_x-lock-00000000xx",
            "lock-99999999999",
            "__lock__",
        ] {
            assert_eq!(read(bystander), Child::Bystander, "{bystander}");
        }
    }

    #[test]
    fn an_attempt_names_its_nodes_as_curator_does() {
        let attempt = AttemptId {
            owner: OwnerId([0xff; 16]),
            number: 2,
        };
        assert_eq!(
            own_prefix(&attempt),
            "_c_00000000-0000-0000-0000-000000000001-lock-"
        );
        assert_eq!(own_prefix(&attempt).len(), 39 + "-lock-".len());
    }

    #[test]
    fn paths_obey_the_server() {
        assert_eq!(directory("", "stock/42").unwrap(), "/stock/42");
        assert_eq!(directory("/shop/", "/stock").unwrap(), "/shop/stock");
        assert_eq!(directory("/", "").unwrap_err().name(), "empty-name");
        for name in ["a/", "a//b", "..", "a/./b", "a\0b", "zookeeper/x", "a\u{f000}"] {
            assert_eq!(
                directory("", name).unwrap_err().name(),
                "invalid-name",
                "{name:?}"
            );
        }
        assert_eq!(ancestors("/a/bc/d"), ["/a", "/a/bc", "/a/bc/d"]);
    }
}
