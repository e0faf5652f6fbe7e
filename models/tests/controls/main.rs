//! The controls of a server in memory, and its record: what a hub sees of a session that ends, a connection that is
//! cut, and a pause.

mod messages;
mod pauses;
mod sessions;
mod world;
