//! The hub for JavaScript: converts values between the core and the package in `js/`, and decides nothing. It is built twice, once for each family.
//!
//! Time comes in and goes out as a number of milliseconds; keys and command ids as numbers; fences, transactions and sessions as BigInt.
//! What is given to JavaScript is made by the package's own constructors (`js/hub/outputs.ts`, `js/hub/addresses.ts`, `js/errors.ts`), so that every value has one shape.

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
mod redis;
mod reply;
#[cfg(target_family = "wasm")]
mod runtime;
mod scope;
mod settings;
mod zookeeper;
