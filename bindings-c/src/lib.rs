//! The hub for C.
