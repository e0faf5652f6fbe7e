//! The last call of a block.

use std::ptr::null_mut;

use pyo3::{
    ffi::{
        METH_KEYWORDS, METH_VARARGS, Py_DECREF, PyCFunction_NewEx, PyCFunctionWithKeywords, PyErr_Fetch,
        PyErr_Restore, PyErr_WriteUnraisable, PyMethodDef, PyMethodDefPointer, PyObject, PyTuple_GetItem,
    },
    prelude::*,
    types::PyTuple,
};

// With this declaration the call may unwind, unlike with pyo3's declaration.
unsafe extern "C-unwind" {
    fn PyObject_Call(
        function: *mut PyObject,
        arguments: *mut PyObject,
        named: *mut PyObject,
    ) -> *mut PyObject;
}

/// `__exit__`: calls the first of two functions. If that raises, it calls the second one with the same arguments, and
/// raises the exception again.
///
/// When the interpreter ends, Python before 3.14 ends the other threads by `pthread_exit`, which unwinds their stacks
/// up to here. Code of Rust that cleans up or catches would then run without the interpreter, and crash. So this
/// function drops no values, and no function of pyo3 calls it.
///
/// # Safety
///
/// `both` is a tuple of two functions, `arguments` a tuple, and `named` a dictionary or null.
unsafe extern "C-unwind" fn end(
    both: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the caller is the running interpreter. It holds a reference to `both`, which holds the functions.
    unsafe {
        let result = PyObject_Call(PyTuple_GetItem(both, 0), arguments, named);
        if result.is_null() {
            let (mut kind, mut error, mut trace) = (null_mut(), null_mut(), null_mut());
            PyErr_Fetch(&raw mut kind, &raw mut error, &raw mut trace);
            let forsake = PyTuple_GetItem(both, 1);
            let done = PyObject_Call(forsake, arguments, named);
            if done.is_null() {
                PyErr_WriteUnraisable(forsake);
            } else {
                Py_DECREF(done);
            }
            PyErr_Restore(kind, error, trace);
        }
        result
    }
}

/// The definition with which Python calls [`end`]. Python never changes it.
struct Definition(PyMethodDef);

// SAFETY: it is constant, and refers only to constants.
unsafe impl Sync for Definition {}

static END: Definition = Definition(PyMethodDef {
    ml_name: c"__exit__".as_ptr(),
    ml_meth: PyMethodDefPointer {
        // SAFETY: Python calls both types in the same way, and a thread that is unwound does not return to it.
        PyCFunctionWithKeywords: unsafe {
            std::mem::transmute::<
                unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject,
                PyCFunctionWithKeywords,
            >(end)
        },
    },
    ml_flags: METH_VARARGS | METH_KEYWORDS,
    ml_doc: std::ptr::null(),
});

/// A function that calls `leave`, and `forsake` if that raises.
#[pyfunction]
pub(crate) fn ending<'py>(
    leave: &Bound<'py, PyAny>,
    forsake: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let both = PyTuple::new(leave.py(), [leave, forsake])?;
    let definition = (&raw const END.0).cast_mut();
    // SAFETY: the definition is constant, and the tuple has the form that `end` requires. The result is new, or null.
    unsafe {
        let function = PyCFunction_NewEx(definition, both.as_ptr(), null_mut());
        Bound::from_owned_ptr_or_err(leave.py(), function)
    }
}

/// Binds it to an object, as Python binds the functions of a class.
#[pyfunction]
pub(crate) fn bound<'py>(
    function: Bound<'py, PyAny>,
    object: Bound<'py, PyAny>,
    _kind: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if object.is_none() {
        return Ok(function);
    }
    let method = function.py().import("types")?.getattr("MethodType")?;
    method.call1((function, object))
}
