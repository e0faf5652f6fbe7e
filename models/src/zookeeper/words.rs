//! Short texts of requests, replies and notices, for people.
//!
//! The argument `named` is a function that shortens a path. Other names are not shortened.

// This module does not use `format!`, because its code would be a tenth of the module of `memory:` in JavaScript.

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    text::{decimal, signed},
    zookeeper::{Answer, CreateMode, Notice, Request, SessionState, WatchEvent, Write},
};

use super::{Event, FiredWatch};

/// A request as text.
#[must_use]
pub fn request(request: &Request, named: fn(&str) -> &str) -> String {
    match request {
        Request::Create { path, mode, .. } => create(named(path), *mode),
        Request::Children { path, watch: true } => ["list and watch ", path].concat(),
        Request::Children { path, .. } => ["children ", path].concat(),
        Request::Get { path, watch: true } => ["get and watch ", named(path)].concat(),
        Request::Get { path, .. } => ["get ", named(path)].concat(),
        Request::Set { path, .. } => ["set ", named(path)].concat(),
        Request::Delete { path } => ["delete ", named(path)].concat(),
        Request::Sync { .. } => "sync".into(),
        Request::Multi { writes } if matches!(writes.as_slice(), [Write::Check { .. }]) => "check".into(),
        Request::Multi { writes } => {
            let words: Vec<String> = writes.iter().map(|one| write(one, named)).collect();
            ["multi: ", &words.join(", ")].concat()
        }
        _ => "reconnect".into(),
    }
}

fn write(write: &Write, named: fn(&str) -> &str) -> String {
    let (verb, path, version) = match write {
        Write::Create { path, mode, .. } => return create(named(path), *mode),
        Write::Set { path, version, .. } => ("set ", path, version),
        Write::Delete { path, version } => ("delete ", path, version),
        Write::Check { path, version } => ("check ", path, version),
        _ => return String::new(),
    };
    let [before, version] = version.map_or([""; 2].map(String::from), |version| {
        [" at ".into(), signed(version.into())]
    });
    [verb, named(path), &before, &version].concat()
}

fn create(name: &str, mode: CreateMode) -> String {
    let mode = match mode {
        CreateMode::Ephemeral => "Ephemeral",
        CreateMode::EphemeralSequential => "EphemeralSequential",
        CreateMode::Container => "Container",
        _ => "Persistent",
    };
    ["create ", name, " ", mode].concat()
}

/// A reply as text.
#[must_use]
pub fn answer(answer: &Answer, named: fn(&str) -> &str) -> String {
    match answer {
        Answer::Created { path, zxid } => ["created ", named(path), ", czxid ", &signed(*zxid)].concat(),
        Answer::Children(names) => {
            let names: Vec<&str> = names.iter().map(|name| named(name)).collect();
            ["children: ", &names.join(", ")].concat()
        }
        Answer::Data { stat, .. } => {
            let (owner, czxid) = (signed(stat.ephemeral_owner), signed(stat.czxid));
            ["node of session ", &owner, ", czxid ", &czxid].concat()
        }
        Answer::Error(error) => ["error ", &signed((*error).into())].concat(),
        _ => "done".into(),
    }
}

/// A notice as text.
#[must_use]
pub fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Watch { id, event, .. } => {
            let event = match event {
                WatchEvent::Deleted => "Deleted",
                WatchEvent::Gone => "Gone",
                _ => "Changed",
            };
            ["the watch of request ", &decimal(id.0), " has fired: ", event].concat()
        }
        Notice::Session { state, session, .. } => {
            let state = match state {
                SessionState::Connecting => "Connecting",
                SessionState::Connected => "Connected",
                SessionState::Suspended => "Suspended",
                SessionState::Expired => "Expired",
                SessionState::AuthFailed => "AuthFailed",
                _ => "Closed",
            };
            ["session ", &signed(session.0), " is ", state].concat()
        }
        Notice::Confirmed { session, .. } => ["session ", &signed(session.0), " is confirmed"].concat(),
        _ => String::new(),
    }
}

/// A fired watch as text.
#[must_use]
pub fn fired_watch(fired: &FiredWatch) -> String {
    let event = match fired.event {
        Event::Created => "Created",
        Event::Deleted => "Deleted",
        Event::Changed => "Changed",
        Event::Children => "Children",
    };
    ["the watch on ", &fired.path, " has fired: ", event].concat()
}
