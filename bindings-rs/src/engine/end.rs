//! How a contender ends.

use fencepost_core::{Found, claim::Record};

use crate::{DriverFailed, Lost, Refused};

/// How a contender has ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Released,
    /// It was an inspection, which found these contenders.
    Found(Vec<Found>),
    /// It was a single step, which has stored a record.
    Completed(Box<Record>),
    /// The operation already had a result.
    Replayed(Box<Record>),
    /// It was a read of a record.
    Looked(Option<Box<Record>>),
    /// It was a sweep, which has deleted so many records.
    Swept(u64),
    Refused(Refused),
    Lost(Lost),
    /// The client library could not be used.
    Failed(DriverFailed),
    /// The client was closed during the acquire or the release.
    Closed,
    /// No task has taken the grant in time: the client has released it, and the task acquires again.
    GivenBack,
}
