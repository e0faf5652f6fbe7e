//! The hub with plain values: what crosses a language boundary, and nothing else does.
//!
//! Verbs are those of [`crate::hub::Hub`]. Requests come out lowered: for ZooKeeper an operation with a path, data and flags, for Redis an
//! argument vector. Replies go in through the typed forms of their family. A binding converts, and decides nothing.

mod hub;
mod request;

pub use hub::{Hub, HubOutput, Notice, Outcome};
pub use request::{Operation, Request, flags};
