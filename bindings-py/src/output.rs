//! The outputs of a hub, as frozen objects.

use std::sync::Arc;

use fencepost_core::{Cause, CommandId, Event as CoreEvent, Grant, Instant, Output, Target, claim, lowered};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyTuple},
};

use crate::{record::Record, settings::micros};

/// A command for the driver.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Command {
    key: u64,
    inner: fencepost_core::Command<lowered::Request>,
}

#[pymethods]
impl Command {
    #[getter]
    const fn key(&self) -> u64 {
        self.key
    }

    #[getter]
    const fn id(&self) -> u64 {
        self.inner.id.0
    }

    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        use pyo3::intern;
        match self.inner.target {
            Target::Server(_) => intern!(py, "server"),
            Target::Own => intern!(py, "own"),
            _ => intern!(py, "any"),
        }
        .clone()
        .into_any()
    }

    #[getter]
    const fn server(&self) -> Option<u32> {
        match self.inner.target {
            Target::Server(number) => Some(number),
            _ => None,
        }
    }

    #[getter]
    fn deadline(&self) -> Option<u64> {
        self.inner.deadline.map(Instant::as_micros)
    }

    #[getter]
    const fn operation(&self) -> &'static str {
        self.inner.request.operation.name()
    }

    #[getter]
    fn path(&self) -> &str {
        &self.inner.request.path
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.request.data)
    }

    #[getter]
    const fn flags(&self) -> u32 {
        self.inner.request.flags
    }

    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = &self.inner.request.arguments;
        PyTuple::new(py, arguments.iter().map(|argument| PyBytes::new(py, argument)))
    }

    /// The parts of a multi: operation, path, data, flags and version of each.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = self.inner.request.parts.iter().map(|part| {
            let data = PyBytes::new(py, &part.data);
            (
                part.operation.name(),
                part.path.as_str(),
                data,
                part.flags,
                part.version,
            )
        });
        PyTuple::new(py, parts)
    }

    fn __repr__(&self) -> String {
        let request = &self.inner.request;
        let what = if request.path.is_empty() {
            let arguments = request.arguments.iter();
            arguments
                .map(|argument| argument.escape_ascii().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        } else {
            request.path.clone()
        };
        format!(
            "<Command {} {} {what}>",
            self.inner.id.0,
            request.operation.name()
        )
    }
}

/// An event for the application.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Event {
    key: u64,
    inner: CoreEvent,
    record: Option<Arc<claim::Record>>,
}

impl Event {
    /// Moves the record out of the event, because the objects for Python share it. Its result is never copied until
    /// Python reads it.
    fn new(key: u64, mut inner: CoreEvent) -> Self {
        let record = match &mut inner {
            CoreEvent::Completed { record } | CoreEvent::Replayed { record } => Some(record),
            CoreEvent::Looked { record } => record.as_mut(),
            CoreEvent::Lost { cause, .. } | CoreEvent::Refused { cause, .. } => cause.record.as_mut(),
            _ => None,
        };
        let record = record.map(|record| {
            let rest = claim::Record::new(record.state, record.attempt);
            Arc::new(core::mem::replace(&mut **record, rest))
        });
        Self { key, inner, record }
    }

    const fn grant(&self) -> Option<&Grant> {
        match &self.inner {
            CoreEvent::Acquired { grant } => Some(grant),
            _ => None,
        }
    }

