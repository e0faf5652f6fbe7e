//! The record of an operation or a value, as a frozen object.

use std::sync::Arc;

use fencepost_core::claim;
use pyo3::{prelude::*, types::PyBytes};

/// The record that the server stores for an operation or a value.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Record(pub(crate) Arc<claim::Record>);

#[pymethods]
impl Record {
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    #[getter]
    fn attempt(&self) -> String {
        self.0.attempt.text()
    }

    #[getter]
    fn fence(&self) -> u64 {
        self.0.fence.0
    }

    #[getter]
    fn takeovers(&self) -> u64 {
        self.0.takeovers
    }

    #[getter]
    fn policy(&self) -> &'static str {
        self.0.policy.name()
    }

    #[getter]
    fn lease_end(&self) -> u64 {
        self.0.lease_end
    }

    #[getter]
    fn kept_until(&self) -> u64 {
        self.0.kept_until
    }

    #[getter]
    fn version(&self) -> u64 {
        self.0.version
    }

    #[getter]
    fn tag(&self) -> &str {
        &self.0.tag
    }

    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.result)
    }

    #[getter]
    fn guard(&self) -> u64 {
        self.0.guard()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Record {}, version {}, fence {}, {} bytes>",
            self.0.state.name(),
            self.0.version,
            self.0.fence.0,
            self.0.result.len()
        )
    }
}
