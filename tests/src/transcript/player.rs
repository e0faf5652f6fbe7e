//! The replayer: passes a transcript's inputs to the public hub and compares its outputs, line by line, byte
//! for byte.

use core::time::Duration;

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Failure, Instant, Intent, Key, Misuse, Output, SessionId,
    Settings,
    claim::Content,
    lowered::{Hub, Notice, Outcome},
    redis, zookeeper,
    zookeeper::{Answer, SessionState, Stat, WatchEvent},
};

use super::{
    format::{Header, Input, Reply, Step},
    lines::line,
    promise::promise,
};

/// A hub with input lines and output lines.
#[derive(Debug)]
pub struct Player {
    hub: Hub,
    /// The last wait: its time, and its line.
    wait: Option<(Option<Instant>, String)>,
}

pub(super) type Failed = Box<dyn core::error::Error>;

/// Replays a transcript.
///
/// # Errors
/// The difference, with the line's number, the promises that the case guards, and its purpose; or a line that
/// cannot be parsed.
pub fn replay(text: &str) -> Result<(), String> {
    replayed(text, false)
}

/// Replays a transcript, and calls `handle_timeout` before each input, even if no timer is due. Such a call
/// must change nothing.
///
/// # Errors
/// Like [`replay`].
pub fn replay_with_early_timeouts(text: &str) -> Result<(), String> {
    replayed(text, true)
}

fn replayed(text: &str, early_timeouts: bool) -> Result<(), String> {
    let first = text.lines().next().ok_or("the transcript is empty")?;
    let header: Header = serde_json::from_str(first).map_err(|error| format!("line 1: {error}"))?;
    let mut broken = String::new();
    for name in &header.guards {
        let text = promise(name).map_err(|error| format!("line 1: {error}"))?;
        broken += &format!("\n{name} may be broken: {text}");
    }
    let why = &header.why;
    played(&header, text, early_timeouts)
        .map_err(|difference| format!("{difference}{broken}\nthe case: {why}"))
}

fn played(header: &Header, text: &str, early_timeouts: bool) -> Result<(), String> {
    let mut lines = text.lines().enumerate().skip(1);
    let mut player = Player::new(header).map_err(|error| error.to_string())?;
    while let Some((number, line)) = lines.next() {
        let at_line = |error: Failed| format!("line {}: {error}", number + 1);
        let step: Step = serde_json::from_str(line).map_err(|error| at_line(error.into()))?;
        if early_timeouts {
            player.early_timeout(step.at).map_err(at_line)?;
        }
        let returned = player.put(&step).map_err(at_line)?;
        for output in returned {
            let (number, expected) = lines.next().unwrap_or((number + 1, "nothing more"));
            if output != expected {
                return Err(format!(
                    "line {}:\n  returned {output}\n  expected {expected}",
                    number + 1
                ));
            }
        }
    }
    Ok(())
}

impl Player {
    /// A player with an empty hub.
    ///
    /// # Errors
    /// An unknown family.
    pub fn new(header: &Header) -> Result<Self, Failed> {
        Ok(Self {
            hub: Hub::new(&header.family, header.seed)?,
            wait: None,
        })
    }

    /// Passes one input to the hub and returns all outputs, up to the wait.
    ///
    /// # Errors
    /// An input that cannot be parsed, or another misuse than in the step.
    pub fn put(&mut self, step: &Step) -> Result<Vec<String>, Failed> {
        let misuse = self.input(step)?.err().map(|misuse| misuse.name());
        if misuse != step.misuse.as_deref() {
            return Err(format!("misuse {misuse:?}, expected {:?}", step.misuse).into());
        }
        self.outputs()
    }

