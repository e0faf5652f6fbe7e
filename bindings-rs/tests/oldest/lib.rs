//! This package is empty: it exists only to run the client's tests.
