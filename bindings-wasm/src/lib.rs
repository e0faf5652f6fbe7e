//! The hub for JavaScript.
