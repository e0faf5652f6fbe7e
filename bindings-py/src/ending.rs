//! The last call of a block.

use pyo3::{
    prelude::*,
    types::{PyDict, PyTuple},
};

/// `__exit__`: calls `leave`. If that raises, it calls `forsake` with the same arguments, and the exception goes on.
///
/// Ctrl-C may come before the first line of a Python function, where the function cannot catch it. Nothing can come
/// between `leave` and `forsake`.
#[pyclass(frozen, module = "fencepost._fencepost")]
pub(crate) struct Ending {
    leave: Py<PyAny>,
    forsake: Py<PyAny>,
}

#[pymethods]
impl Ending {
    #[new]
    fn new(leave: Py<PyAny>, forsake: Py<PyAny>) -> Self {
        Self { leave, forsake }
    }

    #[pyo3(signature = (*arguments, **named))]
    fn __call__(
        &self,
        arguments: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let py = arguments.py();
        self.leave.call(py, arguments, named).inspect_err(|_| {
            if let Err(error) = self.forsake.call(py, arguments, named) {
                error.write_unraisable(py, Some(self.forsake.bind(py)));
            }
        })
    }

    /// Makes it a method, as a function of a class is.
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: Option<&Bound<'py, PyAny>>,
        _kind: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(object) = object.filter(|object| !object.is_none()) else {
            return Ok(slf.clone().into_any());
        };
        let method = slf.py().import("types")?.getattr("MethodType")?;
        method.call1((slf, object))
    }

    /// The function that it calls, for `inspect`.
    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.leave.clone_ref(py)
    }
}
