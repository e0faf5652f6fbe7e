//! Redis with the `redis` crate: conversion, one connection for commands, and another for subscriptions when a waiter
//! needs it.

mod calls;
mod connection;
mod driver;
mod health;
mod outcomes;
mod server;
mod state;
mod subscriptions;
#[cfg(feature = "redis-tls")]
mod tls;
#[cfg(not(feature = "redis-tls"))]
#[path = "no_tls.rs"]
mod tls;

pub(crate) use state::Driver;
