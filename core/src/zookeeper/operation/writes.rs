//! The transaction that writes a decision of the table.

use alloc::{string::String, vec, vec::Vec};

use crate::{
    AttemptId, Fence,
    claim::{Change, Decision, Record, Request, State, Step},
};

use super::{
    super::wire::{CreateMode, Write},
    paths::{Paths, VALUE},
    snapshot::{Node, Snapshot},
    stored,
};

/// The writes of a decision; none if it changes nothing. `None` if the client must first read the bucket.
pub(super) fn of(
    paths: &Paths,
    snapshot: &Snapshot,
    request: &Request,
    decision: &Decision,
) -> Option<Vec<Write>> {
    let record = match &decision.record {
        Change::Nothing => return Some(Vec::new()),
        Change::Put(record) => Some(&**record),
        Change::Delete => None,
    };
    let plan = Plan {
        paths,
        request,
        operation: decision.operation.as_ref(),
    };
    match (snapshot, record) {
        (Snapshot::Absent, Some(record)) => Some(plan.create(record)),
        (Snapshot::Absent, None) => Some(Vec::new()),
        (Snapshot::Node(node), record) => plan.change(node, record),
    }
}

/// The maximum of children that one transaction deletes. Even with the longest names, the transaction is then below the
/// servers' limit for a request, 1 MiB (`jute.maxbuffer`).
const MOST: usize = 128;

/// The transaction that deletes some of a value's children (records of updates' ids), if there are too many for one
/// transaction. It checks that the value has not changed. `node` keeps the remaining children.
pub(super) fn first_children(paths: &Paths, node: &mut Node) -> Option<Vec<Write>> {
    if node.children.len() <= MOST {
        return None;
    }
    let (path, version) = (paths.record(), Some(node.version));
    let mut writes = vec![Write::Check { path, version }];
    node.children.retain(|name| {
        let stays = name == VALUE || writes.len() > MOST;
        if !stays {
            writes.push(delete(paths.child(name), None));
        }
        stays
    });
    Some(writes)
}

const fn delete(path: String, version: Option<i32>) -> Write {
    Write::Delete { path, version }
}

/// The deadline for the claim of a token, if this request claims one.
pub(super) fn claimed_by(node: &Node, request: &Request) -> Option<u64> {
    let record = node.record().filter(|record| record.state == State::Issued)?;
    matches!(request.step, Step::Claim(_) | Step::Register(..)).then_some(record.kept_until)
}

/// The writes that undo a claim: they delete the lease, and mark the record, which got this version by the claim, as
/// free.
pub(super) fn undo_claim(paths: &Paths, attempt: &AttemptId, version: i32) -> Vec<Write> {
    let free = Write::Set {
        path: paths.record(),
        data: stored::write(None, None),
        version: Some(version),
    };
    vec![end_of(paths, attempt), free]
}

/// The only write that ends the lease of an attempt without a change of the record.
pub(super) fn end_lease(paths: &Paths, attempt: &AttemptId) -> Vec<Write> {
    vec![end_of(paths, attempt)]
}

/// The write that ends the lease of an attempt.
fn end_of(paths: &Paths, attempt: &AttemptId) -> Write {
    Write::Delete {
        path: paths.lease(attempt),
        version: None,
    }
}

struct Plan<'a> {
    paths: &'a Paths,
    request: &'a Request,
    operation: Option<&'a Record>,
}

