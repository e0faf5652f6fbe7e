//! A Redis reply from a Python value.

use fencepost_core::redis::Reply;
use pyo3::{
    exceptions::{PyBaseException, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};

/// No script returns deeper arrays than this. A list may contain itself.
const DEEPEST: u32 = 16;

/// None, a whole number, bytes or text, an exception (a server's error inside an array), or a list or tuple of these.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Reply> {
    read(object, 0)
}

fn read(object: &Bound<'_, PyAny>, depth: u32) -> PyResult<Reply> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(
            "value has lists nested more than 16 deep: give the reply of a Redis server",
        ));
    }
    if object.is_none() {
        return Ok(Reply::Nil);
    }
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Reply::Int(i64::from(flag.is_true())));
    }
    if let Ok(number) = object.cast::<PyInt>() {
        return number.extract().map(Reply::Int);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Reply::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(Reply::Bytes(bytes.to_vec()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Reply::Bytes(text.to_cow()?.as_bytes().to_vec()));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return read_all(list.iter(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return read_all(tuple.iter(), depth);
    }
    if object.is_instance_of::<PyBaseException>() {
        return Ok(Reply::Error(object.str()?.to_cow()?.into_owned()));
    }
    // RESP3 has other types: a double, a map. No script of the core returns one, so the core refuses it.
    if object.is_instance_of::<PyFloat>() {
        return Ok(Reply::Bytes(object.str()?.to_cow()?.as_bytes().to_vec()));
    }
    if let Ok(map) = object.cast::<PyDict>() {
        return read_all(map.iter().flat_map(|(key, value)| [key, value]), depth);
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "value is of the type {kind}: give None, an int, a str, bytes, an exception, or a list of these"
    )))
}

fn read_all<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: u32) -> PyResult<Reply> {
    items
        .map(|item| read(&item, depth.saturating_add(1)))
        .collect::<PyResult<_>>()
        .map(Reply::Array)
}
