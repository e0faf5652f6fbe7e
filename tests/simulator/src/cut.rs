//! A transcript cut from a run: the inputs of one process of one client, in the form that every language replays.

use fencepost_core::{
    AcquireTimeout, Failure, Instant, Intent, Outcome,
    redis::{Notice as RedisNotice, Reply as RedisReply},
    zookeeper::{Answer, Notice as ZooKeeperNotice, Reply as ZooKeeperReply, SessionState, WatchEvent},
};
use fencepost_tests::transcript::{Header, Input as Line, Player, Reply, Step};
use serde_json::{Value, json};

use crate::{
    backend::{Backend, NoticeOf, ReplyOf},
    prove::Uncut,
    run::Run,
    step::Number,
    subject::owner,
    trace::{Input, Trace},
    world::BEGINNING,
};

/// A backend whose answers and notices can be written as transcripts.
pub trait Spoken: Backend {
    /// An answer.
    fn reply(reply: &ReplyOf<Self>) -> Reply;
    /// A notice.
    fn notice(notice: &NoticeOf<Self>) -> Line;
}

/// Records the inputs of the first process of one client.
#[derive(Debug)]
pub struct Cut {
    client: Number,
    over: bool,
    lines: Vec<(Instant, Line)>,
}

impl Cut {
    /// A recorder for that client.
    #[must_use]
    pub const fn new(client: Number) -> Self {
        Self {
            client,
            over: false,
            lines: Vec::new(),
        }
    }

    /// The transcript.
    ///
    /// # Errors
    /// [`Uncut`] if the machine has no settings for transcripts, or has other outputs for the same inputs.
    pub fn text(&self, family: &str, settings: &str, run: &Run, why: &str) -> Result<String, Uncut> {
        let unlike =
            |error: &dyn core::fmt::Display| Uncut(format!("the transcript does not repeat: {error}"));
        let header = Header {
            family: family.into(),
            seed: run.seed,
            why: why.into(),
            source: Some(format!(
                "the simulator, seed {}, client {}",
                run.seed,
                crate::checker::name(self.client)
            )),
            guards: Vec::new(),
        };
        let mut player = Player::new(&header).map_err(|error| unlike(&error))?;
        let settings: Value = serde_json::from_str(settings).map_err(|error| Uncut(error.to_string()))?;
        let open = Line::Open {
            settings,
            contender: owner(self.client, 0).to_string(),
            seed: run.seed,
        };
        let mut text = serde_json::to_string(&header).map_err(|error| unlike(&error))?;
        for (at, input) in core::iter::once(&(BEGINNING, open)).chain(&self.lines) {
            let mut step = Step {
                at: at.as_micros(),
                input: input.clone(),
                misuse: None,
            };
            // The answer to another request may have the wrong shape.
            let outputs = player.put_first(&mut step).map_err(|error| unlike(&error))?;
            text.push('\n');
            text += &serde_json::to_string(&step).map_err(|error| unlike(&error))?;
            for output in outputs {
                text.push('\n');
                text += &output;
            }
        }
        text.push('\n');
        Ok(text)
    }
}

impl<B: Spoken> Trace<B> for Cut {
    fn input(&mut self, client: Number, local: Instant, input: impl FnOnce() -> Input<B>) {
        if client != self.client || self.over {
            return;
        }
        let key = 1;
        let line = match input() {
            Input::Intent(Intent::Acquire(AcquireTimeout::Try)) => Line::Try { key },
            Input::Intent(Intent::Acquire(timeout)) => Line::Acquire {
                key,
                acquire_timeout: match timeout {
                    AcquireTimeout::For(limit) => u64::try_from(limit.as_micros()).ok(),
                    AcquireTimeout::Forever | AcquireTimeout::Try => None,
                },
            },
            Input::Intent(Intent::Extend) => Line::Extend { key },
            Input::Intent(Intent::Release) => Line::Release { key },
            Input::Intent(Intent::Downgrade) => Line::Downgrade { key },
            Input::Intent(_) => Line::Cancel { key },
            Input::Outcome(id, Outcome::Reply(reply)) => Line::Reply {
                id: id.0,
                reply: B::reply(&reply),
            },
            Input::Outcome(id, Outcome::Failed(failure)) => Line::Fail {
                id: id.0,
                failure: Failure::name(failure).into(),
            },
            Input::Notice(notice) => B::notice(&notice),
            Input::Timeout => Line::Timeout,
            Input::Shutdown => Line::Shutdown,
        };
        self.lines.push((local, line));
    }

    fn anew(&mut self, client: Number) {
        self.over |= client == self.client;
    }
}

impl Spoken for crate::zookeeper::Servers {
    fn reply(reply: &ZooKeeperReply) -> Reply {
        let session = reply.session.0.to_string();
        match &reply.answer {
            Answer::Created { path, zxid } => Reply::Created {
                session,
                path: path.clone(),
                czxid: zxid.to_string(),
            },
            Answer::Children(names) => Reply::Children {
                session,
                names: names.clone(),
            },
            Answer::Data { data, stat } => {
                Reply::data(session, String::from_utf8_lossy(data).into_owned(), stat)
            }
            Answer::Error(code) => Reply::Error { session, code: *code },
            _ => Reply::Done { session },
        }
    }

    fn notice(notice: &ZooKeeperNotice) -> Line {
        match notice {
            ZooKeeperNotice::Watch { id, session, event } => Line::Watch {
                id: id.0,
                session: session.0.to_string(),
                event: match event {
                    WatchEvent::Deleted => "deleted",
                    WatchEvent::Changed => "changed",
                    _ => "gone",
                }
                .into(),
            },
            ZooKeeperNotice::Session {
                state,
                session,
                timeout,
            } => Line::Session {
                state: match state {
                    SessionState::Connecting => "connecting",
                    SessionState::Connected => "connected",
                    SessionState::Suspended => "suspended",
                    SessionState::Expired => "expired",
                    SessionState::AuthFailed => "auth-failed",
                    _ => "closed",
                }
                .into(),
                session: session.0.to_string(),
                timeout: u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX),
            },
            _ => Line::Timeout,
        }
    }
}

impl Spoken for crate::redis::Servers {
    fn reply(reply: &RedisReply) -> Reply {
        match reply {
            RedisReply::Error(error) => Reply::RedisError { error: error.clone() },
            other => Reply::Value { value: value(other) },
        }
    }

    fn notice(notice: &RedisNotice) -> Line {
        match notice {
            RedisNotice::Message { id } => Line::Message { id: id.0 },
            RedisNotice::Gone { id } => Line::Gone { id: id.0 },
            _ => Line::Timeout,
        }
    }
}

fn value(reply: &RedisReply) -> Value {
    match reply {
        RedisReply::Int(number) => json!(number),
        RedisReply::Bytes(bytes) => json!(String::from_utf8_lossy(bytes)),
        RedisReply::Array(items) => items.iter().map(value).collect(),
        _ => Value::Null,
    }
}
