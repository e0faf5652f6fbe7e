//! The server in memory for Python.

use core::time::Duration;

use fencepost_core::{Instant, positive};
use fencepost_models::{
    hub,
    memory::{self, SESSION_TIMEOUT},
};
use pyo3::prelude::*;

use crate::{errors, hub::Hub};

/// A server in the memory of this process.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug, Default)]
pub(crate) struct MemoryServer(hub::MemoryServer);

/// A hub on a server, and its session.
#[pyclass(frozen, get_all, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct MemorySession {
    hub: u64,
    session: i64,
    state: &'static str,
    paused: bool,
}

/// A node on a server.
#[pyclass(frozen, get_all, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct MemoryNode {
    path: String,
    data: Vec<u8>,
    hub: Option<u64>,
}

/// A message between a hub and a server.
#[pyclass(frozen, get_all, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct MemoryMessage {
    number: u64,
    time: u64,
    hub: u64,
    session: i64,
    kind: &'static str,
    command: Option<u64>,
    name: &'static str,
    paths: Vec<String>,
    error: Option<i32>,
    text: String,
}

#[pymethods]
impl MemoryServer {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (now, seed, session_timeout=None))]
    fn connect(&self, py: Python<'_>, now: u64, seed: u64, session_timeout: Option<i64>) -> PyResult<Hub> {
        let timeout = session_timeout.map_or(Ok(SESSION_TIMEOUT), |timeout| {
            positive("session_timeout", timeout, "")
        });
        let timeout: Duration = timeout.map_err(|error| errors::config(py, &error))?;
        Ok(self.0.connect(Instant::from_micros(now), seed, timeout).into())
    }

    fn take_woken(&self) -> Vec<u64> {
        self.0.take_woken()
    }

    fn expire(&self, py: Python<'_>, hub: u64) -> PyResult<()> {
        self.0.expire(hub).map_err(|error| errors::config(py, &error))
    }

    fn suspend(&self, py: Python<'_>, hub: u64) -> PyResult<()> {
        self.0.suspend(hub).map_err(|error| errors::config(py, &error))
    }

    fn reconnect(&self, py: Python<'_>, hub: u64) -> PyResult<()> {
        self.0.reconnect(hub).map_err(|error| errors::config(py, &error))
    }

    fn pause(&self, py: Python<'_>, hub: u64) -> PyResult<()> {
        self.0.pause(hub).map_err(|error| errors::config(py, &error))
    }

    fn resume(&self, py: Python<'_>, hub: u64) -> PyResult<()> {
        self.0.resume(hub).map_err(|error| errors::config(py, &error))
    }

    fn sessions(&self) -> Vec<MemorySession> {
        self.0.with(|server| {
            let sessions = server.sessions().map(|known| MemorySession {
                hub: known.hub,
                session: known.session.0,
                state: known.state.name(),
                paused: known.paused,
            });
            sessions.collect()
        })
    }

    fn nodes(&self) -> Vec<MemoryNode> {
        self.0.with(|server| {
            let nodes = server.nodes().map(|node| MemoryNode {
                path: node.path.into(),
                data: node.data.into(),
                hub: (node.hub != 0).then_some(node.hub),
            });
            nodes.collect()
        })
    }

    fn record(&self, on: bool) {
        self.0.with(|server| server.record(on));
    }

    #[pyo3(signature = (after=0))]
    fn messages(&self, after: u64) -> Vec<MemoryMessage> {
        self.0.with(|server| {
            let messages = server.messages(after).iter();
            messages.map(MemoryMessage::from).collect()
        })
    }
}

impl From<&memory::Message> for MemoryMessage {
    fn from(message: &memory::Message) -> Self {
        Self {
            number: message.number,
            time: message.time.as_micros(),
            hub: message.hub,
            session: message.session.0,
            kind: message.kind.name(),
            command: (message.command.0 != 0).then_some(message.command.0),
            name: message.name,
            paths: message.paths.clone(),
            error: (message.error != 0).then_some(message.error),
            text: message.text.clone(),
        }
    }
}

#[pymethods]
impl MemorySession {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl MemoryNode {
    fn __repr__(&self) -> String {
        format!("MemoryNode(path={:?}, hub={:?})", self.path, self.hub)
    }
}

#[pymethods]
impl MemoryMessage {
    fn __repr__(&self) -> String {
        format!(
            "MemoryMessage(number={}, hub={}, kind={:?}, text={:?})",
            self.number, self.hub, self.kind, self.text
        )
    }
}
