//! Requests, answers and notices in a few words, for stories.

use fencepost_core::zookeeper::{Answer, Notice, Request, Write};

use super::Ask;

/// The number at the end of a node's name, whatever comes before it.
pub(super) fn number(name: &str) -> &str {
    let digits = name.len().saturating_sub(10);
    name.get(digits..).unwrap_or_default()
}

/// The end of a name: its number tells nodes apart.
fn short(path: &str) -> &str {
    match path.rsplit_once("-lock-") {
        Some((_, "")) => "-lock-",
        Some((_, number)) => number,
        // Another kind of node, without its attempt.
        None => path
            .rsplit_once("/_c_")
            .map_or(path, |(_, name)| name.get(36..).unwrap_or(name)),
    }
}

pub(super) fn ask(ask: &Ask) -> String {
    let request = match ask {
        Ask::Request(request) => request,
        other => return format!("{other:?}"),
    };
    match request {
        Request::Create { path, mode, .. } => format!("create {} {mode:?}", short(path)),
        Request::Children { path, watch: true } => format!("list and watch {path}"),
        Request::Children { path, .. } => format!("children {path}"),
        Request::Get { path, watch: true } => format!("get and watch {}", short(path)),
        Request::Get { path, .. } => format!("get {}", short(path)),
        Request::Set { path, .. } => format!("set {}", short(path)),
        Request::Delete { path } => format!("delete {}", short(path)),
        Request::Sync { .. } => "sync".into(),
        Request::Multi { writes } if matches!(writes.as_slice(), [Write::Check { .. }]) => "check".into(),
        Request::Multi { writes } => {
            let words: Vec<String> = writes.iter().map(write).collect();
            format!("multi: {}", words.join(", "))
        }
        other => format!("{other:?}"),
    }
}

fn write(write: &Write) -> String {
    let at = |version: &Option<i32>| version.map_or_else(String::new, |version| format!(" at {version}"));
    match write {
        Write::Create { path, mode, .. } => format!("create {} {mode:?}", short(path)),
        Write::Set { path, version, .. } => format!("set {}{}", short(path), at(version)),
        Write::Delete { path, version } => format!("delete {}{}", short(path), at(version)),
        Write::Check { path, version } => format!("check {}{}", short(path), at(version)),
        other => format!("{other:?}"),
    }
}

pub(super) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Created { path, zxid } => format!("created {}, czxid {zxid}", short(path)),
        Answer::Children(names) => {
            let names: Vec<&str> = names.iter().map(|name| short(name)).collect();
            format!("children: {}", names.join(", "))
        }
        Answer::Data { stat, .. } => {
            format!("node of session {}, czxid {}", stat.ephemeral_owner, stat.czxid)
        }
        Answer::Done => "done".into(),
        Answer::Error(error) => format!("error {error}"),
        other => format!("{other:?}"),
    }
}

pub(super) fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Watch { id, event, .. } => format!("the watch of request {} has fired: {event:?}", id.0),
        Notice::Session { state, session, .. } => format!("session {} is {state:?}", session.0),
        other => format!("{other:?}"),
    }
}
