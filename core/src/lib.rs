//! Distributed locks as pure state machines.
//!
//! This crate does no I/O, reads no clock and draws no random numbers. The driver passes in the server's replies and
//! notices, and the time. The application passes in its requests. The core returns commands for the driver, events for
//! the application, and the time of the next timeout:
//!
//! ```text
//!                     handle_outcome, handle_notice,
//!   server ◀──────▶ driver ───────────────────────────▶ Hub ◀── open, intent, close ── application
//!                     ▲          handle_timeout          │
//!                     └───────────  poll_output  ◀───────┘──▶ events
//! ```
//!
//! A [`hub::Hub`] holds all machines that share one client connection. A machine is one contender for one lock. Drive
//! the hub like this:
//!
//! ```
//! use fencepost_core::{hub::Hub, redis, Event, Instant, Intent, Outcome, Output, ContenderId, AcquireTimeout};
//! use fencepost_core::{Settings, lease};
//!
//! // 1. One hub for a connection, one machine for a contender.
//! let mut hub = Hub::<redis::Redis>::new(7);
//! let settings = redis::StringSettings::new("stock/42", lease::DEFAULT_TTL, lease::DEFAULT_MARGIN)?;
//! let now = Instant::from_micros(1_000_000);
//! let key = hub.open(now, redis::LockSettings::String(settings), ContenderId(*b"sixteen random b"), 42)?;
//! hub.intent(now, key, Intent::Acquire(AcquireTimeout::Forever))?;
//!
//! loop {
//!     // 2. Take all outputs, until the hub returns `Wait`.
//!     match hub.poll_output(None) {
//!         (_, Output::Command(command)) => {
//!             // 3. Execute the command and report its outcome. Here the server answers "granted, with fence 9".
//!             let granted = redis::Reply::Array(vec![redis::Reply::Int(1), redis::Reply::Bytes(b"9".to_vec())]);
//!             hub.handle_outcome(now, command.id, Outcome::Reply(granted))?;
//!         }
//!         (key, Output::Event(Event::Acquired { grant })) => {
//!             assert_eq!(grant.fence.unwrap().to_string(), "9");
//!             hub.intent(now, key, Intent::Release)?;
//! #           break;
//!         }
//!         (_, Output::Event(event)) => println!("{event:?}"),
//!         // 4. Wait for the next input or until the given time, whichever is first. Then call `handle_timeout`.
//!         (_, Output::Wait(wait)) => println!("nothing to do until {:?}", wait.until),
//!         _ => {}
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No lock by itself gives mutual exclusion across an asynchronous network: a process can pause for longer than any
//! lease. The [`Fence`] of a grant makes the lock safe, if the resource checks it.
//!
//! - [`zookeeper`], [`redis`]: the protocols. Each kind of server (a *family*) has one module, each kind of lock one
//!   machine.
//! - [`hub`]: routing of replies and notices, timers, and the state that machines on one connection share.
//! - [`lowered`]: the hub with plain values, for bindings to other languages.
//! - [`options`]: the kinds of locks and their options, in one table.
//! - [`lease`]: how long a grant is valid.
//! - [`claim`]: the records and rules of idempotent operations.

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

pub mod claim;
mod error;
mod event;
pub mod hub;
mod id;
mod intent;
mod io;
mod jitter;
pub mod lease;
pub mod lowered;
mod numbered;
pub mod options;
mod outbox;
mod owner;
pub mod redis;
#[cfg(feature = "docs")]
pub mod reference;
mod settings;
pub mod sorted;
#[cfg(not(feature = "states"))]
mod states;
#[cfg(feature = "states")]
pub mod states;
pub mod text;
mod time;
pub mod url;
pub mod zookeeper;

pub use error::{ConfigError, Misuse};
pub use event::{Cause, Event, Found, Grant, Loss, Refusal};
pub use id::{AttemptId, CommandId, ContenderId, Fence, Key, SessionId};
pub use intent::{AcquireTimeout, Intent};
pub use io::{Command, Failure, Machine, Outcome, Output, Target, Timer, Wait};
pub use options::RawSettings;
pub use owner::{MAX_OWNER, Owner};
pub use settings::{Settings, positive};
pub use time::Instant;
