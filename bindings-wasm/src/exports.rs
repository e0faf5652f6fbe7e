//! The functions for JavaScript. `js/hub/hub.ts` describes each method.
//!
//! Methods return whether they succeeded; if not, `js/errors.ts` has the error to throw. A plain boolean
//! costs nothing to pass; a result would be an array, and a reference can crash V8 (see `output.rs`).

use alloc::{string::String, vec::Vec};

use fencepost_core::{
    Intent, Key, redis, text,
    zookeeper::{Answer, Stat},
};
use wasm_bindgen::prelude::*;

use crate::{
    convert,
    hub::{self, Hub},
    output::Outputs,
    reply::Parts,
    settings::Settings,
};

/// All machines on one connection.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct RawHub {
    hub: Hub,
    outputs: Outputs,
    parts: Parts,
}

#[wasm_bindgen]
impl RawHub {
    #[wasm_bindgen(constructor)]
    pub fn new(family: &str, seed: f64) -> Result<Self, JsValue> {
        let hub = Hub::new(family, seed)?;
        Ok(Self {
            hub,
            outputs: Outputs::new(),
            parts: Parts::default(),
        })
    }

    pub fn pending(&self) -> usize {
        self.hub.pending()
    }

    pub fn unreleased(&self) -> usize {
        self.hub.unreleased()
    }

    /// Returns the key; 0 after an error.
    pub fn open(&mut self, now: f64, settings: &Settings, contender: &[u8], seed: f64) -> f64 {
        self.hub.open(now, settings, contender, seed).unwrap_or_default()
    }

    /// Reports the error of an [`Self::open`] with settings that another module made.
    pub fn foreign(&self) -> bool {
        hub::foreign();
        false
    }

    pub fn acquire(&mut self, now: f64, key: f64, acquire_timeout: Option<f64>) -> bool {
        self.hub.acquire(now, key, acquire_timeout).is_ok()
    }

