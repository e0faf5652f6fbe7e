//! The hub: one class for all families, and for `memory:`.

use alloc::{rc::Rc, string::String};
use core::{cell::RefCell, time::Duration};

use fencepost_core::{
    Failure, Instant, Intent, Key, Misuse, OwnerId, Patience, SessionId,
    lowered::{self, HubOutput, Notice, Outcome},
    redis,
    zookeeper::{self, Answer, SessionState, Stat, WatchEvent},
};
use fencepost_models::memory;
use wasm_bindgen::prelude::*;

use crate::{
    convert::{self, number},
    error,
    memory::MemoryServer,
    output::Outputs,
    reply,
    settings::Settings,
};

/// All machines on one connection. See `js/hub.ts` for what its methods do.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct RawHub(Inner, Outputs);

#[derive(Debug)]
enum Inner {
    Remote(lowered::Hub),
    /// With the time of the last input: the model needs it when it is polled.
    Memory(memory::Hub, Rc<RefCell<memory::Server>>, Instant),
}

type Done = Result<(), JsValue>;

#[wasm_bindgen]
impl RawHub {
    #[wasm_bindgen(constructor)]
    pub fn new(family: &str, seed: f64) -> Result<Self, JsValue> {
        lowered::Hub::new(family, convert::seed(seed))
            .map(|hub| Self(Inner::Remote(hub), Outputs::default()))
            .map_err(|why| error::config(&why))
    }

    pub fn memory(server: &MemoryServer, now: f64, seed: f64) -> Result<Self, JsValue> {
        let now = convert::now(now)?;
        let hub = memory::Hub::connect(&mut server.0.borrow_mut(), now, convert::seed(seed));
        let inner = Inner::Memory(hub, Rc::clone(&server.0), now);
        Ok(Self(inner, Outputs::default()))
    }

    /// The hub's number on its memory server; 0 for another hub.
    pub fn id(&self) -> f64 {
        match &self.0 {
            Inner::Remote(_) => 0.0,
            Inner::Memory(hub, ..) => number(hub.id()),
        }
    }

    pub fn open(&mut self, now: f64, settings: &Settings, owner: &[u8], seed: f64) -> Result<f64, JsValue> {
        let now = convert::now(now)?;
        let Ok(owner) = owner.try_into() else {
            return Err(error::config(&fencepost_core::ConfigError::Unreadable {
                why: "an owner is 16 random bytes".into(),
            }));
        };
        let (owner, seed) = (OwnerId(owner), convert::seed(seed));
        match &mut self.0 {
            Inner::Remote(hub) => hub.open(now, &settings.0, owner, seed),
            Inner::Memory(hub, server, last) => {
                *last = now;
                hub.open(&mut server.borrow_mut(), now, &settings.0, owner, seed)
            }
        }
        .map(|key| number(key.0))
        .map_err(|why| error::misuse(&why))
    }

    pub fn acquire(&mut self, now: f64, key: f64, patience: Option<f64>) -> Done {
        let patience = match patience {
            None => Patience::Forever,
            Some(millis) => Patience::For(convert::duration(
                "timeout",
                millis,
                ", or use tryAcquire for an attempt that does not wait",
            )?),
        };
        self.intent(now, key, Intent::Acquire(patience))
    }

    #[wasm_bindgen(js_name = tryAcquire)]
    pub fn try_acquire(&mut self, now: f64, key: f64) -> Done {
        self.intent(now, key, Intent::Acquire(Patience::Try))
    }

    pub fn extend(&mut self, now: f64, key: f64) -> Done {
        self.intent(now, key, Intent::Extend)
    }

    pub fn release(&mut self, now: f64, key: f64) -> Done {
        self.intent(now, key, Intent::Release)
    }

    pub fn cancel(&mut self, now: f64, key: f64) -> Done {
        self.intent(now, key, Intent::Cancel)
    }

    pub fn created(&mut self, now: f64, id: f64, session: i64, path: &str, czxid: i64) -> Done {
        let path = path.into();
        self.answer(now, id, session, Answer::Created { path, zxid: czxid })
    }

    /// `names` are joined with slashes, which no name has.
    pub fn children(&mut self, now: f64, id: f64, session: i64, names: &str) -> Done {
        let names = names.split('/').filter(|name| !name.is_empty());
        self.answer(
            now,
            id,
            session,
            Answer::Children(names.map(String::from).collect()),
        )
    }

    #[expect(clippy::too_many_arguments, reason = "scalars cross fastest")]
    pub fn data(
        &mut self,
        now: f64,
        id: f64,
        session: i64,
        data: &[u8],
        czxid: i64,
        ephemeral_owner: i64,
        version: i32,
    ) -> Done {
        let stat = Stat {
            czxid,
            ephemeral_owner,
            version,
        };
        let data = data.to_vec();
        self.answer(now, id, session, Answer::Data { data, stat })
    }

    pub fn done(&mut self, now: f64, id: f64, session: i64) -> Done {
        self.answer(now, id, session, Answer::Done)
    }

    pub fn error(&mut self, now: f64, id: f64, session: i64, code: i32) -> Done {
        self.answer(now, id, session, Answer::Error(code))
    }

    pub fn reply(&mut self, now: f64, id: f64, value: &JsValue) -> Done {
        let Some(reply) = reply::read(value) else {
            return self.wrong(now, id, "a Redis value");
        };
        self.outcome(now, id, Outcome::Redis(reply))
    }

    pub fn failed(&mut self, now: f64, id: f64, failure: &str) -> Done {
        let Some(failure) = Failure::from_name(failure) else {
            return self.wrong(now, id, "not-sent, unknown or closed");
        };
        self.outcome(now, id, Outcome::Failed(failure))
    }

