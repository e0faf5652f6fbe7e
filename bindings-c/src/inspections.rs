//! Looking at a lock from outside: settings of an inspection, from those of the lock.

use fencepost_core::ConfigError;
use serde_json::{Map, Value};

use crate::{
    boundary::{Fault, give, guard, require, shared},
    result::fencepost_result,
    settings::fencepost_settings,
    view,
};

/// Settings of an inspection of the lock that `lock` is for: `action` is `list`; or `break` or `revoke`, with the node's path and the fence of the contender
/// that is meant, as an inspection has found them. An acquire, or a try, of a machine with these settings begins it; it ends in the event found
/// or refused. Errors: 1xx, `UNKNOWN_OPTION` for a lock that cannot be looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_settings_inspection(
    lock: *const fencepost_settings,
    action: *const u8,
    action_size: usize,
    node: *const u8,
    node_size: usize,
    fence: u64,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: the header asks for valid settings or NULL, and for readable views.
        let (lock, action, node) = unsafe {
            (
                shared(lock)?,
                view::text(action, action_size)?,
                view::text(node, node_size)?,
            )
        };
        let mut written = look_at(&lock.written)?;
        written.insert("action".into(), action.into());
        if action != "list" {
            written.insert("node".into(), node.into());
            written.insert("fence".into(), fence.to_string().into());
        }
        // SAFETY: checked above.
        unsafe { give(settings, fencepost_settings::of(written)?) };
        Ok(())
    })
}

/// What of a lock's settings says where and what it is.
fn look_at(lock: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    let kind = lock.get("kind").and_then(Value::as_str).unwrap_or_default();
    let of = match kind {
        "zookeeper-mutex" => "mutex",
        "zookeeper-reader" | "zookeeper-writer" => "read-write",
        "zookeeper-election" => "election",
        "zookeeper-semaphore" => "semaphore",
        "zookeeper-single" => "single",
        _ => {
            return Err(ConfigError::UnknownOption {
                option: "inspection".into(),
                known: "the contenders of ZooKeeper's mutexes, single nodes, read/write locks, elections and semaphores can be looked at (memory: too)",
            }
            .into());
        }
    };
    let mut written: Map<String, Value> = [
        "name",
        "prefix",
        "layout",
        "node_prefix",
        "permits",
        "answer_within",
    ]
    .into_iter()
    .filter_map(|key| Some((key.to_owned(), lock.get(key)?.clone())))
    .collect();
    written.insert("kind".into(), "zookeeper-inspection".into());
    written.insert("of".into(), of.into());
    Ok(written)
}
