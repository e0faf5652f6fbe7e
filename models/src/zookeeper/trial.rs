//! Several writes in one transaction: each one must be possible after the ones before it.

use alloc::vec::Vec;

use fencepost_core::{
    SessionId,
    zookeeper::{CreateMode, Write, code},
};

use super::{
    member::Change,
    tree::{At, Kind, Tree},
};

/// The changes that the writes make, if all of them are possible. The function makes them one after the other and then
/// undoes them.
pub(super) fn tried(tree: &mut Tree, session: SessionId, writes: Vec<Write>) -> Result<Vec<Change>, i32> {
    let mut befores = Vec::with_capacity(writes.len());
    let mut attempt = |write| {
        let change = possible(tree, session, write)?;
        match &change {
            Change::Create { path, data, kind } => {
                befores.push(tree.before(path));
                tree.create(path, data.clone(), *kind, At::UNDONE);
            }
            Change::Delete { path } => {
                befores.push(tree.before(path));
                tree.delete(path, At::UNDONE);
            }
            Change::Set { path, data } => {
                befores.push(tree.before(path));
                tree.set(path, data.clone(), At::UNDONE);
            }
            Change::EndSession(_) | Change::All(_) => {}
        }
        Ok(change)
    };
    let changes = writes.into_iter().map(&mut attempt).collect();
    for before in befores.into_iter().rev() {
        tree.take_back(before);
    }
    changes
}

fn possible(tree: &Tree, session: SessionId, write: Write) -> Result<Change, i32> {
    match write {
        Write::Create { path, data, mode } => {
            let (kind, sequential) = kind_of(session, mode);
            let path = tree.may_create(&path, sequential)?;
            Ok(Change::Create { path, data, kind })
        }
        Write::Set { path, data, version } => {
            tree.may_set(&path, version)?;
            Ok(Change::Set { path, data })
        }
        Write::Delete { path, version } => {
            tree.may_delete(&path, version)?;
            Ok(Change::Delete { path })
        }
        Write::Check { path, version } => {
            tree.may_set(&path, version)?;
            Ok(Change::All(Vec::new()))
        }
        _ => Err(code::UNIMPLEMENTED),
    }
}

/// The kind of node that a session creates in this mode, and whether the node gets a sequence number.
pub(super) const fn kind_of(session: SessionId, mode: CreateMode) -> (Kind, bool) {
    match mode {
        CreateMode::Ephemeral => (Kind::Ephemeral(session.0), false),
        CreateMode::EphemeralSequential => (Kind::Ephemeral(session.0), true),
        CreateMode::Container => (Kind::Container, false),
        _ => (Kind::Persistent, false),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn create(path: &str) -> Write {
        Write::Create {
            path: path.into(),
            data: vec![],
            mode: CreateMode::EphemeralSequential,
        }
    }

    fn delete(path: &str) -> Write {
        Write::Delete {
            path: path.into(),
            version: None,
        }
    }

    #[test]
    fn each_write_sees_those_before_it_and_the_tree_is_as_it_was() {
        let mut tree = Tree::default();
        tree.create("/a", vec![], Kind::Container, At::UNDONE);
        tree.create("/a/x", vec![7], Kind::Persistent, At::UNDONE);
        let before = tree.clone();
        let writes = vec![
            create("/a/n"),
            delete("/a/n0000000001"),
            delete("/a/x"),
            delete("/a"),
        ];
        let changes = tried(&mut tree, SessionId(1), writes).unwrap();
        assert_eq!(changes.len(), 4);
        assert_eq!(tree, before);
        let writes = vec![delete("/a/x"), create("/a/n"), delete("/a")];
        assert!(tried(&mut tree, SessionId(1), writes).is_err());
        assert_eq!(tree, before);
    }
}
