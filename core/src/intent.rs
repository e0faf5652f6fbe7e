//! Intents: the requests of the application to a machine.

use core::time::Duration;

use crate::{Misuse, claim::Content};

/// A request of the application to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Intent {
    /// Acquire the lock or claim the operation. Ends in [`Event::Acquired`](crate::Event) or
    /// [`Event::Refused`](crate::Event); a claim also in [`Event::Replayed`](crate::Event).
    Acquire(AcquireTimeout),
    /// Extend the grant by a full lease from now. Ends in [`Event::Extended`](crate::Event) or
    /// [`Event::Lost`](crate::Event).
    Extend,
    /// Release the grant. Ends in [`Event::Released`](crate::Event), in [`Event::Refused`](crate::Event) if the server
    /// refuses, or in [`Event::Lost`](crate::Event) if the grant had ended already. For a claim: the operation had no
    /// effect, so it may be claimed again.
    Release,
    /// End a claim: the operation has this result. Ends in [`Event::Completed`](crate::Event); in
    /// [`Event::Replayed`](crate::Event) if another attempt has stored a result; in [`Event::Refused`](crate::Event) if
    /// the server refuses, and the claim continues; or in [`Event::Lost`](crate::Event). After a loss the application
    /// may still send this intent: the server stores the result unless another attempt has claimed the operation.
    Complete(Content),
    /// End a claim whose outcome is unknown: its policy decides what follows. Ends as [`Release`](Self::Release) does.
    Leave,
    /// Turn a writer's grant into a reader's grant; no other contender gets the lock in between. From this call on the
    /// holder may only do what readers may. Ends in [`Event::Downgraded`](crate::Event), in
    /// [`Event::Refused`](crate::Event) with the grant unchanged, or in [`Event::Lost`](crate::Event).
    Downgrade,
    /// Cancel an acquire. Ends in [`Event::Refused`](crate::Event). On ZooKeeper, the event comes once the contender's
    /// node has been deleted. It comes at once if the application cancels again, or if the acquire has already failed.
    Cancel,
}

/// An intent for a machine of one request. Such a machine gets no grant, so the application can only start or cancel
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfOneRequest {
    Begin(AcquireTimeout),
    Cancel,
}

impl Intent {
    /// Converts the intent for a machine of one request.
    ///
    /// # Errors
    /// [`Misuse`] for an intent that such a machine does not support, or that its state does not allow.
    pub(crate) const fn of_one_request(&self, is_idle: bool) -> Result<OfOneRequest, Misuse> {
        match (self, is_idle) {
            (Self::Acquire(acquire_timeout), true) => Ok(OfOneRequest::Begin(*acquire_timeout)),
            (Self::Acquire(_), false) => Err(Misuse::Busy),
            (Self::Cancel, false) => Ok(OfOneRequest::Cancel),
            (Self::Cancel, true) => Err(Misuse::NotWaiting),
            (Self::Extend | Self::Release | Self::Downgrade | Self::Complete(_) | Self::Leave, _) => {
                Err(Misuse::NotHeld)
            }
        }
    }
}

/// How long an acquire may take, counted from the intent. Connecting and retries are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcquireTimeout {
    /// No timeout.
    Forever,
    /// The acquire fails after this time. On ZooKeeper, it may take at most half a second longer, while the client
    /// deletes the contender's node.
    For(Duration),
    /// Do not wait for other contenders. The acquire ends as soon as the server has answered and, on ZooKeeper, has
    /// deleted the contender's node.
    Try,
}
