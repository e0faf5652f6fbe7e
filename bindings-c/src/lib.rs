//! The hub for C: libfencepost. cbindgen generates the header `include/fencepost.h` from this crate.
//!
//! Each group of functions has a file. The functions take raw pointers, and each function checks them. A
//! function that runs the core does so inside [`boundary::guard`], which turns a panic into a result code.

#![expect(non_camel_case_types, reason = "the names are those of the C header")]
#![expect(
    clippy::missing_safety_doc,
    reason = "the conventions at the head of the header hold for every function: valid or NULL pointers, no concurrent use of one hub"
)]

pub mod address;
mod boundary;
pub mod commands;
pub mod detail;
pub mod events;
pub mod handshake;
pub mod hub;
pub mod inspections;
pub mod intents;
mod last_error;
pub mod memory;
pub mod memory_reports;
pub mod moments;
pub mod names;
pub mod notices;
pub mod outcomes;
pub mod output;
pub mod polling;
pub mod records;
pub mod redis;
pub mod result;
pub mod result_names;
pub mod scopes;
pub mod settings;
mod sized;
pub mod values;
pub mod version;
pub mod view;
