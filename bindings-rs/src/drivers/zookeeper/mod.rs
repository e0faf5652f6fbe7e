//! ZooKeeper with `zookeeper-client`: conversion, and one session after another.
//!
//! The library sends requests in the order of its method calls. It never repeats a request that was in flight when a
//! connection broke. But without a connection it keeps new requests, and sends them later. So the driver makes no
//! requests then.
//!
//! The two requests of an acquire go out together only if the second does not wait for the first. The library (0.11.2,
//! the newest) writes each request separately and does not set TCP_NODELAY. It gives no access to its sockets, and
//! accepts none. So on Linux, the driver sets the option from outside (`nodelay.rs`), on the connections of its own
//! clients.

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
