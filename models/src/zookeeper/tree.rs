//! The tree of nodes.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    sorted::SortedMap,
    text::decimal,
    zookeeper::{Stat, code},
};

const BAD_ARGUMENTS: i32 = -8;

/// A sequence number has ten digits.
const ZEROS: &str = "0000000000";

/// When a change happens: its transaction, and the leader's wall clock in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct At {
    pub(super) zxid: i64,
    pub(super) time: i64,
}

impl At {
    /// For a change that is undone.
    pub(super) const UNDONE: Self = Self { zxid: 0, time: 0 };
}

/// How long a node exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Persistent,
    Container,
    /// Until this session ends.
    Ephemeral(i64),
}

impl Kind {
    /// The owner as in a node's stat.
    const fn owner(self) -> i64 {
        match self {
            Self::Persistent | Self::Container => 0,
            Self::Ephemeral(session) => session,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tree {
    /// The nodes by path. The root's path is empty.
    nodes: SortedMap<String, Node>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    data: Vec<u8>,
    stat: Stat,
    kind: Kind,
    /// The number of children that were ever created, which is the next sequence number.
    creates: i32,
    children: usize,
    /// The transaction that last changed the children.
    children_changed: i64,
}

impl Node {
    const fn new(data: Vec<u8>, kind: Kind, at: At) -> Self {
        Self {
            data,
            stat: Stat {
                czxid: at.zxid,
                mzxid: at.zxid,
                ephemeral_owner: kind.owner(),
                version: 0,
                created: at.time,
                modified: at.time,
            },
            kind,
            creates: 0,
            children: 0,
            children_changed: at.zxid,
        }
    }

    /// The session that owns the node.
    const fn session(&self) -> Option<i64> {
        match self.kind {
            Kind::Ephemeral(session) => Some(session),
            Kind::Persistent | Kind::Container => None,
        }
    }
}

/// The state that a write changes: a node, and the counts in its parent.
#[derive(Debug)]
pub(super) struct Before {
    path: String,
    node: Option<Node>,
    parent: Option<(i32, usize, i64)>,
}

impl Default for Tree {
    fn default() -> Self {
        let mut nodes = SortedMap::new();
        nodes.insert(String::new(), Node::new(Vec::new(), Kind::Persistent, At::UNDONE));
        Self { nodes }
    }
}

/// The path of a node's parent, in the form that clients use.
pub(super) fn parent_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

impl Tree {
    /// Checks whether a node may be created; returns its path, with the sequence number if it is sequential.
    pub(super) fn may_create(&self, path: &str, sequential: bool) -> Result<String, i32> {
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Err(BAD_ARGUMENTS);
        };
        if name.is_empty() && !sequential {
            return Err(BAD_ARGUMENTS);
        }
        let parent = self.nodes.get(parent).ok_or(code::NO_NODE)?;
        let path = if sequential {
            let digits = decimal(parent.creates);
            [path, ZEROS.get(digits.len()..).unwrap_or_default(), &digits].concat()
        } else {
            String::from(path)
        };
        if self.nodes.contains_key(&path) {
            return Err(code::NODE_EXISTS);
        }
        if matches!(parent.kind, Kind::Ephemeral(_)) {
            return Err(code::NO_CHILDREN_FOR_EPHEMERALS);
        }
        Ok(path)
    }

    pub(super) fn may_delete(&self, path: &str, version: Option<i32>) -> Result<(), i32> {
        self.may_set(path, version)?;
        match self.node(path) {
            Some(node) if node.children > 0 => Err(code::NOT_EMPTY),
            _ => Ok(()),
        }
    }

    pub(super) fn may_set(&self, path: &str, version: Option<i32>) -> Result<(), i32> {
        let node = self.node(path).ok_or(code::NO_NODE)?;
        match version {
            Some(version) if version != node.stat.version => Err(code::BAD_VERSION),
            _ => Ok(()),
        }
    }

    pub(super) fn create(&mut self, path: &str, data: Vec<u8>, kind: Kind, at: At) {
        self.nodes.insert(path.into(), Node::new(data, kind, at));
        // The count stops at its maximum, as on the real server since 3.6 (ZOOKEEPER-3249).
        self.change_parent(path, at, |parent| {
            parent.creates = parent.creates.saturating_add(1);
            parent.children += 1;
        });
    }

    pub(super) fn delete(&mut self, path: &str, at: At) {
        if self.nodes.remove(path).is_some() {
            self.change_parent(path, at, |parent| parent.children -= 1);
        }
    }

    /// Saves the state before a node is created, changed or deleted.
    pub(super) fn before(&self, path: &str) -> Before {
        let parent = self.nodes.get(parent_key(path));
        Before {
            path: path.into(),
            node: self.nodes.get(path).cloned(),
            parent: parent.map(|parent| (parent.creates, parent.children, parent.children_changed)),
        }
    }

    /// Restores the state that `before` saved.
    pub(super) fn take_back(&mut self, before: Before) {
        if let (Some(parent), Some((creates, children, changed))) =
            (self.nodes.get_mut(parent_key(&before.path)), before.parent)
        {
            (parent.creates, parent.children, parent.children_changed) = (creates, children, changed);
        }
        match before.node {
            Some(node) => drop(self.nodes.insert(before.path, node)),
            None => drop(self.nodes.remove(before.path.as_str())),
        }
    }

    pub(super) fn set(&mut self, path: &str, data: Vec<u8>, at: At) {
        if let Some(node) = self.nodes.get_mut(key(path)) {
            node.data = data;
            node.stat.version = node.stat.version.wrapping_add(1);
            node.stat.mzxid = at.zxid;
            node.stat.modified = at.time;
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<(&[u8], Stat)> {
        self.node(path).map(|node| (node.data.as_slice(), node.stat))
    }

    /// The transactions that last changed a node's data and its children.
    pub(super) fn changes(&self, path: &str) -> Option<(i64, i64)> {
        self.node(path)
            .map(|node| (node.stat.mzxid, node.children_changed))
    }

    /// The session that owns a node.
    pub(super) fn owner(&self, path: &str) -> Option<i64> {
        self.node(path)?.session()
    }

    pub(super) fn children(&self, path: &str) -> Option<Vec<String>> {
        let path = key(path);
        let children = self.nodes.get(path)?.children;
        let mut names = Vec::with_capacity(children);
        let below = self.nodes.iter_from(path);
        let below = below.map_while(|(child, _)| child.strip_prefix(path));
        // A sibling with a longer name has no slash at this position. A deeper node has a second slash.
        let below = below.filter_map(|name| name.strip_prefix('/'));
        let names_below = below.filter(|name| !name.is_empty() && !name.as_bytes().contains(&b'/'));
        names.extend(names_below.map(String::from).take(children));
        Some(names)
    }

    /// All nodes: each with its stat, and the session that owns it.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, Stat, Option<i64>)> {
        let nodes = self.nodes.iter();
        nodes.map(|(path, node)| (path.as_str(), node.stat, node.session()))
    }

    /// The ephemeral nodes: each with its data and its session.
    pub(super) fn owned(&self) -> impl Iterator<Item = (&str, &[u8], i64)> {
        let nodes = self.nodes.iter();
        nodes.filter_map(|(path, node)| Some((path.as_str(), node.data.as_slice(), node.session()?)))
    }

    pub(super) fn ephemerals(&self, session: i64) -> Vec<String> {
        let own = self
            .nodes
            .iter()
            .filter(|(_, node)| node.kind == Kind::Ephemeral(session));
        own.map(|(path, _)| path.clone()).collect()
    }

    pub(super) fn empty_container(&self) -> Option<String> {
        let empty = |node: &Node| node.kind == Kind::Container && node.children == 0 && node.creates > 0;
        self.nodes
            .iter()
            .find(|(_, node)| empty(node))
            .map(|(path, _)| path.clone())
    }

    fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(key(path))
    }

    fn change_parent(&mut self, path: &str, at: At, change: impl FnOnce(&mut Node)) {
        if let Some(parent) = self.nodes.get_mut(parent_key(path)) {
            parent.children_changed = at.zxid;
            change(parent);
        }
    }
}

/// The key of a node's parent in `nodes`.
fn parent_key(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The key in `nodes` of a node with this path.
fn key(path: &str) -> &str {
    if path == "/" { "" } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(zxid: i64) -> At {
        At { zxid, time: 0 }
    }

    #[test]
    fn a_sequence_counts_every_create_below_its_parent() {
        let mut tree = Tree::default();
        tree.create("/a", Vec::new(), Kind::Container, at(1));
        tree.create("/a/x", Vec::new(), Kind::Persistent, at(2));
        let path = tree.may_create("/a/n-", true).unwrap();
        assert_eq!(path, "/a/n-0000000001");
        tree.create(&path, Vec::new(), Kind::Ephemeral(7), at(3));
        assert_eq!(tree.children("/a").unwrap(), ["n-0000000001", "x"]);
        assert_eq!(tree.ephemerals(7), ["/a/n-0000000001"]);
        assert_eq!(tree.may_delete("/a", None), Err(code::NOT_EMPTY));
        assert_eq!(tree.may_create("/b/c", false), Err(code::NO_NODE));
        assert_eq!(tree.children("/").unwrap(), ["a"]);
    }

    #[test]
    fn a_sequence_sticks_at_its_end() {
        let mut tree = Tree::default();
        tree.nodes.get_mut("").unwrap().creates = i32::MAX;
        tree.create("/x", Vec::new(), Kind::Persistent, at(1));
        assert_eq!(tree.may_create("/n-", true).unwrap(), "/n-2147483647");
    }
}
