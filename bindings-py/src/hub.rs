//! The hub: the core's methods with plain values.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Failure, Instant, Intent, Key, Output, SessionId,
    lowered::{Notice, Outcome},
    positive,
    zookeeper::{Answer, Notice as ZooKeeperNotice, Reply, SessionState, Stat, WatchEvent},
};
use fencepost_models::hub;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyList,
};

use crate::{errors, output, reply, scope, settings::Settings};

const HINT: &str = "; for a try, use acquire(blocking=False), or the hub's try_acquire";

/// Checks a timeout in microseconds before an acquire uses it.
#[pyfunction]
pub(crate) fn check_timeout(py: Python<'_>, given: i64) -> PyResult<()> {
    timeout(py, given).map(drop)
}

fn timeout(py: Python<'_>, given: i64) -> PyResult<Duration> {
    positive("timeout", given, HINT).map_err(|error| errors::config(py, &error))
}

/// All machines on one connection.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Hub(Mutex<hub::Hub>);

impl From<hub::Hub> for Hub {
    fn from(hub: hub::Hub) -> Self {
        Self(Mutex::new(hub))
    }
}

#[pymethods]
impl Hub {
    #[new]
    fn new(py: Python<'_>, family: &str, seed: u64) -> PyResult<Self> {
        let hub = hub::Hub::driven(family, seed).map_err(|error| errors::config(py, &error))?;
        Ok(Self(Mutex::new(hub)))
    }

    #[getter]
    fn family(&self) -> &'static str {
        self.hub().family()
    }

    /// The number of a hub on a [`MemoryServer`](crate::memory::MemoryServer); 0 for other hubs.
    #[getter]
    fn id(&self) -> u64 {
        self.hub().id()
    }

    fn open(
        &self,
        py: Python<'_>,
        now: u64,
        settings: &Settings,
        contender: &[u8],
        seed: u64,
    ) -> PyResult<u64> {
        let contender = <[u8; 16]>::try_from(contender).map(ContenderId).map_err(|_| {
            PyValueError::new_err(format!(
                "contender has {} bytes: give 16 bytes from the system's random source",
                contender.len()
            ))
        })?;
        let opened = self.at(now).open(&settings.0, contender, seed);
        opened
            .map(|key| key.0)
            .map_err(|error| errors::refused(py, error))
    }

    #[pyo3(signature = (now, key, acquire_timeout=None))]
    fn acquire(&self, py: Python<'_>, now: u64, key: u64, acquire_timeout: Option<i64>) -> PyResult<()> {
        let acquire_timeout = match acquire_timeout {
            None => AcquireTimeout::Forever,
            Some(given) => AcquireTimeout::For(timeout(py, given)?),
        };
        self.intent(py, now, key, Intent::Acquire(acquire_timeout))
    }

    fn try_acquire(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Acquire(AcquireTimeout::Try))
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

    fn complete(&self, py: Python<'_>, now: u64, key: u64, tag: &str, result: &[u8]) -> PyResult<()> {
        let content = scope::content(py, tag, result)?;
        self.intent(py, now, key, Intent::Complete(content))
    }

    fn leave(&self, py: Python<'_>, now: u64, key: u64) -> PyResult<()> {
        self.intent(py, now, key, Intent::Leave)
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
        mzxid: i64,
        owner: i64,
        version: i32,
        created: i64,
        modified: i64,
    ) -> PyResult<()> {
        let stat = Stat {
            czxid,
            mzxid,
            ephemeral_owner: owner,
            version,
            created,
            modified,
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
                "failure is {failure:?}: give not-sent, unknown or closed"
            ))
        })?;
        self.outcome(py, now, id, Outcome::Failed(failure))
    }

    #[pyo3(signature = (now, state, session=0, timeout=0))]
    fn session(&self, py: Python<'_>, now: u64, state: &str, session: i64, timeout: u64) -> PyResult<()> {
        let state = SessionState::from_name(state).ok_or_else(|| {
            PyValueError::new_err(format!(
                "state is {state:?}: give connecting, connected, suspended, expired, auth-failed or closed"
            ))
        })?;
        let notice = ZooKeeperNotice::Session {
            state,
            session: SessionId(session),
            timeout: Duration::from_micros(timeout),
        };
        self.notice(py, now, Notice::ZooKeeper(notice))
    }

    fn watch(&self, py: Python<'_>, now: u64, id: u64, session: i64, event: &str) -> PyResult<()> {
        let event = WatchEvent::from_name(event).ok_or_else(|| {
            PyValueError::new_err(format!("event is {event:?}: give deleted, changed or gone"))
        })?;
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
        self.at(now).handle_timeout();
    }

    #[pyo3(signature = (only=None))]
    fn poll_output(&self, py: Python<'_>, only: Option<u64>) -> PyResult<Py<PyAny>> {
        let polled = self.hub().poll_output(only.map(Key));
        output::object(py, polled)
    }

    /// Appends all commands and events to `into`. Returns until when to wait.
    fn drain(&self, py: Python<'_>, into: &Bound<'_, PyList>) -> PyResult<Option<u64>> {
        let mut outputs = Vec::new();
        let wait = {
            let mut hub = self.hub();
            loop {
                match hub.poll_output(None) {
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

    fn close(&self, now: u64, key: u64) -> Option<u64> {
        self.at(now).close(Key(key)).map(|unused| unused.0)
    }

    fn serves(&self, key: u64) -> bool {
        self.hub().serves(Key(key))
    }

    fn shutdown(&self, now: u64) {
        self.at(now).shutdown();
    }

    #[getter]
    fn pending(&self) -> usize {
        self.hub().pending()
    }

    #[getter]
    fn unreleased(&self) -> usize {
        self.hub().unreleased()
    }

    /// Ends the session of a hub on a [`MemoryServer`](crate::memory::MemoryServer).
    fn disconnect(&self, now: u64) -> PyResult<()> {
        if self.at(now).disconnect() {
            return Ok(());
        }
        Err(PyTypeError::new_err(
            "disconnect() is for hubs of a MemoryServer: report this hub's session with session(), or a lost subscription with gone()",
        ))
    }

    fn __repr__(&self) -> String {
        format!("<Hub {} with {} machines>", self.family(), self.pending())
    }
}

impl Hub {
    /// The core never panics. If it did, the panic itself would report the defect, so a poisoned lock is ignored.
    fn hub(&self) -> MutexGuard<'_, hub::Hub> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hub at a time, for an input.
    fn at(&self, now: u64) -> MutexGuard<'_, hub::Hub> {
        let mut hub = self.hub();
        hub.at(Instant::from_micros(now));
        hub
    }

    fn intent(&self, py: Python<'_>, now: u64, key: u64, intent: Intent) -> PyResult<()> {
        let verdict = self.at(now).intent(Key(key), intent);
        verdict.map_err(|error| errors::refused(py, error))
    }

    fn answer(&self, py: Python<'_>, now: u64, id: u64, session: i64, answer: Answer) -> PyResult<()> {
        let session = SessionId(session);
        self.outcome(py, now, id, Outcome::ZooKeeper(Reply { session, answer }))
    }

    fn outcome(&self, py: Python<'_>, now: u64, id: u64, outcome: Outcome) -> PyResult<()> {
        let verdict = self.at(now).handle_outcome(CommandId(id), outcome);
        verdict.map_err(|error| errors::refused(py, error))
    }

    fn notice(&self, py: Python<'_>, now: u64, notice: Notice) -> PyResult<()> {
        let verdict = self.at(now).handle_notice(notice);
        verdict.map_err(|error| errors::refused(py, error))
    }
}
