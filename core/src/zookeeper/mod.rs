//! ZooKeeper: sequential ephemeral nodes, watched one by one, so that a release wakes exactly one waiter.
//!
//! The recipe is ZooKeeper's own ("Recipes and Solutions", Locks) with what ten years of bug reports have taught:
//!
//! - **One flight to acquire**: create and list are sent together. A server answers one session's requests in order, so the list
//!   holds the new node.
//! - **No request to hand over**: if the list named one contender before us, its deletion is our grant, unless its name may be a writer's, which may
//!   have turned into a reader: then a list tells.
//! - **A lost reply loses nothing**: a node is found again by its attempt, in its session only (CURATOR-45, CURATOR-498).
//! - **A session is believed for as long as its leader has vouched for it**: see the keeper.
//! - **What was created is deleted**, however late its reply comes and whoever has stopped waiting (CURATOR-486, kazoo#732).

mod contender;
mod disposal;
mod family;
mod farewell;
mod grace;
mod inspection;
mod keeper;
mod layout;
mod line;
mod member;
mod multi_lock;
mod path;
mod raw;
mod semaphore;
mod settings;
mod wire;

pub use contender::Contender;
pub use family::{Machine, ZooKeeper};
pub use inspection::Inspection;
pub use keeper::Keeper;
pub use layout::{Layout, Role};
pub use multi_lock::MultiLock;
pub(crate) use raw::Kind;
pub use raw::RawZooKeeper;
pub use semaphore::Semaphore;
pub use settings::{Action, ContenderSettings, DEFAULT_ANSWER_WITHIN, InspectionSettings, MAX_IDENTIFIER};
pub use wire::{Answer, CreateMode, Notice, Reply, Request, SessionState, Stat, WatchEvent, Write, code};

use crate::{Cause, CommandId, Refusal, text::signed};

/// What an error code means for a lock.
enum Verdict {
    /// Not executed now, perhaps later: try again.
    Transient,
    /// It will not work.
    Final(Refusal, Cause),
}

/// What a server that knows no create of the client library's kind has been asked for: it would hang up each time.
const MAKING_A_DIRECTORY: &str = "making the lock's directory";

/// Why a lock's directory cannot be made.
const fn no_directory(forbidden: bool) -> Refusal {
    if forbidden {
        Refusal::NoPermission
    } else {
        Refusal::NoParent
    }
}

/// Whether an answer to a request says that the server has not carried it out now, and may later.
const fn is_transient(error: i32) -> bool {
    matches!(error, code::SESSION_MOVED | code::THROTTLED)
}

fn judge(error: i32, id: CommandId, deed: &str) -> Verdict {
    if is_transient(error) {
        return Verdict::Transient;
    }
    let refusal = match error {
        code::NO_AUTH => Refusal::NoPermission,
        code::AUTH_FAILED => Refusal::AuthFailed,
        code::NO_NODE | code::NO_CHILDREN_FOR_EPHEMERALS => Refusal::NoParent,
        code::UNIMPLEMENTED => Refusal::Unsupported,
        _ => Refusal::ServerError,
    };
    Verdict::Final(
        refusal,
        Cause::answer(
            id,
            ["ZooKeeper answered ", &signed(error.into()), " to ", deed].concat(),
        ),
    )
}
