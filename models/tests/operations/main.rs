//! Idempotent operations on `memory:`: what a client sees.

mod claims;
mod steps;
mod world;
