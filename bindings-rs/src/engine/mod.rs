//! The engine drives the hub. Each file has one part of it.
//!
//! [`inputs`] is the engine itself: every input is one critical section, which guards [`state`]. A task awaits the
//! commands of its own contender ([`in_flight`]), and the background task does the rest ([`background`]).

pub(crate) mod alarm;
pub(crate) mod background;
mod command_errors;
mod connection;
mod contender_ids;
pub(crate) mod contender_state;
mod delegated;
pub(crate) mod driver;
pub(crate) mod end;
pub(crate) mod in_flight;
mod inputs;
pub(crate) mod runtime;
mod shutdown;
mod sink;
mod state;
#[cfg_attr(not(feature = "tracing"), path = "no_trace.rs")]
mod trace;
mod unclaimed;

pub(crate) use contender_state::ContenderParams;
pub(crate) use inputs::Engine;
