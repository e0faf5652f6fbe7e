//! The hub for Python.
