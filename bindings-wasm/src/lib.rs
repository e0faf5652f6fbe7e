//! The hub for JavaScript: converts values between the core and the package in `js/`, and makes no decisions.
//! It is built twice, once for each family.
//!
//! Times are numbers of milliseconds, keys and command ids are numbers, and fences, transactions and sessions
//! are BigInt. The package's functions (`js/hub/outputs.ts`, `js/hub/addresses.ts`, `js/errors.ts`) make the
//! values for JavaScript, so that all values of a kind have the same shape.

#![cfg_attr(target_family = "wasm", no_std)]
#![allow(unreachable_pub, reason = "wasm-bindgen exports public items only")]

extern crate alloc;

mod address;
mod arguments;
mod convert;
mod error;
mod exports;
mod family;
mod hub;
mod output;
#[cfg(feature = "redis")]
mod redis;
mod reply;
#[cfg(target_family = "wasm")]
mod runtime;
mod scope;
mod settings;
#[cfg(not(feature = "redis"))]
mod zookeeper;
