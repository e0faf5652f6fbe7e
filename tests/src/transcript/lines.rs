//! The outputs of a hub, as the lines of a transcript.

use core::fmt::Write as _;

use fencepost_core::{
    Cause, Event, Found, Instant, Key, Output, Target,
    claim::Record,
    lowered::{ANY_VERSION, Request},
};
use serde::Serialize;

use super::player::Failed;

/// An output line. The order of the fields is part of the format.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Command {
        command: &'a str,
        id: u64,
        key: u64,
        target: String,
        deadline: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        flags: Option<u32>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        parts: Vec<Part<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Vec<String>>,
    },
    Queued {
        event: &'a str,
        key: u64,
        ahead: Option<u32>,
    },
    Acquired {
        event: &'a str,
        key: u64,
        attempt: String,
        fence: Option<String>,
        #[serde(skip_serializing_if = "is_zero")]
        takeovers: u64,
        valid_until: Option<u64>,
    },
    Valid {
        event: &'a str,
        key: u64,
        valid_until: Option<u64>,
    },
    Plain {
        event: &'a str,
        key: u64,
    },
    Detail {
        event: &'a str,
        key: u64,
        detail: &'a str,
    },
    Found {
        event: &'a str,
        key: u64,
        contenders: Vec<Shown<'a>>,
    },
    Record {
        event: &'a str,
        key: u64,
        record: Option<ShownRecord<'a>>,
    },
    Swept {
        event: &'a str,
        key: u64,
        deleted: u64,
    },
    Ended {
        event: &'a str,
        key: u64,
        reason: &'a str,
        command: Option<u64>,
        detail: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u128>,
        #[serde(skip_serializing_if = "Option::is_none")]
        record: Option<ShownRecord<'a>>,
    },
    Wait {
        wait: Option<u64>,
        reason: Option<&'a str>,
    },
}

pub(super) fn line(key: Key, output: &Output<Request, Event>) -> Result<String, Failed> {
    let key = key.0;
    let line = match output {
        Output::Command(command) => {
            let request = &command.request;
            let redis = !request.arguments.is_empty();
            Line::Command {
                command: request.operation.name(),
                id: command.id.0,
                key,
                target: target(command.target),
                deadline: command.deadline.map(Instant::as_micros),
                path: (!redis).then_some(&request.path),
                data: (!redis).then(|| String::from_utf8_lossy(&request.data).into_owned()),
                flags: (!redis).then_some(request.flags),
                parts: request.parts.iter().map(Part::from).collect(),
                arguments: redis.then(|| {
                    request
                        .arguments
                        .iter()
                        .map(|one| String::from_utf8_lossy(one).into_owned())
                        .collect()
                }),
            }
        }
        Output::Event(event) => event_line(key, event),
        Output::Wait(wait) => Line::Wait {
            wait: wait.until.map(Instant::as_micros),
            reason: wait.reason.map(|timer| timer.name()),
        },
        _ => return Err("an output of an unknown kind".into()),
    };
    Ok(serde_json::to_string(&line)?)
}

/// A part of a multi.
#[derive(Serialize)]
struct Part<'a> {
    command: &'a str,
    path: &'a str,
    data: String,
    flags: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
}

impl<'a> From<&'a Request> for Part<'a> {
    fn from(request: &'a Request) -> Self {
        Self {
            command: request.operation.name(),
            path: &request.path,
            data: String::from_utf8_lossy(&request.data).into_owned(),
            flags: request.flags,
            version: (request.version != ANY_VERSION).then_some(request.version),
        }
    }
}

/// A contender that was found.
#[derive(Serialize)]
struct Shown<'a> {
    node: &'a str,
    holds: bool,
    shared: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    /// In microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in: Option<u128>,
    fence: String,
    identifier: &'a str,
}

