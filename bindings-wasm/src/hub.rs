//! The hub behind the exports, with results in JavaScript's numbers and errors.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    convert::{self, number},
    error::{self, Kept},
    family::{Chosen, Family},
    settings::Settings,
};
use fencepost_core::{
    AcquireTimeout, ConfigError, ContenderId, Failure, Intent, Key, Misuse, Outcome, SessionId,
    claim::Content,
    hub::{self, Family as _},
    lowered::HubOutput,
    redis,
    zookeeper::{self, Answer, SessionState, WatchEvent},
};

/// A hub for the family of this module.
#[derive(Debug)]
pub(crate) struct Hub(hub::Hub<Chosen>);

pub(crate) type Done = Result<(), Kept>;

impl Hub {
    pub(crate) fn new(family: &str, seed: f64) -> Result<Self, Kept> {
        if family == Chosen::NAME {
            return Ok(Self(hub::Hub::new(convert::seed(seed))));
        }
        Err(error::config(&ConfigError::UnknownOption {
            option: family.into(),
            known: "the families are zookeeper and redis".into(),
        }))
    }

    pub(crate) fn open(
        &mut self,
        now: f64,
        settings: &Settings,
        contender: &[u8],
        seed: f64,
    ) -> Result<f64, Kept> {
        let now = convert::now(now)?;
        let contender = contender.try_into().map_err(|_| {
            let why = "a contender is 16 random bytes".into();
            error::config(&ConfigError::Unreadable { why })
        })?;
        let (contender, seed) = (ContenderId(contender), convert::seed(seed));
        let settings = Chosen::settings(&settings.0).ok_or_else(foreign)?;
        self.0
            .open(now, settings.clone(), contender, seed)
            .map(|key| number(key.0))
            .map_err(|why| error::misuse(&why))
    }

    pub(crate) fn acquire(&mut self, now: f64, key: f64, acquire_timeout: Option<f64>) -> Done {
        let hint = ", or use tryAcquire (for a claim: wait: false) for an attempt that does not wait";
        let acquire_timeout = match acquire_timeout {
            None => AcquireTimeout::Forever,
            Some(millis) => AcquireTimeout::For(convert::duration("timeout", millis, hint)?),
        };
        self.intent(now, key, Intent::Acquire(acquire_timeout))
    }

    pub(crate) fn complete(&mut self, now: f64, key: f64, tag: &str, result: Vec<u8>) -> Done {
        let content = Content::new(tag, result).map_err(|why| error::config(&why))?;
        self.intent(now, key, Intent::Complete(content))
    }

    pub(crate) fn intent(&mut self, now: f64, key: f64, intent: Intent) -> Done {
        let (now, key) = (convert::now(now)?, convert::key(key)?);
        self.0.intent(now, key, intent).map_err(|why| error::misuse(&why))
    }

    /// A reply of ZooKeeper.
    pub(crate) fn answer(
        &mut self,
        now: f64,
        id: f64,
        session: i64,
        answer: impl FnOnce() -> Answer,
    ) -> Done {
        let session = SessionId(session);
        let reply = Chosen::zookeeper_reply(|| zookeeper::Reply {
            session,
            answer: answer(),
        });
        self.outcome(now, id, Outcome::Reply(reply.ok_or_else(foreign)?))
    }

    /// A reply of Redis.
    pub(crate) fn reply(&mut self, now: f64, id: f64, reply: impl FnOnce() -> redis::Reply) -> Done {
        self.outcome(
            now,
            id,
            Outcome::Reply(Chosen::redis_reply(reply).ok_or_else(foreign)?),
        )
    }

    pub(crate) fn failed(&mut self, now: f64, id: f64, failure: &str) -> Done {
        match Failure::from_name(failure) {
            Some(failure) => self.outcome(now, id, Outcome::Failed(failure)),
            None => self.wrong(now, id, "not-sent, unknown or closed"),
        }
    }

