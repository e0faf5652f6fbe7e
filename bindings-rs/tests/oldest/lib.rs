//! Nothing: the tests of the client are what this package is for.