impl<'a> From<&'a Found> for Shown<'a> {
    fn from(found: &'a Found) -> Self {
        Self {
            node: &found.node,
            holds: found.holds,
            shared: found.shared,
            session: found.session.map(|session| session.0.to_string()),
            since: found.since,
            expires_in: found.expires_in.map(|left| left.as_micros()),
            fence: found.fence.to_string(),
            identifier: &found.identifier,
        }
    }
}

/// The fields of a record for an application.
#[derive(Serialize)]
struct ShownRecord<'a> {
    state: &'a str,
    attempt: String,
    fence: String,
    takeovers: u64,
    policy: &'a str,
    lease_end: u64,
    kept_until: u64,
    version: u64,
    tag: &'a str,
    result: String,
}

impl<'a> From<&'a Record> for ShownRecord<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            state: record.state.name(),
            attempt: record.attempt.text(),
            fence: record.fence.to_string(),
            takeovers: record.takeovers,
            policy: record.policy.name(),
            lease_end: record.lease_end,
            kept_until: record.kept_until,
            version: record.version,
            tag: &record.tag,
            result: String::from_utf8_lossy(&record.result).into_owned(),
        }
    }
}

fn event_line(key: u64, event: &Event) -> Line<'_> {
    let name = event.name();
    match event {
        Event::Queued { ahead } => Line::Queued {
            event: name,
            key,
            ahead: *ahead,
        },
        Event::Acquired { grant } => Line::Acquired {
            event: name,
            key,
            attempt: grant.attempt.to_string(),
            fence: grant.fence.map(|fence| fence.to_string()),
            takeovers: grant.takeovers,
            valid_until: grant.valid_until.map(Instant::as_micros),
        },
        Event::Extended { valid_until } | Event::Resumed { valid_until } => Line::Valid {
            event: name,
            key,
            valid_until: valid_until.map(Instant::as_micros),
        },
        Event::Lost { reason, cause } => ended(name, key, reason.name(), cause),
        Event::Refused { reason, cause } => ended(name, key, reason.name(), cause),
        Event::Completed { record } | Event::Replayed { record } => Line::Record {
            event: name,
            key,
            record: Some(record.as_ref().into()),
        },
        Event::Looked { record } => Line::Record {
            event: name,
            key,
            record: record.as_deref().map(ShownRecord::from),
        },
        Event::Swept { deleted } => Line::Swept {
            event: name,
            key,
            deleted: *deleted,
        },
        Event::MixedLayouts { node } => Line::Detail {
            event: name,
            key,
            detail: node,
        },
        Event::Found { contenders } => Line::Found {
            event: name,
            key,
            contenders: contenders.iter().map(Shown::from).collect(),
        },
        _ => Line::Plain { event: name, key },
    }
}

fn ended<'a>(event: &'a str, key: u64, reason: &'a str, cause: &'a Cause) -> Line<'a> {
    Line::Ended {
        event,
        key,
        reason,
        command: cause.command.map(|id| id.0),
        detail: cause.detail.as_deref(),
        retry_after: cause.retry_after.map(|after| after.as_micros()),
        record: cause.record.as_deref().map(ShownRecord::from),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn target(target: Target) -> String {
    match target {
        Target::Server(n) => {
            let mut text = String::from("server-");
            let _written = write!(text, "{n}");
            text
        }
        Target::Own => "own".into(),
        _ => "any".into(),
    }
}

#[cfg(test)]
mod tests {
    use fencepost_core::zookeeper::{Request as Node, Write};

    use super::*;

    #[test]
    fn a_part_shows_the_version_that_it_names() {
        let set = |version| Write::Set {
            path: "/a".into(),
            data: b"x".into(),
            version,
        };
        let writes = vec![set(Some(3)), set(None)];
        let request = Request::from(Node::Multi { writes });
        let parts: Vec<_> = request.parts.iter().map(Part::from).collect();
        assert_eq!(
            serde_json::to_string(&parts).unwrap(),
            r#"[{"command":"set","path":"/a","data":"x","flags":0,"version":3},{"command":"set","path":"/a","data":"x","flags":0}]"#
        );
    }
}