    const fn cause(&self) -> Option<&Cause> {
        match &self.inner {
            CoreEvent::Lost { cause, .. } | CoreEvent::Refused { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

#[pymethods]
impl Event {
    #[getter]
    const fn key(&self) -> u64 {
        self.key
    }

    #[getter]
    const fn name(&self) -> &'static str {
        self.inner.name()
    }

    #[getter]
    const fn ahead(&self) -> Option<u32> {
        match &self.inner {
            CoreEvent::Queued { ahead } => *ahead,
            _ => None,
        }
    }

    #[getter]
    fn attempt(&self) -> Option<String> {
        self.grant().map(|grant| grant.attempt.to_string())
    }

    #[getter]
    fn fence(&self) -> Option<u64> {
        self.grant().and_then(|grant| grant.fence).map(|fence| fence.0)
    }

    #[getter]
    fn takeovers(&self) -> Option<u64> {
        self.grant().map(|grant| grant.takeovers)
    }

    #[getter]
    fn valid_until(&self) -> Option<u64> {
        match &self.inner {
            CoreEvent::Acquired { grant } => grant.valid_until,
            CoreEvent::Extended { valid_until } | CoreEvent::Resumed { valid_until } => *valid_until,
            _ => None,
        }
        .map(Instant::as_micros)
    }

    #[getter]
    const fn reason(&self) -> Option<&'static str> {
        match &self.inner {
            CoreEvent::Lost { reason, .. } => Some(reason.name()),
            CoreEvent::Refused { reason, .. } => Some(reason.name()),
            _ => None,
        }
    }

    #[getter]
    const fn code(&self) -> Option<u16> {
        match &self.inner {
            CoreEvent::Lost { reason, .. } => Some(reason.code()),
            CoreEvent::Refused { reason, .. } => Some(reason.code()),
            _ => None,
        }
    }

    #[getter]
    fn text(&self) -> Option<String> {
        match &self.inner {
            CoreEvent::Lost { reason, .. } => Some(reason.to_string()),
            CoreEvent::Refused { reason, .. } => Some(reason.to_string()),
            _ => None,
        }
    }

    #[getter]
    fn command(&self) -> Option<u64> {
        self.cause()
            .and_then(|cause| cause.command)
            .map(|CommandId(id)| id)
    }

    #[getter]
    fn detail(&self) -> Option<&str> {
        match &self.inner {
            CoreEvent::MixedLayouts { node } => Some(node),
            _ => self.cause().and_then(|cause| cause.detail.as_deref()),
        }
    }

    /// In microseconds.
    #[getter]
    fn retry_after(&self) -> Option<u64> {
        self.cause()?.retry_after.map(micros)
    }

    #[getter]
    fn record(&self) -> Option<Record> {
        self.record.clone().map(Record)
    }

    #[getter]
    const fn deleted(&self) -> Option<u64> {
        match &self.inner {
            CoreEvent::Swept { deleted } => Some(*deleted),
            _ => None,
        }
    }

    /// The contenders that an inspection found: node, holds, shared, session, since, expires_in, fence and identifier of
    /// each.
    #[getter]
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let CoreEvent::Found { contenders } = &self.inner else {
            return Ok(None);
        };
        let found = contenders.iter().map(|one| {
            (
                one.node.as_str(),
                one.holds,
                one.shared,
                one.session.map(|session| session.0),
                one.since,
                one.expires_in.map(|left| left.as_secs_f64()),
                one.fence.0,
                one.identifier.as_str(),
            )
        });
        PyTuple::new(py, found).map(Some)
    }

    fn __repr__(&self) -> String {
        let reason = self
            .reason()
            .map_or_else(String::new, |reason| format!(" {reason}"));
        format!("<Event {}{reason} for {}>", self.name(), self.key)
    }
}

/// No output is left until the next input or a time.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Wait(fencepost_core::Wait);

#[pymethods]
impl Wait {
    #[getter]
    fn until(&self) -> Option<u64> {
        self.0.until.map(Instant::as_micros)
    }

    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.0.reason.map(fencepost_core::Timer::name)
    }

    fn __repr__(&self) -> String {
        match (self.until(), self.reason()) {
            (Some(until), Some(reason)) => format!("<Wait until {until} {reason}>"),
            (Some(until), None) => format!("<Wait until {until}>"),
            (None, _) => "<Wait>".into(),
        }
    }
}

/// One output as an object.
pub(crate) fn object(py: Python<'_>, (key, output): lowered::HubOutput) -> PyResult<Py<PyAny>> {
    Ok(match output {
        Output::Command(inner) => Py::new(py, Command { key: key.0, inner })?.into_any(),
        Output::Event(inner) => Py::new(py, Event::new(key.0, inner))?.into_any(),
        Output::Wait(wait) => Py::new(py, Wait(wait))?.into_any(),
        // There are no other outputs. A core that adds one has to add it here, too.
        _ => Py::new(py, Wait(fencepost_core::Wait::default()))?.into_any(),
    })
}
