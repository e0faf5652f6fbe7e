//! The model server, asked with plain values.

use alloc::{string::String, vec::Vec};
use core::mem;

use fencepost_core::{
    CommandId, SessionId,
    lowered::{ANY_VERSION, Operation, flags},
    zookeeper::{Answer, CreateMode, Notice, Request, WatchEvent, Write},
};
use fencepost_models::zookeeper::Server;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../memory/answers.js")]
extern "C" {
    fn created(path: &str, zxid: i64);
    fn children(names: &str);
    fn data(
        data: &[u8],
        czxid: i64,
        mzxid: i64,
        ephemeral_owner: i64,
        version: i32,
        created: i64,
        modified: i64,
    );
    fn done();
    fn error(code: i32);
    fn fired(id: f64, deleted: bool);
}

/// Empty directories are tidied up once in so many requests.
const REAP_EVERY: u32 = 4096;

/// A server inside the process: sessions on one see each other.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub(crate) struct RawServer {
    model: Server,
    executed: u32,
    /// Of the next multi.
    parts: Vec<Write>,
}

#[wasm_bindgen]
impl RawServer {
    /// An empty server.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a session.
    pub fn open(&mut self) -> i64 {
        self.model.open_session().0
    }

    /// Ends a session: its nodes go.
    pub fn end(&mut self, session: i64) {
        self.model.end_session(SessionId(session));
    }

    /// The sessions that have been told something.
    #[must_use]
    pub fn woken(&self) -> Vec<i64> {
        self.model.notified().map(|session| session.0).collect()
    }

    /// Tells `answers.js` of every watch of a session that has fired.
    pub fn listen(&mut self, session: i64) {
        for notice in self.model.take_notices(SessionId(session)) {
            if let Notice::Watch { id, event, .. } = notice {
                fired(number(id), event == WatchEvent::Deleted);
            }
        }
    }

    /// One write of the next multi.
    pub fn part(&mut self, operation: u8, path: String, data: Vec<u8>, flags: u32, version: i32) {
        const SET: u8 = Operation::Set as u8;
        const DELETE: u8 = Operation::Delete as u8;
        const CHECK: u8 = Operation::Check as u8;
        let version = (version != ANY_VERSION).then_some(version);
        self.parts.push(match operation {
            SET => Write::Set { path, data, version },
            DELETE => Write::Delete { path, version },
            CHECK => Write::Check { path, version },
            _ => Write::Create {
                path,
                data,
                mode: mode(flags),
            },
        });
    }

    /// Carries out a command at a time, and gives `answers.js` the answer. The numbers are those of [`Operation`].
    #[expect(clippy::too_many_arguments, reason = "scalars cross fastest")]
    pub fn execute(
        &mut self,
        now: f64,
        session: i64,
        id: f64,
        operation: u8,
        path: String,
        content: Vec<u8>,
        flags: u32,
    ) {
        const CREATE: u8 = Operation::Create as u8;
        const CHILDREN: u8 = Operation::Children as u8;
        const GET: u8 = Operation::Get as u8;
        const DELETE: u8 = Operation::Delete as u8;
        const SET: u8 = Operation::Set as u8;
        const MULTI: u8 = Operation::Multi as u8;
        self.executed = self.executed.wrapping_add(1);
        if self.executed.is_multiple_of(REAP_EVERY) {
            self.model.reap_containers();
        }
        self.model.set_time(millis(now));
        let watch = flags & flags::WATCH != 0;
        let request = match operation {
            CREATE => Request::Create {
                path,
                data: content,
                mode: mode(flags),
            },
            CHILDREN => Request::Children { path, watch },
            GET => Request::Get { path, watch },
            DELETE => Request::Delete { path },
            SET => Request::Set { path, data: content },
            MULTI => Request::Multi {
                writes: mem::take(&mut self.parts),
            },
            _ => Request::Sync { path },
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a hub's ids count up from one"
        )]
        let id = CommandId(id as u64);
        match self.model.execute(SessionId(session), id, request).answer {
            Answer::Created { path, zxid } => created(&path, zxid),
            Answer::Children(names) => children(&names.join("/")),
            Answer::Data { data: content, stat } => data(
                &content,
                stat.czxid,
                stat.mzxid,
                stat.ephemeral_owner,
                stat.version,
                stat.created,
                stat.modified,
            ),
            Answer::Error(code) => error(code),
            _ => done(),
        }
    }
}

const fn mode(flags: u32) -> CreateMode {
    match flags {
        flags::EPHEMERAL => CreateMode::Ephemeral,
        flags::EPHEMERAL_SEQUENTIAL => CreateMode::EphemeralSequential,
        flags::CONTAINER => CreateMode::Container,
        _ => CreateMode::Persistent,
    }
}

/// A time in whole milliseconds, as a node's stat has it.
#[expect(clippy::cast_possible_truncation, reason = "a client's clock is in range")]
const fn millis(now: f64) -> i64 {
    now as i64
}

/// A command's id in JavaScript, which does not reach the end of the exact numbers.
#[expect(clippy::cast_precision_loss, reason = "see above")]
const fn number(id: CommandId) -> f64 {
    id.0 as f64
}
