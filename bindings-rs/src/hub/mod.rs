//! The hub itself, for programs that have their own event loop. It has no task, no connection and no clock.
//!
//! A [`Hub`] has all machines of one connection. The program reports inputs to it, and takes commands and events:
//!
//! ```
//! use core::time::Duration;
//! use fencepost::{clock, hub::{self, Event, Intent, Output, ContenderId, AcquireTimeout, Reply}};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let mut hub = hub::Hub::new("redis", 7)?;
//! let settings = hub::settings::redis_string("stock/42", Duration::from_secs(10))?;
//! let key = hub.open(clock::now(), &settings, ContenderId(*b"sixteen random b"), 42)?;
//! hub.intent(clock::now(), key, Intent::Acquire(AcquireTimeout::Forever))?;
//!
//! loop {
//!     match hub.poll_output(None) {
//!         (_, Output::Command(command)) => {
//!             // Send `command.request.arguments` to a server; here is one that answers "granted, with fence 9".
//!             assert_eq!(command.request.arguments[0], b"EVALSHA");
//!             let reply = Reply::Array(vec![Reply::Int(1), Reply::Bytes(b"9".to_vec())]);
//!             hub.handle_outcome(clock::now(), command.id, hub::Outcome::Redis(reply))?;
//!         }
//!         (_, Output::Event(Event::Acquired { grant })) => {
//!             assert_eq!(grant.fence.unwrap().to_string(), "9");
//!             break;
//!         }
//!         (_, Output::Event(event)) => println!("{event:?}"),
//!         (_, Output::Wait(wait)) => println!("sleep until {:?}, or until an answer comes", wait.until),
//!         _ => {}
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! `examples/hub_loop.rs` is a complete program on a real connection.

pub mod settings;

pub use fencepost_core::{
    AcquireTimeout, Cause, Command, CommandId, ContenderId, Event, Failure, Fence, Found, Grant, Instant,
    Intent, Key, Output, RawSettings, SessionId, Settings, Target, Timer, Wait,
    lowered::{Hub, HubOutput, Notice, Operation, Outcome, Request, flags},
    redis::{Notice as RedisNotice, Reply, is_from_replica},
    zookeeper::{
        Answer, Notice as ZooKeeperNotice, Reply as ZooKeeperReply, SessionState, Stat, WatchEvent, code,
    },
};
