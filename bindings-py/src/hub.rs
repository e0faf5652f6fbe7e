//! The hub: the core's verbs with plain values.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    CommandId, Failure, Instant, Intent, Key, Misuse, Output, OwnerId, Patience, SessionId,
    lowered::{self, Notice, Outcome},
    positive,
    zookeeper::{Answer, Notice as ZooKeeperNotice, Reply, SessionState, Stat, WatchEvent},
};
use fencepost_models::memory;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyList,
};

use crate::{errors, output, reply, settings::Settings};

const HINT: &str = "; for a try, use acquire(blocking=False), or the hub's try_acquire";

/// Refuses a timeout that makes no sense, in microseconds, before it is known whether anybody waits.
#[pyfunction]
pub(crate) fn check_timeout(py: Python<'_>, given: i64) -> PyResult<()> {
    timeout(py, given).map(drop)
}

fn timeout(py: Python<'_>, given: i64) -> PyResult<Duration> {
    positive("timeout", given, HINT).map_err(|error| errors::config(py, &error))
}

/// All machines that share one connection.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Hub(Mutex<State>);

#[derive(Debug)]
struct State {
    inner: Inner,
    /// The time of the last input, for a hub that carries out its own commands.
    now: Instant,
}

#[derive(Debug)]
enum Inner {
    Driven(lowered::Hub),
    Memory(memory::Hub, Arc<Mutex<memory::Server>>),
}

/// A server inside the process.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct MemoryServer(Arc<Mutex<memory::Server>>);

#[pymethods]
impl MemoryServer {
    #[new]
    fn new() -> Self {
        Self(Arc::new(Mutex::new(memory::Server::new())))
    }

    fn take_woken(&self) -> Vec<u64> {
        locked(&self.0).take_woken()
    }

    fn connect(&self, now: u64, seed: u64) -> Hub {
        let now = Instant::from_micros(now);
        let hub = memory::Hub::connect(&mut locked(&self.0), now, seed);
        Hub(Mutex::new(State {
            inner: Inner::Memory(hub, Arc::clone(&self.0)),
            now,
        }))
    }
}

#[pymethods]
impl Hub {
    #[new]
    fn new(py: Python<'_>, family: &str, seed: u64) -> PyResult<Self> {
        let hub = lowered::Hub::new(family, seed).map_err(|error| errors::config(py, &error))?;
        Ok(Self(Mutex::new(State {
            inner: Inner::Driven(hub),
            now: Instant::ZERO,
        })))
    }