impl Plan<'_> {
    /// The writes that create a new record.
    fn create(&self, record: &Record) -> Vec<Write> {
        let mut writes = vec![persistent(
            self.paths.record(),
            stored::write(Some(&self.unnumbered(record)), None),
        )];
        if record.state == State::Value {
            writes.push(persistent(self.paths.child(VALUE), Vec::new()));
            writes.extend(self.of_operation(&[]));
        }
        writes.extend(self.lease(record));
        writes
    }

    fn change(&self, node: &Node, record: Option<&Record>) -> Option<Vec<Write>> {
        let is_value = node.record().is_some_and(|known| known.state == State::Value);
        match record {
            Some(value) if value.state == State::Value && is_value => Some(self.update(node, value)),
            // The version of a value's node counts the value's updates, so the value gets a new node.
            Some(value) if value.state == State::Value => {
                let mut writes = self.delete(node)?;
                writes.extend(self.create(value));
                Some(writes)
            }
            None if is_value => self.delete(node),
            _ => self.replace(node, record),
        }
    }

    /// The writes of the next version of a value. The check of the mark proves that the node is still a value. Then the
    /// version of the node is enough to detect every other change.
    fn update(&self, node: &Node, value: &Record) -> Vec<Write> {
        let mark = Write::Check {
            path: self.paths.child(VALUE),
            version: None,
        };
        let value = self.set(node, Some(value), None);
        let operation = self.of_operation(&node.children);
        [mark, value].into_iter().chain(operation).collect()
    }

    /// The writes that delete the nodes of a value, or a free record. They check that the bucket has not changed,
    /// because a later record may have the same version. They also change the bucket, so that no write of another
    /// client that was decided before can change a later record.
    fn delete(&self, node: &Node) -> Option<Vec<Write>> {
        let children = node
            .children
            .iter()
            .map(|name| delete(self.paths.child(name), None));
        let record = delete(self.paths.record(), Some(node.version));
        let bucket = Write::Set {
            path: self.paths.bucket(),
            data: Vec::new(),
            version: Some(node.bucket?),
        };
        Some(children.chain([record, bucket]).collect())
    }

    /// The writes that replace the record by another one, or mark it as free.
    fn replace(&self, node: &Node, record: Option<&Record>) -> Option<Vec<Write>> {
        let mut writes = match node.lease() {
            // Only this attempt's lease has this name, so the delete can only end this claim.
            Some(own) if own.attempt == self.request.attempt => vec![end_of(self.paths, &own.attempt)],
            leased => {
                let path = self.paths.bucket();
                let version = Some(node.bucket?);
                let bucket = Write::Check { path, version };
                // An operator ends the claim of another attempt.
                let ended = leased.map(|leased| end_of(self.paths, &leased.attempt));
                ended.into_iter().chain([bucket]).collect()
            }
        };
        let claimed_by = claimed_by(node, self.request);
        let record = record.map(|record| self.unnumbered(record));
        writes.push(self.set(node, record.as_ref(), claimed_by));
        writes.extend(record.as_ref().and_then(|record| self.lease(record)));
        Some(writes)
    }

    fn set(&self, node: &Node, record: Option<&Record>, claimed_by: Option<u64>) -> Write {
        Write::Set {
            path: self.paths.record(),
            data: stored::write(record, claimed_by),
            version: Some(node.version),
        }
    }

    /// The write that creates the lease of a claim.
    fn lease(&self, record: &Record) -> Option<Write> {
        let claims = matches!(self.request.step, Step::Claim(_));
        claims.then(|| Write::Create {
            path: self.paths.lease(&record.attempt),
            data: Vec::new(),
            mode: CreateMode::Ephemeral,
        })
    }

    /// The write of the record of an update's id. It replaces an earlier record that is past its retention. The check
    /// of the value's version protects this write.
    fn of_operation(&self, children: &[String]) -> Option<Write> {
        let Step::Update(update) = &self.request.step else {
            return None;
        };
        let path = self.paths.operation(&update.id);
        let data = stored::write(Some(self.operation?), None);
        Some(if children.contains(&update.id.node()) {
            let version = None;
            Write::Set { path, data, version }
        } else {
            persistent(path, data)
        })
    }

    /// The record without the fence of a claim, which is the number of the claim's transaction.
    fn unnumbered(&self, record: &Record) -> Record {
        let mut record = record.clone();
        if matches!(self.request.step, Step::Claim(_) | Step::Register(..)) {
            record.fence = Fence(0);
        }
        record
    }
}

fn persistent(path: String, data: Vec<u8>) -> Write {
    let mode = CreateMode::Persistent;
    Write::Create { path, data, mode }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::{ContenderId, claim::Name};

    #[test]
    fn a_value_with_many_children_is_deleted_in_parts_that_servers_accept() {
        let paths = Paths::new("/shop", &Name::new("stock", "17").unwrap()).unwrap();
        let attempt = AttemptId {
            contender: ContenderId([1; 16]),
            number: 1,
        };
        let mut node = match Snapshot::of_value(7, attempt) {
            Snapshot::Node(node) => node,
            Snapshot::Absent => unreachable!(),
        };
        node.children = (0..1000).map(|id| format!("operation-{id:020}")).collect();
        node.children.insert(7, VALUE.into());
        let mut deleted = 0;
        while let Some(writes) = first_children(&paths, &mut node) {
            assert!(matches!(writes[0], Write::Check { version: Some(6), .. }));
            assert_eq!(writes.len(), MOST + 1);
            deleted += writes.len() - 1;
        }
        assert_eq!(deleted + node.children.len(), 1001);
        assert!(node.children.len() <= MOST && node.children.contains(&VALUE.into()));
    }
}
