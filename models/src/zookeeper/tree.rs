//! The tree of nodes.

use alloc::{format, string::String, vec::Vec};

use fencepost_core::{
    sorted::SortedMap,
    zookeeper::{CreateMode, Stat, code},
};

const NOT_EMPTY: i32 = -111;
const BAD_ARGUMENTS: i32 = -8;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tree {
    /// All nodes but the root, by path.
    nodes: SortedMap<String, Node>,
    /// Creates below the root.
    root_creates: i32,
    zxid: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    data: Vec<u8>,
    stat: Stat,
    container: bool,
    /// How many children have ever been created: the next number of a sequence.
    creates: i32,
    children: usize,
}

impl Tree {
    pub(super) fn create(
        &mut self,
        path: &str,
        data: Vec<u8>,
        mode: CreateMode,
        session: i64,
    ) -> Result<(String, i64), i32> {
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Err(BAD_ARGUMENTS);
        };
        if name.is_empty() && mode != CreateMode::EphemeralSequential {
            return Err(BAD_ARGUMENTS);
        }
        let creates = self.creates_below(parent)?;
        let (path, ephemeral_owner) = match mode {
            CreateMode::EphemeralSequential => (format!("{path}{creates:010}"), session),
            _ => (String::from(path), 0),
        };
        if self.nodes.contains_key(&path) {
            return Err(code::NODE_EXISTS);
        }
        self.zxid += 1;
        let stat = Stat {
            czxid: self.zxid,
            ephemeral_owner,
            version: 0,
        };
        let container = mode == CreateMode::Container;
        self.nodes.insert(
            path.clone(),
            Node {
                data,
                stat,
                container,
                creates: 0,
                children: 0,
            },
        );
        self.count(parent, 1);
        Ok((path, self.zxid))
    }

    pub(super) fn delete(&mut self, path: &str) -> Result<(), i32> {
        let node = self.nodes.get(path).ok_or(code::NO_NODE)?;
        if node.children > 0 {
            return Err(NOT_EMPTY);
        }
        self.nodes.remove(path);
        self.zxid += 1;
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.count(parent, -1);
        }
        Ok(())
    }

    pub(super) fn get(&self, path: &str) -> Option<(Vec<u8>, Stat)> {
        self.nodes.get(path).map(|node| (node.data.clone(), node.stat))
    }

    pub(super) fn children(&self, path: &str) -> Option<Vec<String>> {
        let path = if path == "/" { "" } else { path };
        if !path.is_empty() && !self.nodes.contains_key(path) {
            return None;
        }
        let prefix = format!("{path}/");
        let below = self
            .nodes
            .iter_from(&prefix)
            .map_while(|(path, _)| path.strip_prefix(&prefix));
        Some(
            below
                .filter(|name| !name.contains('/'))
                .map(String::from)
                .collect(),
        )
    }

    pub(super) fn ephemerals(&self, session: i64) -> Vec<String> {
        let own = self
            .nodes
            .iter()
            .filter(|(_, node)| node.stat.ephemeral_owner == session);
        own.map(|(path, _)| path.clone()).collect()
    }

    pub(super) fn empty_container(&self) -> Option<String> {
        let empty = |node: &Node| node.container && node.children == 0 && node.creates > 0;
        self.nodes
            .iter()
            .find(|(_, node)| empty(node))
            .map(|(path, _)| path.clone())
    }

    fn creates_below(&self, parent: &str) -> Result<i32, i32> {
        if parent.is_empty() {
            return Ok(self.root_creates);
        }
        let node = self.nodes.get(parent).ok_or(code::NO_NODE)?;
        if node.stat.ephemeral_owner != 0 {
            return Err(code::NO_CHILDREN_FOR_EPHEMERALS);
        }
        Ok(node.creates)
    }

    /// A child has come or gone. The count of creates sticks at its end, as the real one does since 3.6 (ZOOKEEPER-3249).
    fn count(&mut self, parent: &str, change: isize) {
        let created = i32::from(change > 0);
        match self.nodes.get_mut(parent) {
            Some(node) => {
                node.creates = node.creates.saturating_add(created);
                node.children = node.children.saturating_add_signed(change);
            }
            None => self.root_creates = self.root_creates.saturating_add(created),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_counts_every_create_below_its_parent() {
        let mut tree = Tree::default();
        tree.create("/a", Vec::new(), CreateMode::Container, 1).unwrap();
        tree.create("/a/x", Vec::new(), CreateMode::Persistent, 1)
            .unwrap();
        let (path, zxid) = tree
            .create("/a/n-", Vec::new(), CreateMode::EphemeralSequential, 7)
            .unwrap();
        assert_eq!((path.as_str(), zxid), ("/a/n-0000000001", 3));
        assert_eq!(tree.children("/a").unwrap(), ["n-0000000001", "x"]);
        assert_eq!(tree.ephemerals(7), ["/a/n-0000000001"]);
        assert_eq!(tree.delete("/a"), Err(NOT_EMPTY));
        assert_eq!(
            tree.create("/b/c", Vec::new(), CreateMode::Persistent, 1),
            Err(code::NO_NODE)
        );
    }
}
