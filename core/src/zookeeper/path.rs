//! Paths: checks whether a server accepts them, and joins their parts.

use alloc::{string::String, vec::Vec};

use crate::{ConfigError, text};

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    text::split_last(path, b'/').map_or(path, |(_, name)| name)
}

/// The path of a child.
pub(super) fn child_of(directory: &str, name: &str) -> String {
    [directory, "/", name].concat()
}

/// All ancestors of a node in the directory, the outermost first. The last one is the directory itself.
pub(super) fn ancestors(directory: &str) -> Vec<String> {
    directory
        .bytes()
        .enumerate()
        .skip(1)
        .filter(|(_, letter)| *letter == b'/')
        .filter_map(|(at, _)| directory.get(..at))
        .chain([directory])
        // A single node directly below the root has no directory to create.
        .filter(|ancestor| !ancestor.is_empty())
        .map(String::from)
        .collect()
}

/// The directory of a lock: prefix and name joined. The path must be valid by the server's own rules
/// (`PathUtils.validatePath`).
pub(super) fn directory(prefix: &str, name: &str) -> Result<String, ConfigError> {
    let bare = name.strip_prefix('/').unwrap_or(name);
    if bare.is_empty() {
        return Err(ConfigError::EmptyName);
    }
    let prefix = text::without_last(prefix, '/');
    let path = match prefix.trim_start_matches('/') {
        "" => ["/", bare].concat(),
        prefix => ["/", prefix, "/", bare].concat(),
    };
    let invalid = |why| {
        Err(ConfigError::InvalidName {
            name: name.into(),
            why,
        })
    };
    if text::parts(&path, b'/').skip(1).any(str::is_empty) {
        return invalid(
            "ZooKeeper accepts no empty part in a path: remove the slash at the end, or the doubled slash",
        );
    }
    if text::parts(&path, b'/').any(|part| part == "." || part == "..") {
        return invalid("ZooKeeper accepts no relative path: remove the parts \".\" and \"..\"");
    }
    if text::parts(&path, b'/').nth(1) == Some("zookeeper") {
        return invalid("ZooKeeper reserves /zookeeper: use another name or prefix");
    }
    if path.chars().any(refused) {
        return invalid(
            "ZooKeeper accepts no NUL, control or private-use characters in a path, and none above U+FFFF (emoji, for example): remove them",
        );
    }
    if path.len() > MAX_PATH {
        return invalid(
            "it is longer than 4096 bytes, prefix included: take a shorter one, such as a hash of it",
        );
    }
    Ok(path)
}

/// Checks the prefix of the nodes' names.
pub(super) fn check_part(part: &str) -> Result<(), ConfigError> {
    let invalid = |why| {
        Err(ConfigError::InvalidOption {
            option: "node_prefix",
            value: part.into(),
            why,
        })
    };
    if part.is_empty() {
        return invalid(
            "the prefix distinguishes contenders from other children, so it must not be empty: use \"node_\", for example",
        );
    }
    if text::has(part, b'/') || part.chars().any(refused) {
        return invalid(
            "ZooKeeper accepts no slash, NUL, control or private-use characters in a node's name, and none above U+FFFF (emoji, for example): remove them",
        );
    }
    Ok(())
}

const MAX_PATH: usize = 4096;

/// A server checks a path in UTF-16 and accepts no surrogates. So no character above U+FFFF is valid.
const fn refused(letter: char) -> bool {
    matches!(letter, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..=char::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_obey_the_server() {
        assert_eq!(directory("", "stock/42").unwrap(), "/stock/42");
        assert_eq!(directory("/shop/", "/stock").unwrap(), "/shop/stock");
        assert_eq!(directory("/", "").unwrap_err().name(), "empty-name");
        for name in [
            "a/",
            "a//b",
            "..",
            "a/./b",
            "a\0b",
            "zookeeper/x",
            "a\u{f000}",
            "a/\u{1f512}",
            "\u{10000}",
        ] {
            assert_eq!(
                directory("", name).unwrap_err().name(),
                "invalid-name",
                "{name:?}"
            );
        }
        assert_eq!(ancestors("/a/bc/d"), ["/a", "/a/bc", "/a/bc/d"]);
    }
}
