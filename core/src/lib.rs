//! Distributed locks as pure state machines.
//!
//! This crate does no I/O, reads no clock and draws no random number. It is told what has happened, and says what to do:
//!
//! ```text
//!                     handle_outcome, handle_notice,
//!   server ◀──────▶ driver ───────────────────────────▶ Hub ◀── open, intent, close ── application
//!                     ▲          handle_timeout          │
//!                     └───────────  poll_output  ◀───────┘──▶ events
//! ```
//!
//! A [`hub::Hub`] holds all machines that share one client connection. Drive it like this:
//!
//! ```
//! use fencepost_core::{hub::Hub, redis, Event, Instant, Intent, Outcome, Output, OwnerId, Patience};
//! use fencepost_core::{Settings, lease};
//!
//! // 1. One hub for a connection, one machine for an acquire.
//! let mut hub = Hub::<redis::Redis>::new(7);
//! let settings = redis::StringSettings::new("stock/42", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN)?;
//! let now = Instant::from_micros(1_000_000);
//! let key = hub.open(now, redis::Machine::String(settings), OwnerId(*b"sixteen random b"), 42)?;
//! hub.intent(now, key, Intent::Acquire(Patience::Forever))?;
//!
//! loop {
//!     // 2. Take out everything there is to do, until it says to wait.
//!     match hub.poll_output(None) {
//!         (_, Output::Command(command)) => {
//!             // 3. Carry it out, and put in what came of it. Here a server that answers "granted, with fence 9".
//!             let granted = redis::Reply::Array(vec![redis::Reply::Int(1), redis::Reply::Bytes(b"9".to_vec())]);
//!             hub.handle_outcome(now, command.id, Outcome::Reply(granted))?;
//!         }
//!         (key, Output::Event(Event::Acquired { grant })) => {
//!             assert_eq!(grant.fence.unwrap().to_string(), "9");
//!             hub.intent(now, key, Intent::Release)?;
//! #           break;
//!         }
//!         (_, Output::Event(event)) => println!("{event:?}"),
//!         // 4. Wait for an answer or for the time, whichever is first; then `handle_timeout`.
//!         (_, Output::Wait(wait)) => println!("nothing to do until {:?}", wait.until),
//!         _ => {}
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No lock gives mutual exclusion across an asynchronous network by itself: a process may be paused for longer than any lease. What is
//! safe is the [`Fence`] of a grant, checked by the resource.
//!
//! - [`zookeeper`], [`redis`]: the protocols, one folder a family, one machine a lock kind.
//! - [`hub`]: what machines on one connection share.
//! - [`lowered`]: the hub with plain values, for other languages.
//! - [`lease`]: how long a grant is valid.

#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::alloc_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core
)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

extern crate alloc;

mod error;
mod event;
pub mod hub;
mod id;
mod intent;
mod io;
mod jitter;
pub mod lease;
pub mod lowered;
mod outbox;
pub mod redis;
mod settings;
pub mod sorted;
pub mod text;
mod time;
pub mod url;
pub mod zookeeper;

pub use error::{ConfigError, Misuse};
pub use event::{Cause, Event, Found, Grant, Loss, Refusal};
pub use id::{AttemptId, CommandId, Fence, Key, OwnerId, SessionId};
pub use intent::{Intent, Patience};
pub use io::{Command, Failure, Machine, Outcome, Output, Target, Timer, Wait};
pub use settings::{RawSettings, Settings, positive};
pub use time::Instant;
