//! The tower layer on `memory:`, with axum and with other services.

mod endings;
mod requests;
mod secrets;
mod services;
mod settings;
mod shop;
#[cfg(feature = "tracing")]
mod spans;
mod streams;
mod tokens;
mod wire;
