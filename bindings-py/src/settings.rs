//! Settings and addresses, read by the core.

use core::time::Duration;

use fencepost_core::{ConfigError, RawSettings, url};
use pyo3::prelude::*;

use crate::errors;

/// The checked settings of one lock.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) fencepost_core::Settings);

#[pymethods]
impl Settings {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        serde_json::from_str::<RawSettings>(text)
            .map_err(|error| ConfigError::Unreadable {
                why: error.to_string(),
            })
            .and_then(fencepost_core::Settings::try_from)
            .map(Self)
            .map_err(|error| errors::config(py, &error))
    }

    #[getter]
    const fn family(&self) -> &'static str {
        self.0.family()
    }

    fn __repr__(&self) -> String {
        format!("<Settings {:?}>", self.0)
    }
}

/// Where locks are: an address that has been read.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Address {
    inner: url::Address,
    text: String,
}

#[pymethods]
impl Address {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        let inner = url::Address::parse(text).map_err(|error| errors::config(py, &error))?;
        Ok(Self {
            inner,
            text: text.into(),
        })
    }

    #[getter]
    const fn family(&self) -> &'static str {
        self.inner.family()
    }

    /// `memory`, `zookeeper` or `redis`.
    #[getter]
    const fn kind(&self) -> &'static str {
        match self.inner {
            url::Address::Memory { .. } => "memory",
            url::Address::ZooKeeper { .. } => "zookeeper",
            _ => "redis",
        }
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn name(&self) -> &str {
        match &self.inner {
            url::Address::Memory { name } => name,
            _ => "",
        }
    }

    #[getter]
    fn hosts(&self) -> Vec<String> {
        match &self.inner {
            url::Address::ZooKeeper { hosts, .. } => hosts.clone(),
            _ => Vec::new(),
        }
    }

    #[getter]
    fn prefix(&self) -> &str {
        match &self.inner {
            url::Address::ZooKeeper { prefix, .. } => prefix,
            _ => "",
        }
    }

    /// For the client library, without options.
    #[getter]
    fn url(&self) -> &str {
        match &self.inner {
            url::Address::Redis { url, .. } => url,
            _ => "",
        }
    }

    /// The path of the file of certificates to check the server's against; nothing for the system's.
    #[getter]
    fn ca(&self) -> Option<&str> {
        match &self.inner {
            url::Address::Redis { ca, .. } => ca.as_deref(),
            _ => None,
        }
    }

    /// In microseconds.
    #[getter]
    fn session_timeout(&self) -> Option<u64> {
        match &self.inner {
            url::Address::ZooKeeper { session_timeout, .. } => Some(micros(*session_timeout)),
            _ => None,
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