    /// A reply that cannot be converted: the outcome of the command is unknown.
    pub(crate) fn wrong(&mut self, now: f64, id: f64, expected: &str) -> Done {
        self.outcome(now, id, Outcome::Failed(Failure::Unknown))?;
        Err(error::wrong_reply(convert::id(id)?.0, expected))
    }

    fn outcome(&mut self, now: f64, id: f64, outcome: Outcome<<Chosen as hub::Family>::Reply>) -> Done {
        let (now, id) = (convert::now(now)?, convert::id(id)?);
        self.0
            .handle_outcome(now, id, outcome)
            .map_err(|why| error::misuse(&why))
    }

    pub(crate) fn session(&mut self, now: f64, state: &str, session: i64, timeout: f64) -> Done {
        let notice = Chosen::zookeeper_notice(|| session_notice(state, session, timeout));
        self.notice(now, notice)
    }

    pub(crate) fn watch(&mut self, now: f64, id: f64, session: i64, event: &str) -> Done {
        let notice = Chosen::zookeeper_notice(|| watch_notice(id, session, event));
        self.notice(now, notice)
    }

    pub(crate) fn message(&mut self, now: f64, id: f64) -> Done {
        let notice = Chosen::redis_notice(|| convert::id(id).map(|id| redis::Notice::Message { id }));
        self.notice(now, notice)
    }

    pub(crate) fn gone(&mut self, now: f64, id: f64) -> Done {
        let notice = Chosen::redis_notice(|| convert::id(id).map(|id| redis::Notice::Gone { id }));
        self.notice(now, notice)
    }

    fn notice(&mut self, now: f64, notice: Option<Result<<Chosen as hub::Family>::Notice, Kept>>) -> Done {
        let now = convert::now(now)?;
        let notice = notice.ok_or_else(foreign)??;
        self.0
            .handle_notice(now, notice)
            .map_err(|why| error::misuse(&why))
    }

    pub(crate) fn handle_timeout(&mut self, now: f64) -> Done {
        let now = convert::now(now)?;
        self.0.handle_timeout(now);
        Ok(())
    }

    pub(crate) fn poll(&mut self, only: Option<Key>) -> HubOutput {
        let (key, output) = self.0.poll_output(only);
        (key, output.with_request())
    }

    pub(crate) fn close(&mut self, now: f64, key: f64) -> Result<f64, Kept> {
        let (now, key) = (convert::now(now)?, convert::key(key)?);
        Ok(self.0.close(now, key).map_or(0.0, |unused| number(unused.0)))
    }

    pub(crate) fn serves(&self, key: Key) -> bool {
        self.0.serves(key)
    }

    pub(crate) fn shutdown(&mut self, now: f64) -> Done {
        let now = convert::now(now)?;
        self.0.shutdown(now);
        Ok(())
    }

    pub(crate) fn pending(&self) -> usize {
        self.0.pending()
    }

    pub(crate) fn unreleased(&self) -> usize {
        self.0.unreleased()
    }
}

fn session_notice(state: &str, session: i64, timeout: f64) -> Result<zookeeper::Notice, Kept> {
    let state = SessionState::from_name(state).ok_or_else(|| error::unreadable("state", state))?;
    let timeout = match state {
        SessionState::Connected => convert::duration("timeout", timeout, "")?,
        _ => Duration::ZERO,
    };
    let session = SessionId(session);
    Ok(zookeeper::Notice::Session {
        state,
        session,
        timeout,
    })
}

fn watch_notice(id: f64, session: i64, event: &str) -> Result<zookeeper::Notice, Kept> {
    let event = WatchEvent::from_name(event).ok_or_else(|| error::unreadable("event", event))?;
    let (id, session) = (convert::id(id)?, SessionId(session));
    Ok(zookeeper::Notice::Watch { id, session, event })
}

/// The error for a value of the other family.
pub(crate) fn foreign() -> Kept {
    error::misuse(&Misuse::WrongFamily {
        expected: Chosen::NAME,
    })
}
