//! Outcomes of commands.

use fencepost_core::{
    Failure, SessionId,
    lowered::Outcome,
    redis,
    zookeeper::{self, Answer, Stat},
};

use crate::{
    boundary::{Fault, exclusive, guard, require, shared},
    hub::fencepost_hub,
    names::fencepost_failure,
    result::fencepost_result,
    view::{self, fencepost_view},
};

/// The type of a Redis reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum fencepost_reply_kind {
    /// The nil reply.
    Nil = 0,
    /// An integer, in `integer`.
    Integer = 1,
    /// A string or a status, in `bytes`.
    Bytes = 2,
    /// An array of `item_count` replies, at `items`.
    Array = 3,
    /// An error, in `bytes`, beginning with its code: `NOSCRIPT No matching script.`
    Error = 4,
}

/// A Redis reply. The caller owns everything in it; the hub copies what it needs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct fencepost_reply {
    /// A `fencepost_reply_kind`.
    pub kind: u32,
    /// For `FENCEPOST_REPLY_KIND_INTEGER`.
    pub integer: i64,
    /// For `FENCEPOST_REPLY_KIND_BYTES` and `FENCEPOST_REPLY_KIND_ERROR`.
    pub bytes: fencepost_view,
    /// For `FENCEPOST_REPLY_KIND_ARRAY`.
    pub items: *const Self,
    /// The number of items.
    pub item_count: usize,
}

/// The hub refuses deeper replies, because no script returns one.
const DEEPEST: u32 = 16;

/// ZooKeeper: reports that the create `id` succeeded. `path` is the complete path of the node, with the
/// number that ZooKeeper appended. `czxid` is the node's czxid, which is the zxid of the answer. For every
/// ZooKeeper outcome, `session` is the session in which the request was sent.
///
/// Errors of all outcomes: `UNKNOWN_COMMAND`; `WRONG_REPLY` if the command requires another answer: the hub
/// then treats the outcome of the command as unknown; `WRONG_FAMILY`; `BAD_ARGUMENT` for a hub on memory,
/// which has no driver. A late or repeated outcome changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_created(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    path: *const u8,
    path_size: usize,
    czxid: i64,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL, and a readable view.
        unsafe {
            let path = view::text(path, path_size)?.to_owned();
            answer(hub, now, id, session, Answer::Created { path, zxid: czxid })
        }
    })
}

/// ZooKeeper: reports the children of a node, in any order. Or reports that a multi succeeded: `names` are
/// then the names of the nodes that it created, in the order of its parts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_children(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    names: *const fencepost_view,
    name_count: usize,
) -> fencepost_result {
    guard(|| {
        if name_count > 0 {
            require(names)?;
        }
        let mut children = Vec::with_capacity(name_count);
        for index in 0..name_count {
            // SAFETY: the header requires so many readable views.
            unsafe {
                let name = names.add(index).read();
                children.push(view::text(name.data, name.size)?.to_owned());
            }
        }
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { answer(hub, now, id, session, Answer::Children(children)) }
    })
}

/// ZooKeeper: reports the data of a node, and its stat. `created` is the ctime and `modified` the mtime:
/// milliseconds since 1970, by the server's clock. `ephemeral_owner` is the session that owns an ephemeral
/// node, otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_data(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    data: *const u8,
    data_size: usize,
    czxid: i64,
    mzxid: i64,
    ephemeral_owner: i64,
    version: i32,
    created: i64,
    modified: i64,
) -> fencepost_result {
    guard(|| {
        let stat = Stat {
            czxid,
            mzxid,
            ephemeral_owner,
            version,
            created,
            modified,
        };
        // SAFETY: the header requires a valid hub or NULL, and a readable view.
        unsafe {
            let data = view::bytes(data, data_size)?.to_owned();
            answer(hub, now, id, session, Answer::Data { data, stat })
        }
    })
}

