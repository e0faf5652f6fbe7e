//! Nothing: this package exists only for the tests of the client.
