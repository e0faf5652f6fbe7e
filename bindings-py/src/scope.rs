//! A scope of idempotent operations, which the core has checked. It makes the settings of each request.

use fencepost_core::{ConfigError, RawSettings, claim::Content, options, positive};
use pyo3::prelude::*;

use crate::{errors, settings::Settings};

/// The checked settings of all operations of a scope.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Scope(options::Scope);

#[pymethods]
impl Scope {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        serde_json::from_str::<RawSettings>(text)
            .map_err(|error| ConfigError::Unreadable {
                why: error.to_string(),
            })
            .and_then(options::Scope::try_from)
            .map(Self)
            .map_err(|error| errors::config(py, &error))
    }

    fn claim(&self, py: Python<'_>, key: &str, fingerprint: &[u8]) -> PyResult<Settings> {
        checked(py, self.0.claim(key, fingerprint))
    }

    fn consume(&self, py: Python<'_>, token: &str, binding: &[u8], fingerprint: &[u8]) -> PyResult<Settings> {
        checked(py, self.0.consume(token, binding, fingerprint))
    }

    #[pyo3(signature = (token, binding, life=None))]
    fn issue(&self, py: Python<'_>, token: &str, binding: &[u8], life: Option<i64>) -> PyResult<Settings> {
        let life = life.map(|given| positive("life", given, "")).transpose();
        checked(py, life.and_then(|life| self.0.issue(token, binding, life)))
    }

    fn register(
        &self,
        py: Python<'_>,
        key: &str,
        binding: Option<&[u8]>,
        fingerprint: &[u8],
        tag: &str,
        result: &[u8],
    ) -> PyResult<Settings> {
        let content = content(py, tag, result)?;
        checked(py, self.0.register(key, binding, fingerprint, content))
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the request")]
    fn update(
        &self,
        py: Python<'_>,
        key: &str,
        operation: &str,
        version: u64,
        fingerprint: &[u8],
        tag: &str,
        result: &[u8],
    ) -> PyResult<Settings> {
        let content = content(py, tag, result)?;
        checked(py, self.0.update(key, operation, version, fingerprint, content))
    }

    fn look(&self, py: Python<'_>, key: &str) -> PyResult<Settings> {
        checked(py, self.0.look(key))
    }

    fn settle(&self, py: Python<'_>, key: &str, guard: u64, tag: &str, result: &[u8]) -> PyResult<Settings> {
        let content = content(py, tag, result)?;
        checked(py, self.0.settle(key, guard, content))
    }

    fn forget(&self, py: Python<'_>, key: &str, guard: u64) -> PyResult<Settings> {
        checked(py, self.0.forget(key, guard))
    }

    fn sweep(&self, py: Python<'_>) -> PyResult<Settings> {
        checked(py, self.0.sweep())
    }

    fn derive(&self, py: Python<'_>, key: &str, step: &str) -> PyResult<String> {
        let derived = self.0.derive(key, step);
        derived.map_err(|error| errors::config(py, &error))
    }

    fn __repr__(&self) -> String {
        format!("<Scope {:?}>", self.0)
    }
}

/// A result with its tag. Raises `ConfigError` if one is too long.
pub(crate) fn content(py: Python<'_>, tag: &str, result: &[u8]) -> PyResult<Content> {
    Content::new(tag, result.into()).map_err(|error| errors::config(py, &error))
}

fn checked(py: Python<'_>, settings: Result<fencepost_core::Settings, ConfigError>) -> PyResult<Settings> {
    settings.map(Settings).map_err(|error| errors::config(py, &error))
}