/// ZooKeeper: reports that a set, a delete or a sync succeeded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_done(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
) -> fencepost_result {
    // SAFETY: the header requires a valid hub or NULL.
    guard(|| unsafe { answer(hub, now, id, session, Answer::Done) })
}

/// ZooKeeper: reports an error of the server. `code` is the protocol's number, such as -101 for NoNode. If
/// the code does not show whether the server executed the request (-4, -7, -112), call `fencepost_hub_failed`
/// instead.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_error(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    code: i32,
) -> fencepost_result {
    // SAFETY: the header requires a valid hub or NULL.
    guard(|| unsafe { answer(hub, now, id, session, Answer::Error(code)) })
}

/// Redis: reports the server's reply, also if it is an error. Errors: also `BAD_ARGUMENT` for a reply that is
/// nested too deeply, or of an unknown kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_reply(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    reply: *const fencepost_reply,
) -> fencepost_result {
    guard(|| {
        // SAFETY: the header requires a valid hub or NULL, and a readable reply.
        unsafe {
            let reply = read(shared(reply)?, DEEPEST)?;
            exclusive(hub)?.outcome(now, id, Outcome::Redis(reply))
        }
    })
}

/// Reports that a command has no answer. `failure` is a `fencepost_failure`: whether the server may have
/// executed the command. Errors: also `BAD_ARGUMENT` if there is no such failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_hub_failed(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    failure: u32,
) -> fencepost_result {
    guard(|| {
        let failure = fencepost_failure::from_number(failure)
            .map(Failure::from)
            .ok_or_else(|| {
                Fault::bad_argument(format!("there is no failure {failure}: pass a fencepost_failure"))
            })?;
        // SAFETY: the header requires a valid hub or NULL.
        unsafe { exclusive(hub) }?.outcome(now, id, Outcome::Failed(failure))
    })
}

/// # Safety
/// The hub is valid or NULL.
unsafe fn answer(
    hub: *mut fencepost_hub,
    now: u64,
    id: u64,
    session: i64,
    answer: Answer,
) -> Result<(), Fault> {
    let session = SessionId(session);
    let reply = zookeeper::Reply { session, answer };
    // SAFETY: by the caller's promise.
    unsafe { exclusive(hub) }?.outcome(now, id, Outcome::ZooKeeper(reply))
}

/// # Safety
/// What the reply points to is readable.
unsafe fn read(reply: &fencepost_reply, deepest: u32) -> Result<redis::Reply, Fault> {
    const NIL: u32 = fencepost_reply_kind::Nil as u32;
    const INTEGER: u32 = fencepost_reply_kind::Integer as u32;
    const BYTES: u32 = fencepost_reply_kind::Bytes as u32;
    const ARRAY: u32 = fencepost_reply_kind::Array as u32;
    const ERROR: u32 = fencepost_reply_kind::Error as u32;
    // SAFETY: by the caller's promise.
    let bytes = || unsafe { view::bytes(reply.bytes.data, reply.bytes.size) };
    Ok(match reply.kind {
        NIL => redis::Reply::Nil,
        INTEGER => redis::Reply::Int(reply.integer),
        BYTES => redis::Reply::Bytes(bytes()?.to_owned()),
        ERROR => redis::Reply::Error(String::from_utf8_lossy(bytes()?).into_owned()),
        ARRAY => {
            let deepest = deepest.checked_sub(1).ok_or_else(|| {
                Fault::bad_argument(format!(
                    "the reply is nested more than {DEEPEST} deep: pass the reply of the command"
                ))
            })?;
            if reply.item_count > 0 {
                require(reply.items)?;
            }
            let items = (0..reply.item_count).map(|index| {
                // SAFETY: by the caller's promise there are so many items.
                unsafe { read(&*reply.items.add(index), deepest) }
            });
            redis::Reply::Array(items.collect::<Result<_, _>>()?)
        }
        kind => {
            return Err(Fault::bad_argument(format!(
                "there is no kind of reply {kind}: set a fencepost_reply_kind"
            )));
        }
    })
}