    #[wasm_bindgen(js_name = tryAcquire)]
    pub fn try_acquire(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Acquire(fencepost_core::AcquireTimeout::Try))
    }

    pub fn extend(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Extend)
    }

    pub fn release(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Release)
    }

    pub fn complete(&mut self, now: f64, key: f64, tag: &str, result: Vec<u8>) -> bool {
        self.hub.complete(now, key, tag, result).is_ok()
    }

    pub fn leave(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Leave)
    }

    pub fn downgrade(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Downgrade)
    }

    pub fn cancel(&mut self, now: f64, key: f64) -> bool {
        self.intent(now, key, Intent::Cancel)
    }

    pub fn created(&mut self, now: f64, id: f64, session: i64, path: &str, zxid: i64) -> bool {
        let answer = || Answer::Created {
            path: path.into(),
            zxid,
        };
        self.answer(now, id, session, answer)
    }

    /// `names` are joined with slashes, because no name contains one.
    pub fn children(&mut self, now: f64, id: f64, session: i64, names: &str) -> bool {
        let names = text::parts(names, b'/').filter(|name| !name.is_empty());
        self.answer(now, id, session, || {
            Answer::Children(names.map(String::from).collect())
        })
    }

    #[expect(clippy::too_many_arguments, reason = "scalars cross fastest")]
    pub fn data(
        &mut self,
        now: f64,
        id: f64,
        session: i64,
        data: &[u8],
        czxid: i64,
        mzxid: i64,
        ephemeral_owner: i64,
        version: i32,
        created: i64,
        modified: i64,
    ) -> bool {
        let stat = Stat {
            czxid,
            mzxid,
            ephemeral_owner,
            version,
            created,
            modified,
        };
        self.answer(now, id, session, || Answer::Data {
            data: data.to_vec(),
            stat,
        })
    }

    pub fn done(&mut self, now: f64, id: f64, session: i64) -> bool {
        self.answer(now, id, session, || Answer::Done)
    }

    pub fn error(&mut self, now: f64, id: f64, session: i64, code: i32) -> bool {
        self.answer(now, id, session, || Answer::Error(code))
    }

    /// Reports the assembled reply: see `reply.rs`.
    pub fn reply(&mut self, now: f64, id: f64) -> bool {
        let reply = self.parts.take();
        self.replied(now, id, || reply)
    }

    pub fn nil(&mut self) {
        self.parts.push(redis::Reply::Nil);
    }

    pub fn integer(&mut self, number: i64) {
        self.parts.push(redis::Reply::Int(number));
    }

    pub fn bytes(&mut self, bytes: Vec<u8>) {
        self.parts.push(redis::Reply::Bytes(bytes));
    }

    pub fn text(&mut self, text: String) {
        self.parts.push(redis::Reply::Bytes(text.into_bytes()));
    }

    #[wasm_bindgen(js_name = errorReply)]
    pub fn error_reply(&mut self, message: String) {
        self.parts.push(redis::Reply::Error(message));
    }

    /// Makes an array of the last `count` parts.
    pub fn gather(&mut self, count: usize) {
        self.parts.gather(count);
    }

    /// Reports the most frequent replies: an array of a number, alone or with bytes.
    #[wasm_bindgen(js_name = replyNumber)]
    pub fn reply_number(&mut self, now: f64, id: f64, number: f64) -> bool {
        self.replied(now, id, || {
            redis::Reply::Array(Vec::from([convert::integer(number)]))
        })
    }

    #[wasm_bindgen(js_name = replyPair)]
    pub fn reply_pair(&mut self, now: f64, id: f64, number: f64, bytes: Vec<u8>) -> bool {
        self.replied(now, id, || {
            redis::Reply::Array(Vec::from([convert::integer(number), redis::Reply::Bytes(bytes)]))
        })
    }

    pub fn failed(&mut self, now: f64, id: f64, failure: &str) -> bool {
        self.hub.failed(now, id, failure).is_ok()
    }

    /// Reports a reply of a wrong type: the outcome of the command is unknown, and there is always an error.
    pub fn wrong(&mut self, now: f64, id: f64, expected: &str) -> bool {
        self.parts.clear();
        self.hub.wrong(now, id, expected).is_ok()
    }

    pub fn session(&mut self, now: f64, state: &str, session: i64, timeout: f64) -> bool {
        self.hub.session(now, state, session, timeout).is_ok()
    }

    pub fn watch(&mut self, now: f64, id: f64, session: i64, event: &str) -> bool {
        self.hub.watch(now, id, session, event).is_ok()
    }

    pub fn message(&mut self, now: f64, id: f64) -> bool {
        self.hub.message(now, id).is_ok()
    }

    pub fn gone(&mut self, now: f64, id: f64) -> bool {
        self.hub.gone(now, id).is_ok()
    }

    #[wasm_bindgen(js_name = handleTimeout)]
    pub fn handle_timeout(&mut self, now: f64) -> bool {
        self.hub.handle_timeout(now).is_ok()
    }

    /// Stores the output in `js/hub/outputs.ts`.
    pub fn poll(&mut self, only: Option<f64>) -> bool {
        only.map(convert::key)
            .transpose()
            .map(|only| self.outputs.lowered(self.hub.poll(only), true))
            .is_ok()
    }

    /// The same for all machines, without the attempt's name in a grant.
    pub fn next(&mut self) {
        self.outputs.lowered(self.hub.poll(None), false);
    }

    /// Returns the key of the machine that is not used any more; 0 if there is none; a negative number after
    /// an error.
    pub fn close(&mut self, now: f64, key: f64) -> f64 {
        self.hub.close(now, key).unwrap_or(-1.0)
    }

    pub fn serves(&self, key: f64) -> bool {
        convert::whole(key).is_some_and(|key| self.hub.serves(Key(key)))
    }

    pub fn shutdown(&mut self, now: f64) -> bool {
        self.hub.shutdown(now).is_ok()
    }
}

impl RawHub {
    fn intent(&mut self, now: f64, key: f64, intent: Intent) -> bool {
        self.hub.intent(now, key, intent).is_ok()
    }

    fn replied(&mut self, now: f64, id: f64, reply: impl FnOnce() -> redis::Reply) -> bool {
        self.hub.reply(now, id, reply).is_ok()
    }

    fn answer(&mut self, now: f64, id: f64, session: i64, answer: impl FnOnce() -> Answer) -> bool {
        self.hub.answer(now, id, session, answer).is_ok()
    }
}
