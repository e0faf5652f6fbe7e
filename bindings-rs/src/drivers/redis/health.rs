//! Detects whether a connection still works.

use alloc::sync::Arc;
use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use std::{
    io,
    sync::{Mutex, PoisonError},
};

use redis::RedisError;
use tokio::sync::Notify;

use super::outcomes::Answer;
use crate::engine::{alarm::within, driver::Sink};

/// Whether a connection can be used.
#[derive(Default)]
pub(super) struct Health {
    sent: AtomicU64,
    answered: AtomicU64,
    dead: AtomicBool,
    died: Notify,
    /// Whether the first fatal error ends the connection for good, because the library does not reconnect.
    mortal: bool,
    error: Mutex<Option<RedisError>>,
}

impl Health {
    /// For a connection that ends with its first fatal error.
    pub(super) fn mortal() -> Self {
        Self {
            mortal: true,
            ..Self::default()
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    pub(super) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn answered(&self, answer: &Answer) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = answer
            && (error.is_connection_dropped() || error.is_unrecoverable_error())
        {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
            if self.mortal {
                self.die();
            } else {
                self.died.notify_one();
            }
        }
    }

    /// The server at the other end is no longer the right one.
    pub(super) fn leave(&self) {
        self.died.notify_one();
    }

    /// Completes when a connection that does not reconnect has ended, with its error.
    pub(super) async fn death(&self) -> RedisError {
        while !self.is_dead() {
            self.died.notified().await;
        }
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || io::Error::from(io::ErrorKind::NotConnected).into();
        error.clone().unwrap_or_else(gone)
    }

    pub(super) fn die(&self) {
        self.dead.store(true, Ordering::Release);
        self.died.notify_one();
    }

    /// Completes when the connection has ended, or is silent for too long.
    pub(super) async fn over(&self) {
        tokio::select! {
            () = self.died.notified() => {}
            () = self.silence() => {}
        }
    }

    /// Completes when a command has had no reply for so long that the connection must be dead.
    async fn silence(&self) {
        let mut silent = 0;
        let mut before = self.answered.load(Ordering::Relaxed);
        while silent < SILENT_TICKS {
            tick().await;
            let answered = self.answered.load(Ordering::Relaxed);
            let waiting = self.sent.load(Ordering::Relaxed) != answered;
            silent = if waiting && answered == before {
                silent + 1
            } else {
                0
            };
            before = answered;
        }
    }

    /// Completes when a reply has arrived.
    async fn answer(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) == before {
            tick().await;
        }
    }
}

/// Waits for one second. If the timer is late, replies are handled first.
async fn tick() {
    let _never = within(TICK, core::future::pending::<()>()).await;
}

const TICK: Duration = Duration::from_secs(1);
const SILENT_TICKS: u32 = 5;

/// The reason why a call on the program's connection has no reply.
#[derive(Debug, thiserror::Error)]
#[error("the connection given to Client::from_redis has not answered for {SILENT_TICKS} s: {remedy}")]
struct Silent {
    remedy: &'static str,
}

/// Watches the program's connection until it ends, and returns its error. The client does not end this connection, so
/// it reports its silence.
pub(super) async fn look_after(health: &Health, sink: &dyn Sink) -> RedisError {
    let remedy = if health.mortal {
        "end it and give another one"
    } else {
        "look whether its server answers; the library makes the connection again"
    };
    let watching = async {
        loop {
            health.silence().await;
            sink.connection_failed(Arc::new(Silent { remedy }));
            health.answer().await;
            sink.connected();
        }
    };
    tokio::select! {
        error = health.death() => error,
        never = watching => never,
    }
}
