//! Idempotent operations on `memory:`, from a client's view.

mod claims;
mod steps;
mod world;
