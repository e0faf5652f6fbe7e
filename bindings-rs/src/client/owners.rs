//! Re-entry: an owner that acquires what it holds already gets a further hold of the same grant, without a request.
//!
//! A hold is counted in its [`Joint`], the registry finds the joint of an owner. Neither lock is held while a server is asked, and nobody has
//! the registry's while he takes a joint's the other way round.

use alloc::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::ConfigError;

use super::hold::{Hold, Joint, Side};
use crate::Error;

/// What somebody may call an owner: at most so many bytes.
const MAX_OWNER: usize = 1024;

/// What an owner holds once at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ownership {
    pub(super) group: Group,
    pub(super) name: String,
    pub(super) owner: String,
}

/// Which locks of one name are one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Mutex,
    Single,
    ReadWrite,
}

impl Ownership {
    pub(super) fn new(group: Group, name: &str, owner: &str) -> Result<Self, ConfigError> {
        let invalid = |value: &str, why| ConfigError::InvalidOption {
            option: "owner",
            value: value.into(),
            why,
        };
        if owner.is_empty() {
            return Err(invalid("", "it is empty: call it something, or leave it away"));
        }
        if owner.len() > MAX_OWNER {
            let shown: String = owner.chars().take(32).chain("…".chars()).collect();
            return Err(invalid(&shown, "it is longer than 1024 bytes"));
        }
        Ok(Self {
            group,
            name: name.into(),
            owner: owner.into(),
        })
    }
}

/// What the owners of a client hold or wait for.
#[derive(Default)]
pub(super) struct Owners(Mutex<BTreeMap<Arc<Ownership>, Entry>>);

enum Entry {
    Waiting,
    Holding(Weak<Joint>),
}

/// What becomes of an owner's acquire.
pub(super) enum Entered<'a> {
    /// It holds the lock already.
    Again(Hold),
    /// It has to contend.
    Contends(Turn<'a>),
}

impl Owners {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<Ownership>, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An owner acquires.
    pub(super) fn enter(&self, ownership: &Arc<Ownership>, side: Side) -> Result<Entered<'_>, Error> {
        // Dropped after the lock: it may be the last of a grant that is being released.
        let joint;
        let mut entries = self.lock();
        match entries.get(ownership) {
            Some(Entry::Waiting) => {
                return Err(Error::OwnerBusy {
                    owner: ownership.owner.clone(),
                });
            }
            Some(Entry::Holding(held)) => joint = held.upgrade(),
            None => joint = None,
        }
        if let Some(joint) = &joint {
            match joint.enter(side) {
                Some(Ok(())) => return Ok(Entered::Again(Hold::of(joint, side))),
                Some(Err(misuse)) => return Err(misuse.into()),
                None => {}
            }
        }
        entries.insert(Arc::clone(ownership), Entry::Waiting);
        Ok(Entered::Contends(Turn {
            owners: self,
            ownership: Arc::clone(ownership),
            taken: false,
        }))
    }

    /// The last hold has been given back.
    pub(super) fn leave(&self, ownership: &Ownership, joint: &Arc<Joint>) {
        let mut entries = self.lock();
        if let Some(Entry::Holding(held)) = entries.get(ownership)
            && held.as_ptr() == Arc::as_ptr(joint)
        {
            entries.remove(ownership);
        }
    }
}

/// An owner's acquire under way. Dropped, the next one contends.
pub(super) struct Turn<'a> {
    owners: &'a Owners,
    ownership: Arc<Ownership>,
    taken: bool,
}

impl Turn<'_> {
    /// It has come to a grant, which the owner may enter from now on.
    pub(super) fn take(mut self, joint: &Arc<Joint>) {
        let entry = Entry::Holding(Arc::downgrade(joint));
        self.owners.lock().insert(Arc::clone(&self.ownership), entry);
        self.taken = true;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.taken {
            self.owners.lock().remove(&self.ownership);
        }
    }
}
