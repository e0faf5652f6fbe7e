//! ZooKeeper: sequential ephemeral nodes. Each waiter watches one node, so a release wakes exactly one waiter.
//!
//! The recipe is from ZooKeeper's documentation ("Recipes and Solutions", Locks), with changes that ten years of bug
//! reports have shown to be necessary:
//!
//! - **One round trip to acquire**: the client sends the create of its node and the list of the directory together. A
//!   server answers one session's requests in order, so the list contains the new node.
//! - **No request to pass on the lock**: if the list showed exactly one contender before this one, the deletion of that
//!   contender's node is the grant. There is one exception: that contender may be a writer that has become a reader by
//!   a downgrade, so the waiter lists again.
//! - **A lost reply does no harm**: the client finds its node again by the attempt, and accepts it only in the session
//!   that created it (CURATOR-45, CURATOR-498).
//! - **A grant is valid only for the time that the leader has confirmed for the session**: see the session lease.
//! - **The client deletes every node that it created**, even if the reply to the create comes late and no call waits
//!   for it any more (CURATOR-486, kazoo#732).

mod barrier;
mod cleanup;
mod contender;
mod deferred;
mod family;
mod grace;
mod handshake;
mod inspection;
mod layout;
mod member;
mod multi_lock;
mod operation;
mod parents;
mod path;
mod quorum;
mod semaphore;
mod session;
mod session_lease;
mod setback;
mod settings;
mod wait_queue;
mod wire;

pub use contender::Contender;
pub use family::{LockSettings, ZooKeeper};
pub use handshake::handshake_timeout;
pub use inspection::Inspection;
pub use layout::{Layout, Role};
pub use multi_lock::MultiLock;
pub use operation::{ClaimSettings, Claimant, SingleStep, StepSettings, Sweep, SweepSettings};
pub use semaphore::Semaphore;
pub use session_lease::SessionLease;
pub use settings::{Action, ContenderSettings, DEFAULT_ANSWER_WITHIN, InspectionSettings, MAX_IDENTIFIER};
pub use wire::{Answer, CreateMode, Notice, Reply, Request, SessionState, Stat, WatchEvent, Write, code};

use alloc::string::String;

use crate::{Cause, CommandId, Refusal, text::signed};

/// The consequence of an error code for a lock.
enum Verdict {
    /// The server did not execute the request. A retry may succeed.
    Transient,
    /// A retry cannot succeed.
    Final(Refusal, Cause),
}

/// The failed action in the error of a server that does not know the client library's create request. A retry would not
/// help, because such a server closes the connection each time.
const MAKING_A_DIRECTORY: &str = "making the lock's directory";

/// Whether the error means that the server did not execute the request, but may execute a retry.
const fn is_transient(error: i32) -> bool {
    matches!(error, code::SESSION_MOVED | code::THROTTLED)
}

/// The refusal for an error that no retry can change.
const fn refusal(error: i32) -> Refusal {
    match error {
        code::NO_AUTH => Refusal::NoPermission,
        code::AUTH_FAILED => Refusal::AuthFailed,
        code::NO_NODE | code::NO_CHILDREN_FOR_EPHEMERALS => Refusal::NoParent,
        code::UNIMPLEMENTED => Refusal::Unsupported,
        _ => Refusal::ServerError,
    }
}

/// The detail of such a refusal.
fn answered(error: i32) -> String {
    ["ZooKeeper answered ", &signed(error.into())].concat()
}

fn classify_error(error: i32, id: CommandId, deed: &str) -> Verdict {
    if is_transient(error) {
        return Verdict::Transient;
    }
    let detail = [&answered(error), " to ", deed].concat();
    Verdict::Final(refusal(error), Cause::answer(id, detail))
}
