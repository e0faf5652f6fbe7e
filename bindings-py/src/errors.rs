//! The core's errors as the exceptions of `fencepost.errors`.

use fencepost_core::{ConfigError, Misuse};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The exception for a setting that is not valid.
pub(crate) fn config(py: Python<'_>, error: &ConfigError) -> PyErr {
    exception(py, "ConfigError", &error.to_string(), error.code(), error.name())
}

/// The exception for a call that the present state does not allow.
pub(crate) fn refused(py: Python<'_>, error: Misuse) -> PyErr {
    exception(py, "MisuseError", &error.to_string(), error.code(), error.name())
}

/// The exception for a misuse that the Python client itself detects: `not-held` or `client-closed`.
#[pyfunction]
pub(crate) fn misuse<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let error = [Misuse::NotHeld, Misuse::Closed]
        .into_iter()
        .find(|misuse| misuse.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("name is {name:?}, which is not known")))?;
    Ok(refused(py, error).into_value(py).into_bound(py).into_any())
}

fn exception(py: Python<'_>, class: &str, text: &str, code: u16, name: &str) -> PyErr {
    let made = py
        .import("fencepost.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1((text, code, name)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
