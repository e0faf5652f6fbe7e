//! ZooKeeper through `zookeeper-client`: conversion, and one session after another.
//!
//! The library sends a request when its method is called, in that order. It never sends again what was under way when a connection broke,
//! but it does keep what is asked of it while there is none, and sends that later: so nothing is asked then.
//!
//! An acquire's two requests go out together only if nothing holds the second back: the library (0.11.2, the newest) writes each by
//! itself and sets no TCP_NODELAY, and it neither gives its sockets out nor takes one. So on Linux the option is set from outside
//! (`nodelay.rs`), on connections of our own clients.

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
