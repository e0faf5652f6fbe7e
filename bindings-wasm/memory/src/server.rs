//! The server in memory, asked with plain values.

use alloc::{string::String, vec::Vec};
use core::{mem, time::Duration};

use fencepost_core::{
    CommandId, Instant, Outcome,
    lowered::{ANY_VERSION, Operation, flags},
    zookeeper::{Answer, CreateMode, Notice, Request, WatchEvent, Write},
};
use fencepost_models::memory::{SESSION_TIMEOUT, Server};
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
    fn failed(failure: &str);
    fn fired(id: f64, deleted: bool);
    fn changed(state: &str, session: i64, timeout: f64);
    fn session(hub: f64, session: i64, state: &str, paused: bool);
    fn node(path: &str, data: &[u8], hub: f64);
    #[wasm_bindgen(js_name = path)]
    fn add_path(path: &str);
    fn message(
        number: f64,
        time: f64,
        hub: f64,
        session: i64,
        kind: &str,
        command: f64,
        name: &str,
        error: i32,
        text: &str,
    );
}

/// A server inside the process. Its methods are those of [`Server`].
#[wasm_bindgen]
#[derive(Debug, Default)]
pub(crate) struct RawServer {
    server: Server,
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

    /// Connects a hub, with this session timeout or the default one. Returns its id.
    pub fn connect(&mut self, timeout: Option<f64>) -> f64 {
        let timeout = timeout.map_or(SESSION_TIMEOUT, |timeout| Duration::from_micros(micros(timeout)));
        number(self.server.connect(timeout))
    }

    /// Ends a hub's session, and reports that to `answers.js`.
    pub fn disconnect(&mut self, hub: f64, now: f64) {
        tell(&self.server.disconnect(whole(hub), instant(now)));
    }

    /// The hubs that have something to poll.
    #[must_use]
    pub fn woken(&mut self) -> Vec<f64> {
        self.server.take_woken().into_iter().map(number).collect()
    }

    /// Reports a hub's notices to `answers.js`. Returns whether the hub runs: otherwise it is paused.
    pub fn listen(&mut self, hub: f64, now: f64) -> bool {
        let hub = whole(hub);
        for notice in self.server.take_notices(hub, instant(now)) {
            tell(&notice);
        }
        !self.server.is_paused(hub)
    }

    /// See [`Server::expire`].
    pub fn expire(&mut self, hub: f64) -> bool {
        self.server.expire(whole(hub))
    }

    /// See [`Server::suspend`].
    pub fn suspend(&mut self, hub: f64) -> bool {
        self.server.suspend(whole(hub))
    }

    /// See [`Server::reconnect`].
    pub fn reconnect(&mut self, hub: f64) -> bool {
        self.server.reconnect(whole(hub))
    }

    /// See [`Server::pause`].
    pub fn pause(&mut self, hub: f64) -> bool {
        self.server.pause(whole(hub))
    }

    /// See [`Server::resume`].
    pub fn resume(&mut self, hub: f64) -> bool {
        self.server.resume(whole(hub))
    }

    /// Reports all hubs to `answers.js`.
    pub fn sessions(&self) {
        for known in self.server.sessions() {
            session(
                number(known.hub),
                known.session.0,
                known.state.name(),
                known.paused,
            );
        }
    }

    /// Reports all nodes to `answers.js`.
    pub fn nodes(&self) {
        for known in self.server.nodes() {
            node(known.path, known.data, number(known.hub));
        }
    }

    /// See [`Server::record`].
    pub fn record(&mut self, on: bool) {
        self.server.record(on);
    }

    /// Reports the messages with a number above `after` to `answers.js`; the paths of each come before it.
    pub fn messages(&self, after: f64) {
        for one in self.server.messages(whole(after)) {
            for path in &one.paths {
                add_path(path);
            }
            message(
                number(one.number),
                number(one.time.as_micros()) / PER_MILLI,
                number(one.hub),
                one.session.0,
                one.kind.name(),
                number(one.command.0),
                one.name,
                one.error,
                &one.text,
            );
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
        hub: f64,
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
        const RECONNECT: u8 = Operation::Reconnect as u8;
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
            RECONNECT => Request::Reconnect,
            _ => Request::Sync { path },
        };
        let id = CommandId(whole(id));
        match self.server.execute(whole(hub), instant(now), id, request) {
            Some(Outcome::Reply(reply)) => answer(reply.answer),
            Some(Outcome::Failed(failure)) => failed(failure.name()),
            None => {}
        }
    }
}

fn answer(answer: Answer) {
    match answer {
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

fn tell(notice: &Notice) {
    match notice {
        Notice::Watch { id, event, .. } => fired(number(id.0), *event == WatchEvent::Deleted),
        Notice::Session {
            state,
            session,
            timeout,
        } => changed(
            state.name(),
            session.0,
            number(u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX)) / PER_MILLI,
        ),
        _ => {}
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

const PER_MILLI: f64 = 1000.0;

fn instant(millis: f64) -> Instant {
    Instant::from_micros(micros(millis))
}

/// A time or a duration, which `hub.ts` has checked.
fn micros(millis: f64) -> u64 {
    whole(millis * PER_MILLI + 0.5)
}

/// An id or a number of microseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and no id is out of range"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}

/// The same for JavaScript, which does not reach the end of the exact numbers.
#[expect(clippy::cast_precision_loss, reason = "see above")]
const fn number(whole: u64) -> f64 {
    whole as f64
}
