//! What an application wants of a machine.

use core::time::Duration;

/// What an application wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Intent {
    /// Hold the lock. Ends in [`Event::Acquired`](crate::Event) or [`Event::Refused`](crate::Event).
    Acquire(Patience),
    /// Make the grant last from now on. Ends in [`Event::Extended`](crate::Event) or [`Event::Lost`](crate::Event).
    Extend,
    /// Give the grant back. Ends in [`Event::Released`](crate::Event), or in [`Event::Lost`](crate::Event) if there was nothing left
    /// to give back.
    Release,
    /// Go on as a reader: turn a writer's grant into a share, without anybody in between. From now on the holder may only do what readers may.
    /// Ends in [`Event::Downgraded`](crate::Event), or in [`Event::Refused`](crate::Event) while the grant stays what it was, or in
    /// [`Event::Lost`](crate::Event).
    Downgrade,
    /// Stop an acquire. Ends in [`Event::Refused`](crate::Event), on ZooKeeper when what was made has been deleted; asked for again, or of an acquire that
    /// has come to nothing already, at once.
    Cancel,
}

/// How long an acquire may take, from the intent on: connecting, retries and everything else included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Patience {
    /// Until it is granted or cannot be.
    Forever,
    /// So long; on ZooKeeper, half a second longer at most while what was made is being deleted.
    For(Duration),
    /// No waiting for others: granted or refused as soon as the server has answered, and on ZooKeeper has deleted what was made.
    Try,
}
