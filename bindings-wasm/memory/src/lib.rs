//! The server behind `memory:`, in a module of its own: only those who use it load it. `js/hub/memory/hub.ts` brings it a hub's commands, and the hub its
//! answers.

#![cfg_attr(target_family = "wasm", no_std)]
#![allow(unreachable_pub, reason = "wasm-bindgen exports public items only")]

extern crate alloc;

#[cfg(target_family = "wasm")]
#[path = "../../src/runtime.rs"]
mod runtime;
mod server;