    #[getter]
    fn family(&self) -> &'static str {
        match &locked(&self.0).inner {
            Inner::Driven(hub) => hub.family(),
            Inner::Memory(..) => "zookeeper",
        }
    }

    /// The number on its server of a hub that runs in memory; 0 for others.
    #[getter]
    fn id(&self) -> u64 {
        match &locked(&self.0).inner {
            Inner::Driven(_) => 0,
            Inner::Memory(hub, _) => hub.id(),
        }
    }

    fn open(&self, py: Python<'_>, now: u64, settings: &Settings, owner: &[u8], seed: u64) -> PyResult<u64> {
        let owner = <[u8; 16]>::try_from(owner)
            .map(OwnerId)
            .map_err(|_| PyValueError::new_err("an owner is 16 random bytes"))?;
        let mut state = self.at(now);
        let now = state.now;
        let opened = match &mut state.inner {
            Inner::Driven(hub) => hub.open(now, &settings.0, owner, seed),
            Inner::Memory(hub, server) => hub.open(&mut locked(server), now, &settings.0, owner, seed),
        };
        opened
            .map(|key| key.0)
            .map_err(|error| errors::refused(py, error))
    }

    #[pyo3(signature = (now, key, patience=None))]
    fn acquire(&self, py: Python<'_>, now: u64, key: u64, patience: Option<i64>) -> PyResult<()> {
        let patience = match patience {
            None => Patience::Forever,
            Some(given) => Patience::For(timeout(py, given)?),
        };
        self.intent(py, now, key, Intent::Acquire(patience))
    }

    fn try_acquire(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Acquire(Patience::Try))
    }

    fn extend(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Extend)
    }

    fn release(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Release)
    }

    fn downgrade(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Downgrade)
    }

    fn cancel(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Cancel)
    }

    fn created(
        &self,
        py: Python<'_>,
        now: u64,
        id: u64,
        session: i64,
        path: String,
        czxid: i64,
    ) -> PyResult<()> {
        self.answer(py, now, id, session, Answer::Created { path, zxid: czxid })
    }

    fn children(&self, py: Python<'_>, now: u64, id: u64, session: i64, names: Vec<String>) -> PyResult<()> {
        self.answer(py, now, id, session, Answer::Children(names))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "scalars cross the boundary ten times faster than an object"
    )]
    fn data(
        &self,
        py: Python<'_>,
        now: u64,
        id: u64,
        session: i64,
        data: Vec<u8>,
        czxid: i64,
        owner: i64,
        version: i32,
        created: i64,
    ) -> PyResult<()> {
        let stat = Stat {
            czxid,
            ephemeral_owner: owner,
            version,
            created,
        };
        self.answer(py, now, id, session, Answer::Data { data, stat })
    }

    fn done(&self, py: Python<'_>, now: u64, id: u64, session: i64) -> PyResult<()> {
        self.answer(py, now, id, session, Answer::Done)
    }

    fn error(&self, py: Python<'_>, now: u64, id: u64, session: i64, code: i32) -> PyResult<()> {
        self.answer(py, now, id, session, Answer::Error(code))
    }

    fn reply(&self, py: Python<'_>, now: u64, id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = reply::value(value)?;
        self.outcome(py, now, id, Outcome::Redis(value))
    }

    fn error_reply(&self, py: Python<'_>, now: u64, id: u64, text: String) -> PyResult<()> {
        self.outcome(
            py,
            now,
            id,
            Outcome::Redis(fencepost_core::redis::Reply::Error(text)),
        )
    }

    fn failed(&self, py: Python<'_>, now: u64, id: u64, failure: &str) -> PyResult<()> {
        let failure = Failure::from_name(failure).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{failure:?} is no failure: there are not-sent, unknown and closed"
            ))
        })?;
        self.outcome(py, now, id, Outcome::Failed(failure))
    }

    #[pyo3(signature = (now, state, session=0, timeout=0))]
    fn session(&self, py: Python<'_>, now: u64, state: &str, session: i64, timeout: u64) -> PyResult<()> {
        let state = match state {
            "connecting" => SessionState::Connecting,
            "connected" => SessionState::Connected,
            "suspended" => SessionState::Suspended,
            "expired" => SessionState::Expired,
            "auth-failed" => SessionState::AuthFailed,
            "closed" => SessionState::Closed,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{state:?} is no state of a session: there are connecting, connected, suspended, expired, auth-failed and closed"
                )));
            }
        };
        let notice = ZooKeeperNotice::Session {
            state,
            session: SessionId(session),
            timeout: Duration::from_micros(timeout),
        };
        self.notice(py, now, Notice::ZooKeeper(notice))
    }

    fn watch(&self, py: Python<'_>, now: u64, id: u64, session: i64, event: &str) -> PyResult<()> {
        let event = match event {
            "deleted" => WatchEvent::Deleted,
            "changed" => WatchEvent::Changed,
            "gone" => WatchEvent::Gone,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{event:?} is no event of a watch: there are deleted, changed and gone"
                )));
            }
        };
        let notice = ZooKeeperNotice::Watch {
            id: CommandId(id),
            session: SessionId(session),
            event,
        };
        self.notice(py, now, Notice::ZooKeeper(notice))
    }

    fn message(&self, py: Python<'_>, now: u64, id: u64) -> PyResult<()> {
        let id = CommandId(id);
        self.notice(
            py,
            now,
            Notice::Redis(fencepost_core::redis::Notice::Message { id }),
        )
    }

    fn gone(&self, py: Python<'_>, now: u64, id: u64) -> PyResult<()> {
        let id = CommandId(id);
        self.notice(py, now, Notice::Redis(fencepost_core::redis::Notice::Gone { id }))
    }

    fn handle_timeout(&self, now: u64) {
        let mut state = self.at(now);
        let now = state.now;
        match &mut state.inner {
            Inner::Driven(hub) => hub.handle_timeout(now),
            Inner::Memory(hub, server) => hub.handle_timeout(&mut locked(server), now),
        }
    }

    #[pyo3(signature = (only=None))]
    fn poll_output(&self, py: Python<'_>, only: Option<u64>) -> PyResult<Py<PyAny>> {
        let polled = locked(&self.0).poll(only.map(Key));
        output::object(py, polled)
    }

    /// Everything there is to do at once: appended to `into`; gives until when to wait.
    fn drain(&self, py: Python<'_>, into: &Bound<'_, PyList>) -> PyResult<Option<u64>> {
        let mut outputs = Vec::new();
        let wait = {
            let mut state = locked(&self.0);
            loop {
                match state.poll(None) {
                    (_, Output::Wait(wait)) => break wait,
                    output => outputs.push(output),
                }
            }
        };
        for polled in outputs {
            into.append(output::object(py, polled)?)?;
        }
        Ok(wait.until.map(Instant::as_micros))
    }

    fn close(&self, now: u64, key: u64) {
        let mut state = self.at(now);
        let now = state.now;
        match &mut state.inner {
            Inner::Driven(hub) => hub.close(now, Key(key)),
            Inner::Memory(hub, server) => hub.close(&mut locked(server), now, Key(key)),
        }
    }

    fn shutdown(&self, now: u64) {
        let mut state = self.at(now);
        let now = state.now;
        match &mut state.inner {
            Inner::Driven(hub) => hub.shutdown(now),
            Inner::Memory(hub, server) => hub.shutdown(&mut locked(server), now),
        }
    }

    #[getter]
    fn pending(&self) -> usize {
        match &locked(&self.0).inner {
            Inner::Driven(hub) => hub.pending(),
            Inner::Memory(hub, _) => hub.pending(),
        }
    }

    /// Ends the session of a hub that runs in memory.
    fn disconnect(&self, now: u64) -> PyResult<()> {
        let mut state = self.at(now);
        let now = state.now;
        match &mut state.inner {
            Inner::Driven(_) => Err(PyTypeError::new_err(
                "only a hub that runs in memory is disconnected: tell this one of its session or subscriptions",
            )),
            Inner::Memory(hub, server) => {
                hub.disconnect(&mut locked(server), now);
                Ok(())
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("<Hub {} with {} machines>", self.family(), self.pending())
    }
}

impl Hub {
    fn at(&self, now: u64) -> MutexGuard<'_, State> {
        let mut state = locked(&self.0);
        state.now = state.now.max(Instant::from_micros(now));
        state
    }

    fn intent(&self, py: Python<'_>, now: u64, key: u64, intent: Intent) -> PyResult<()> {
        let mut state = self.at(now);
        let now = state.now;
        let verdict = match &mut state.inner {
            Inner::Driven(hub) => hub.intent(now, Key(key), intent),
            Inner::Memory(hub, server) => hub.intent(&mut locked(server), now, Key(key), intent),
        };
        drop(state);
        verdict.map_err(|error| errors::refused(py, error))
    }

    fn answer(&self, py: Python<'_>, now: u64, id: u64, session: i64, answer: Answer) -> PyResult<()> {
        let session = SessionId(session);
        self.outcome(py, now, id, Outcome::ZooKeeper(Reply { session, answer }))
    }

    fn outcome(&self, py: Python<'_>, now: u64, id: u64, outcome: Outcome) -> PyResult<()> {
        let mut state = self.at(now);
        let now = state.now;
        let verdict = match &mut state.inner {
            Inner::Driven(hub) => hub.handle_outcome(now, CommandId(id), outcome),
            // It carries out its own commands: none was ever issued.
            Inner::Memory(..) => Err(Misuse::UnknownCommand { id }),
        };
        drop(state);
        verdict.map_err(|error| errors::refused(py, error))
    }

    fn notice(&self, py: Python<'_>, now: u64, notice: Notice) -> PyResult<()> {
        let mut state = self.at(now);
        let now = state.now;
        let verdict = match &mut state.inner {
            Inner::Driven(hub) => hub.handle_notice(now, notice),
            Inner::Memory(..) => Ok(()),
        };
        drop(state);
        verdict.map_err(|error| errors::refused(py, error))
    }
}

impl State {
    fn poll(&mut self, only: Option<Key>) -> lowered::HubOutput {
        match &mut self.inner {
            Inner::Driven(hub) => hub.poll_output(only),
            Inner::Memory(hub, server) => hub.poll_output(&mut locked(server), self.now, only),
        }
    }
}

/// The core never panics; if it did, a poisoned lock would say nothing about its state that the panic has not said.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
