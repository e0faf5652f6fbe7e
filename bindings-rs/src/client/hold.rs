//! One hold of a grant: what a [`Grant`](super::Grant) is inside. Those of one owner share theirs.

use alloc::sync::Arc;
use core::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Intent, Misuse};

use super::{contender::Contender, owners::Ownership};
use crate::{Error, clock, hub::seat::Seat};

/// Through which side of a lock it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// There are no sides.
    Only,
    Writer,
    Reader,
}

/// A grant and how often it is held.
pub(super) struct Joint {
    pub(super) contender: Contender,
    ownership: Option<Arc<Ownership>>,
    count: Mutex<Count>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    /// Holds through the reader.
    readers: usize,
    /// All others.
    others: usize,
    /// Others may read: a reader's grant, or a writer's that has been downgraded.
    shared: bool,
}

/// What a hold's end means for the grant.
enum Left {
    /// It is held by others.
    Held,
    /// Only through the reader from now on.
    Reading,
    /// By nobody.
    Free,
}

impl Joint {
    fn new(contender: Contender, ownership: Option<Arc<Ownership>>, side: Side) -> Self {
        let shared = side == Side::Reader;
        let count = Count {
            readers: usize::from(shared),
            others: usize::from(!shared),
            shared,
        };
        Self {
            contender,
            ownership,
            count: Mutex::new(count),
        }
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds it once more; `None` if it is over or being given back.
    pub(super) fn enter(&self, side: Side) -> Option<Result<(), Misuse>> {
        let mut count = self.count();
        let held = count.readers > 0 || count.others > 0;
        if !held || !self.contender.seat.told().is_held(clock::now()) {
            return None;
        }
        match side {
            Side::Reader => count.readers += 1,
            Side::Writer if count.shared => return Some(Err(Misuse::Upgrade)),
            Side::Writer | Side::Only => count.others += 1,
        }
        Some(Ok(()))
    }

    fn leave(self: &Arc<Self>, side: Side) -> Left {
        let left = {
            let mut count = self.count();
            match side {
                Side::Reader => count.readers = count.readers.saturating_sub(1),
                Side::Writer | Side::Only => count.others = count.others.saturating_sub(1),
            }
            match (count.others, count.readers) {
                (0, 0) => Left::Free,
                (0, _) if !mem::replace(&mut count.shared, true) => Left::Reading,
                _ => Left::Held,
            }
        };
        if let (Left::Free, Some(ownership)) = (&left, &self.ownership) {
            self.contender.shared.owners.leave(ownership, self);
        }
        left
    }
}

/// One hold of a grant. Dropped, it is given back in the background.
pub(super) struct Hold {
    joint: Arc<Joint>,
    /// It changes with a downgrade.
    side: Mutex<Side>,
    left: bool,
}

impl Hold {
    /// The first one.
    pub(super) fn first(contender: Contender, ownership: Option<Arc<Ownership>>, side: Side) -> Self {
        Self::of(&Arc::new(Joint::new(contender, ownership, side)), side)
    }

    /// One that has been entered.
    pub(super) fn of(joint: &Arc<Joint>, side: Side) -> Self {
        Self {
            joint: Arc::clone(joint),
            side: Mutex::new(side),
            left: false,
        }
    }

    pub(super) const fn joint(&self) -> &Arc<Joint> {
        &self.joint
    }

    pub(super) fn seat(&self) -> &Seat {
        &self.joint.contender.seat
    }

    pub(super) fn contender(&self) -> &Contender {
        &self.joint.contender
    }

    fn side(&self) -> MutexGuard<'_, Side> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the hold; the last one gives the lock back and waits for the server's word.
    pub(super) async fn release(mut self) -> Result<(), Error> {
        self.left = true;
        self.joint.contender.shared.engine.check_process()?;
        let side = *self.side();
        let contender = &self.joint.contender;
        match self.joint.leave(side) {
            Left::Free => contender.release().await,
            Left::Reading => contender.downgrade_at_release().await,
            Left::Held => contender.not_lost(),
        }
    }

    /// Turns a writer's hold into a reader's; the last of them turns the grant.
    pub(super) async fn downgrade(&self) -> Result<(), Error> {
        let contender = self.contender();
        contender.shared.engine.check_process()?;
        contender.not_over()?;
        {
            let mut side = self.side();
            if *side != Side::Writer {
                return Err(Misuse::NotAWriter.into());
            }
            *side = Side::Reader;
            let mut count = self.joint.count();
            count.others = count.others.saturating_sub(1);
            count.readers += 1;
            if count.others > 0 {
                return Ok(());
            }
            count.shared = true;
        }
        let done = contender.downgrade().await;
        if let Err(Error::Refused(_)) = &done {
            // The grant is as it was, and so is the hold.
            let mut side = self.side();
            let mut count = self.joint.count();
            *side = Side::Writer;
            count.readers = count.readers.saturating_sub(1);
            count.others += 1;
            count.shared = false;
        }
        done
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        let side = *self.side();
        // The last one of all takes the contender along, which is released then.
        if let Left::Reading = self.joint.leave(side) {
            self.contender().later(Intent::Downgrade);
        }
    }
}
