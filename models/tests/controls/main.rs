//! The controls of a server in memory, and its recorded messages: the effects of an ended session, a cut connection and
//! a pause on a hub.

mod messages;
mod pauses;
mod sessions;
mod world;
