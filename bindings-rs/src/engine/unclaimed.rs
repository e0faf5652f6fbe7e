//! Grants that no task has taken yet.
//!
//! An acquire that no task polls (a `select!` whose handler waits, a stream that no task reads) may still be granted. If
//! the client renewed it in the background, no other contender would get the lock. So the client releases such a grant
//! after half of its lease.

use alloc::{collections::BTreeMap, sync::Arc};
use core::time::Duration;

use fencepost_core::{Grant, Instant, Key};

use super::contender_state::SharedState;

/// The longest time, for a long lease or without a lease.
const AT_MOST: Duration = Duration::from_secs(10);

/// Unclaimed grants, by the time when the client releases them.
#[derive(Default)]
pub(super) struct Unclaimed(BTreeMap<(Instant, Key), Arc<SharedState>>);

impl Unclaimed {
    /// Adds a grant that no task was waiting for.
    pub(super) fn granted(&mut self, now: Instant, key: Key, contender: &Arc<SharedState>, grant: &Grant) {
        let half = grant.remaining(now).map_or(AT_MOST, |lease| lease / 2);
        self.0
            .insert((now.plus(half.min(AT_MOST)), key), Arc::clone(contender));
    }

    /// The time to release the next one.
    pub(super) fn due(&mut self) -> Option<Instant> {
        while let Some(first) = self.0.first_entry() {
            let settled = {
                let state = first.get().state();
                state.taken || state.end.is_some()
            };
            if !settled {
                return Some(first.key().0);
            }
            first.remove();
        }
        None
    }

    /// Removes the next grant that has waited too long.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Key, Arc<SharedState>)> {
        let first = self.0.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let ((_, key), contender) = first.remove_entry();
        Some((key, contender))
    }
}