    /// The same for a step that is being recorded: the step gets the misuse that the call returns.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn put_first(&mut self, step: &mut Step) -> Result<Vec<String>, Failed> {
        step.misuse = self.input(step)?.err().map(|misuse| misuse.name().into());
        self.outputs()
    }

    fn outputs(&mut self) -> Result<Vec<String>, Failed> {
        let mut outputs = Vec::new();
        loop {
            let (key, output) = self.hub.poll_output(None);
            let line = line(key, &output)?;
            outputs.push(line.clone());
            if let Output::Wait(wait) = output {
                self.wait = Some((wait.until, line));
                return Ok(outputs);
            }
        }
    }

    /// Calls `handle_timeout`, if no timer is due at this time.
    fn early_timeout(&mut self, at: u64) -> Result<(), Failed> {
        let now = Instant::from_micros(at);
        let Some((until, wait)) = self.wait.take() else {
            return Ok(());
        };
        if until.is_none_or(|until| now < until) {
            self.hub.handle_timeout(now);
            let outputs = self.outputs()?;
            if outputs != [wait] {
                return Err(format!("an early timeout returned {outputs:?}").into());
            }
        }
        Ok(())
    }

    /// How many machines the hub still has.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.hub.pending()
    }

    fn input(&mut self, step: &Step) -> Result<Result<(), Misuse>, Failed> {
        let now = Instant::from_micros(step.at);
        let hub = &mut self.hub;
        Ok(match &step.input {
            Input::Open {
                settings,
                contender,
                seed,
            } => {
                let settings: Settings = serde_json::from_value(settings.clone())?;
                let contender = u128::from_str_radix(contender, 16)?.to_be_bytes();
                hub.open(now, &settings, ContenderId(contender), *seed)
                    .map(|_| ())
            }
            Input::Acquire { key, acquire_timeout } => {
                let acquire_timeout = acquire_timeout.map_or(AcquireTimeout::Forever, |limit| {
                    AcquireTimeout::For(Duration::from_micros(limit))
                });
                hub.intent(now, Key(*key), Intent::Acquire(acquire_timeout))
            }
            Input::Try { key } => hub.intent(now, Key(*key), Intent::Acquire(AcquireTimeout::Try)),
            Input::Extend { key } => hub.intent(now, Key(*key), Intent::Extend),
            Input::Release { key } => hub.intent(now, Key(*key), Intent::Release),
            Input::Downgrade { key } => hub.intent(now, Key(*key), Intent::Downgrade),
            Input::Complete { key, tag, result } => {
                let content = Content::new(tag, result.as_bytes().into())?;
                hub.intent(now, Key(*key), Intent::Complete(content))
            }
            Input::Leave { key } => hub.intent(now, Key(*key), Intent::Leave),
            Input::Cancel { key } => hub.intent(now, Key(*key), Intent::Cancel),
            Input::Close { key } => {
                hub.close(now, Key(*key));
                Ok(())
            }
            Input::Shutdown => {
                hub.shutdown(now);
                Ok(())
            }
            Input::Timeout => {
                hub.handle_timeout(now);
                Ok(())
            }
            Input::Reply { id, reply } => hub.handle_outcome(now, CommandId(*id), outcome(reply)?),
            Input::Fail { id, failure } => {
                let failure = Failure::from_name(failure).ok_or("unknown failure")?;
                hub.handle_outcome(now, CommandId(*id), Outcome::Failed(failure))
            }
            Input::Session {
                state,
                session,
                timeout,
            } => {
                let notice = zookeeper::Notice::Session {
                    state: session_state(state)?,
                    session: SessionId(session.parse()?),
                    timeout: Duration::from_micros(*timeout),
                };
                hub.handle_notice(now, Notice::ZooKeeper(notice))
            }
            Input::Watch { id, session, event } => {
                let notice = zookeeper::Notice::Watch {
                    id: CommandId(*id),
                    session: SessionId(session.parse()?),
                    event: watch_event(event)?,
                };
                hub.handle_notice(now, Notice::ZooKeeper(notice))
            }
            Input::Message { id } => {
                hub.handle_notice(now, Notice::Redis(redis::Notice::Message { id: CommandId(*id) }))
            }
            Input::Gone { id } => {
                hub.handle_notice(now, Notice::Redis(redis::Notice::Gone { id: CommandId(*id) }))
            }
        })
    }
}

fn session_state(name: &str) -> Result<SessionState, Failed> {
    SessionState::from_name(name).ok_or_else(|| format!("unknown session state {name:?}").into())
}

fn watch_event(name: &str) -> Result<WatchEvent, Failed> {
    WatchEvent::from_name(name).ok_or_else(|| format!("unknown watch event {name:?}").into())
}

fn outcome(reply: &Reply) -> Result<Outcome, Failed> {
    let (session, answer) = match reply {
        Reply::Value { value } => return Ok(Outcome::Redis(redis_value(value)?)),
        Reply::RedisError { error } => return Ok(Outcome::Redis(redis::Reply::Error(error.clone()))),
        Reply::Created { session, path, czxid } => (
            session,
            Answer::Created {
                path: path.clone(),
                zxid: czxid.parse()?,
            },
        ),
        Reply::Children { session, names } => (session, Answer::Children(names.clone())),
        Reply::Data {
            session,
            data,
            czxid,
            mzxid,
            owner,
            version,
            created,
            modified,
        } => {
            let created = created.unwrap_or_default();
            let stat = Stat {
                czxid: czxid.parse()?,
                mzxid: mzxid.as_ref().unwrap_or(czxid).parse()?,
                ephemeral_owner: owner.parse()?,
                version: *version,
                created,
                modified: modified.unwrap_or(created),
            };
            (
                session,
                Answer::Data {
                    data: data.clone().into_bytes(),
                    stat,
                },
            )
        }
        Reply::Done { session } => (session, Answer::Done),
        Reply::Error { session, code } => (session, Answer::Error(*code)),
    };
    Ok(Outcome::ZooKeeper(zookeeper::Reply {
        session: SessionId(session.parse()?),
        answer,
    }))
}

fn redis_value(value: &serde_json::Value) -> Result<redis::Reply, Failed> {
    use serde_json::Value;
    Ok(match value {
        Value::Null => redis::Reply::Nil,
        Value::Number(number) => redis::Reply::Int(number.as_i64().ok_or("not a whole number")?),
        Value::String(text) => redis::Reply::Bytes(text.clone().into_bytes()),
        Value::Array(items) => redis::Reply::Array(items.iter().map(redis_value).collect::<Result<_, _>>()?),
        Value::Bool(_) | Value::Object(_) => return Err("no Redis value".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_read_as_it_was_written() {
        let new = Stat {
            czxid: 7,
            mzxid: 7,
            ephemeral_owner: 1,
            version: 0,
            created: 0,
            modified: 0,
        };
        let changed = Stat {
            mzxid: 9,
            version: 1,
            created: 5,
            modified: 6,
            ..new
        };
        for (stat, fields) in [
            (new, 6),
            (
                Stat {
                    created: 5,
                    modified: 5,
                    ..new
                },
                7,
            ),
            (changed, 9),
        ] {
            let written = serde_json::to_value(Reply::data("1".into(), "x".into(), &stat)).unwrap();
            assert_eq!(written.as_object().unwrap().len(), fields, "{written}");
            let answer = Answer::Data {
                data: b"x".into(),
                stat,
            };
            let session = SessionId(1);
            let read = outcome(&serde_json::from_value(written).unwrap()).unwrap();
            assert_eq!(read, Outcome::ZooKeeper(zookeeper::Reply { session, answer }));
        }
    }
}
