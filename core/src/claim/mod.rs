//! Idempotent operations: the record of an operation, its name on the server, and the rules for requests.
//!
//! ```text
//!   scope, key ──▶ name ──▶ what the server stores there ──▶ record ─┐
//!                                                                    ├──▶ table ──▶ answer, record
//!   attempt, step ───────────────────────────────────────▶ request ──┘
//! ```
//!
//! - [`record`]: the state of one operation; [`form`]: its fields and its bytes, the same in all languages.
//! - [`name`]: a server's name for a scope and a key.
//! - [`request`]: the requests, and their answers.
//! - [`table`]: the rules, as a pure function. Scripts on Redis implement the same rules.
//!
//! A claim is the right to run an operation, as a grant is the right to hold a lock. An operation may run more than
//! once, if its policy permits a takeover. Its result is stored once, and every later claim gets this result.

mod content;
pub mod form;
pub mod name;
pub(crate) mod outcome;
pub mod record;
pub mod request;
pub mod table;

#[cfg(test)]
mod chance;

pub use content::{Content, MAX_RESULT, MAX_TAG};
pub use name::{Name, UpdateId};
pub use record::{Corrupt, Policy, Record, ServerTime, State, Token};
pub use request::{Answer, Claim, DEFAULT_LIFE, Issue, Lost, Request, Step, Update};
pub use table::{Change, Decision, Known, Tombstone, decide, may_delete};
