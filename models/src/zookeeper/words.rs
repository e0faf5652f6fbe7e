//! Requests, answers and notices in a few words, for people.
//!
//! `named` shortens a path. A name whose length does not matter stays as it is.

use alloc::{format, string::String, vec::Vec};

use fencepost_core::zookeeper::{Answer, Notice, Request, Write};

use super::Told;

/// A request in words.
#[must_use]
pub fn request(request: &Request, named: fn(&str) -> &str) -> String {
    match request {
        Request::Create { path, mode, .. } => format!("create {} {mode:?}", named(path)),
        Request::Children { path, watch: true } => format!("list and watch {path}"),
        Request::Children { path, .. } => format!("children {path}"),
        Request::Get { path, watch: true } => format!("get and watch {}", named(path)),
        Request::Get { path, .. } => format!("get {}", named(path)),
        Request::Set { path, .. } => format!("set {}", named(path)),
        Request::Delete { path } => format!("delete {}", named(path)),
        Request::Sync { .. } => "sync".into(),
        Request::Multi { writes } if matches!(writes.as_slice(), [Write::Check { .. }]) => "check".into(),
        Request::Multi { writes } => {
            let words: Vec<String> = writes.iter().map(|one| write(one, named)).collect();
            format!("multi: {}", words.join(", "))
        }
        _ => "reconnect".into(),
    }
}

fn write(write: &Write, named: fn(&str) -> &str) -> String {
    let at = |version: &Option<i32>| version.map_or_else(String::new, |version| format!(" at {version}"));
    match write {
        Write::Create { path, mode, .. } => format!("create {} {mode:?}", named(path)),
        Write::Set { path, version, .. } => format!("set {}{}", named(path), at(version)),
        Write::Delete { path, version } => format!("delete {}{}", named(path), at(version)),
        Write::Check { path, version } => format!("check {}{}", named(path), at(version)),
        _ => String::new(),
    }
}

/// An answer in words.
#[must_use]
pub fn answer(answer: &Answer, named: fn(&str) -> &str) -> String {
    match answer {
        Answer::Created { path, zxid } => format!("created {}, czxid {zxid}", named(path)),
        Answer::Children(names) => {
            let names: Vec<&str> = names.iter().map(|name| named(name)).collect();
            format!("children: {}", names.join(", "))
        }
        Answer::Data { stat, .. } => {
            format!("node of session {}, czxid {}", stat.ephemeral_owner, stat.czxid)
        }
        Answer::Error(error) => format!("error {error}"),
        _ => "done".into(),
    }
}

/// A notice in words.
#[must_use]
pub fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Watch { id, event, .. } => format!("the watch of request {} has fired: {event:?}", id.0),
        Notice::Session { state, session, .. } => format!("session {} is {state:?}", session.0),
        Notice::Confirmed { session, .. } => format!("session {} is confirmed", session.0),
        _ => String::new(),
    }
}

/// A watch that has fired, in words.
#[must_use]
pub fn told(told: &Told) -> String {
    format!("the watch on {} has fired: {:?}", told.path, told.event)
}