    /// A reply that cannot even be converted: the command counts as unknown.
    pub fn wrong(&mut self, now: f64, id: f64, expected: &str) -> Done {
        self.outcome(now, id, Outcome::Failed(Failure::Unknown))?;
        let id = convert::id(id)?.0;
        Err(error::wrong_reply(id, expected))
    }

    pub fn session(&mut self, now: f64, state: &str, session: i64, timeout: f64) -> Done {
        let state = match state {
            "connected" => SessionState::Connected,
            "suspended" => SessionState::Suspended,
            "expired" => SessionState::Expired,
            "auth-failed" => SessionState::AuthFailed,
            "closed" => SessionState::Closed,
            _ => return Err(error::unreadable("state", state)),
        };
        let timeout = match state {
            SessionState::Connected => convert::duration("timeout", timeout, "")?,
            _ => Duration::ZERO,
        };
        self.notice(
            now,
            Notice::ZooKeeper(zookeeper::Notice::Session {
                state,
                session: SessionId(session),
                timeout,
            }),
        )
    }

    pub fn watch(&mut self, now: f64, id: f64, session: i64, event: &str) -> Done {
        let event = match event {
            "deleted" => WatchEvent::Deleted,
            "changed" => WatchEvent::Changed,
            "gone" => WatchEvent::Gone,
            _ => return Err(error::unreadable("event", event)),
        };
        self.notice(
            now,
            Notice::ZooKeeper(zookeeper::Notice::Watch {
                id: convert::id(id)?,
                session: SessionId(session),
                event,
            }),
        )
    }

    pub fn message(&mut self, now: f64, id: f64) -> Done {
        let id = convert::id(id)?;
        self.notice(now, Notice::Redis(redis::Notice::Message { id }))
    }

    pub fn gone(&mut self, now: f64, id: f64) -> Done {
        let id = convert::id(id)?;
        self.notice(now, Notice::Redis(redis::Notice::Gone { id }))
    }

    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) -> Done {
        let now = convert::now(now)?;
        match &mut self.0 {
            Inner::Remote(hub) => hub.handle_timeout(now),
            Inner::Memory(hub, server, last) => {
                *last = now;
                hub.handle_timeout(&mut server.borrow_mut(), now);
            }
        }
        Ok(())
    }

    pub fn poll(&mut self, only: Option<f64>) -> Result<JsValue, JsValue> {
        let only: Option<Key> = only.map(convert::key).transpose()?;
        let output: HubOutput = match &mut self.0 {
            Inner::Remote(hub) => hub.poll_output(only),
            Inner::Memory(hub, server, last) => hub.poll_output(&mut server.borrow_mut(), *last, only),
        };
        Ok(self.1.lowered(output))
    }

    pub fn close(&mut self, now: f64, key: f64) -> Done {
        let (now, key) = (convert::now(now)?, convert::key(key)?);
        match &mut self.0 {
            Inner::Remote(hub) => hub.close(now, key),
            Inner::Memory(hub, server, last) => {
                *last = now;
                hub.close(&mut server.borrow_mut(), now, key);
            }
        }
        Ok(())
    }

    pub fn shutdown(&mut self, now: f64) -> Done {
        let now = convert::now(now)?;
        match &mut self.0 {
            Inner::Remote(hub) => hub.shutdown(now),
            Inner::Memory(hub, server, last) => {
                *last = now;
                hub.shutdown(&mut server.borrow_mut(), now);
            }
        }
        Ok(())
    }

    /// Ends the session on a memory server.
    pub fn disconnect(&mut self, now: f64) -> Done {
        let now = convert::now(now)?;
        if let Inner::Memory(hub, server, last) = &mut self.0 {
            *last = now;
            hub.disconnect(&mut server.borrow_mut(), now);
        }
        Ok(())
    }

    pub fn pending(&self) -> f64 {
        let pending = match &self.0 {
            Inner::Remote(hub) => hub.pending(),
            Inner::Memory(hub, ..) => hub.pending(),
        };
        number(pending as u64)
    }
}

impl RawHub {
    fn intent(&mut self, now: f64, key: f64, intent: Intent) -> Done {
        let (now, key) = (convert::now(now)?, convert::key(key)?);
        match &mut self.0 {
            Inner::Remote(hub) => hub.intent(now, key, intent),
            Inner::Memory(hub, server, last) => {
                *last = now;
                hub.intent(&mut server.borrow_mut(), now, key, intent)
            }
        }
        .map_err(|why| error::misuse(&why))
    }

    fn answer(&mut self, now: f64, id: f64, session: i64, answer: Answer) -> Done {
        let session = SessionId(session);
        self.outcome(now, id, Outcome::ZooKeeper(zookeeper::Reply { session, answer }))
    }

    fn outcome(&mut self, now: f64, id: f64, outcome: Outcome) -> Done {
        let (now, id) = (convert::now(now)?, convert::id(id)?);
        self.remote()?
            .handle_outcome(now, id, outcome)
            .map_err(|why| error::misuse(&why))
    }

    fn notice(&mut self, now: f64, notice: Notice) -> Done {
        let now = convert::now(now)?;
        self.remote()?
            .handle_notice(now, notice)
            .map_err(|why| error::misuse(&why))
    }

    /// A memory server answers by itself: nobody else may.
    fn remote(&mut self) -> Result<&mut lowered::Hub, JsValue> {
        match &mut self.0 {
            Inner::Remote(hub) => Ok(hub),
            Inner::Memory(..) => Err(error::misuse(&Misuse::WrongFamily {
                expected: "zookeeper (on a memory server, which answers by itself)",
            })),
        }
    }
}
