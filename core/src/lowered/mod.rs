//! The hub with plain values, for bindings to other languages.
//!
//! The methods are those of [`crate::hub::Hub`]. The hub returns requests in lowered form: for ZooKeeper an operation
//! with a path, data and flags, for Redis an argument vector. The binding passes in replies in the typed form of their
//! family. A binding converts values and makes no decisions.

mod hub;
mod request;

pub use hub::{Hub, HubOutput, Notice, Outcome};
pub use request::{ANY_VERSION, Operation, Request, flags};
