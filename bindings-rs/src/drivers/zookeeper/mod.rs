//! ZooKeeper with `zookeeper-client`: conversion, and one session after another.
//!
//! The library sends requests in the order of its method calls. It never repeats a request that was in flight when a
//! connection broke. But without a connection, it queues new requests, and sends them later. So the driver then makes
//! no requests.
//!
//! The server gets the two requests of an acquire together only if the second one does not wait for the reply to the
//! first. The library (0.11.2, the newest) writes each request separately and does not set TCP_NODELAY. It does not
//! expose its sockets, and accepts no socket of the caller. So on Linux, the driver finds the sockets of its own
//! clients and sets the option on them (`nodelay.rs`).

mod connection;
mod driver;
mod errors;
#[cfg(target_os = "linux")]
mod nodelay;
mod reconnect;
mod requests;
#[cfg(all(test, feature = "servers"))]
mod server_tests;
mod session;
mod state;

pub(crate) use state::{Driver, Source};
