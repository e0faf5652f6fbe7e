//! Settings and addresses, which the core parses.

use core::time::Duration;

use fencepost_core::{ConfigError, RawSettings, options, url};
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

/// The type of an option's value: `duration`, `whole`, `flag`, `text` or `texts`. None: there is no such option.
#[pyfunction]
pub(crate) fn option_type(name: &str) -> Option<&'static str> {
    options::find(name).map(|option| option.value_type().name())
}

/// A parsed address.
#[pyclass(frozen, module = "fencepost.hub")]
#[derive(Debug)]
pub(crate) struct Address(url::Address);

impl Address {
    const fn redis(&self) -> Option<&url::RedisAddress> {
        match &self.0 {
            url::Address::Redis(server) => Some(server),
            _ => None,
        }
    }
}

#[pymethods]
impl Address {
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        url::Address::parse(text)
            .map(Self)
            .map_err(|error| errors::config(py, &error))
    }

    #[getter]
    const fn family(&self) -> &'static str {
        self.0.family()
    }

    /// `memory`, `zookeeper` or `redis`.
    #[getter]
    const fn kind(&self) -> &'static str {
        match self.0 {
            url::Address::Memory { .. } => "memory",
            url::Address::ZooKeeper { .. } => "zookeeper",
            _ => "redis",
        }
    }

    /// The address for messages: without user, password and options.
    #[getter]
    fn shown(&self) -> String {
        self.0.shown()
    }

    fn __repr__(&self) -> String {
        format!("<Address {}>", self.0.shown())
    }

    #[getter]
    fn name(&self) -> &str {
        match &self.0 {
            url::Address::Memory { name, .. } => name,
            _ => "",
        }
    }

    #[getter]
    fn hosts(&self) -> Vec<String> {
        match &self.0 {
            url::Address::ZooKeeper { hosts, .. } => hosts.clone(),
            _ => Vec::new(),
        }
    }

    #[getter]
    fn prefix(&self) -> &str {
        match &self.0 {
            url::Address::ZooKeeper { prefix, .. } => prefix,
            _ => "",
        }
    }

    /// In microseconds.
    #[getter]
    fn session_timeout(&self) -> Option<u64> {
        match &self.0 {
            url::Address::ZooKeeper { session_timeout, .. }
            | url::Address::Memory { session_timeout, .. } => Some(micros(*session_timeout)),
            _ => None,
        }
    }

    #[getter]
    fn host(&self) -> &str {
        self.redis().map_or("", |server| &server.host)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.redis().map_or(0, |server| server.port)
    }

    #[getter]
    fn user(&self) -> &str {
        self.redis().map_or("", |server| &server.credentials.user)
    }

    #[getter]
    fn password(&self) -> &str {
        self.redis().map_or("", |server| &server.credentials.password)
    }

    #[getter]
    fn database(&self) -> u32 {
        self.redis().map_or(0, |server| server.database)
    }

    #[getter]
    fn tls(&self) -> bool {
        self.redis().is_some_and(|server| server.tls)
    }

    /// The path of the file with the certificates that the client trusts; None for the system's.
    #[getter]
    fn ca(&self) -> Option<&str> {
        self.redis().and_then(|server| server.ca.as_deref())
    }
}

/// A duration in whole microseconds.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
