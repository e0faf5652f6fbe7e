//! The proof: every machine in every weather.

pub mod lua;
