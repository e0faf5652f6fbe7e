//! Whether a connection still answers.

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

/// Whether a connection is worth anything.
#[derive(Default)]
pub(super) struct Health {
    sent: AtomicU64,
    answered: AtomicU64,
    dead: AtomicBool,
    died: Notify,
    /// The connection cannot be used any more once an error has said so: there is nothing that makes it again.
    mortal: bool,
    error: Mutex<Option<RedisError>>,
}

impl Health {
    /// Of a connection that ends with its first fatal error.
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

    /// The server at the other end is not the one that is wanted any more.
    pub(super) fn leave(&self) {
        self.died.notify_one();
    }

    /// Completes when a mortal connection has ended, with the error that has said so.
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

    /// Completes when the connection has ended, or has fallen silent.
    pub(super) async fn over(&self) {
        tokio::select! {
            () = self.died.notified() => {}
            () = self.silence() => {}
        }
    }

    /// Completes when the connection has left a command without any answer for so long that it must be a black hole.
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

    /// Completes when there has been an answer.
    async fn answer(&self) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) == before {
            tick().await;
        }
    }
}

/// Some time. When it fires late, answers come first.
async fn tick() {
    let _never = within(TICK, core::future::pending::<()>()).await;
}

const TICK: Duration = Duration::from_secs(1);
const SILENT_TICKS: u32 = 5;

/// Why a call on the program's connection has had no answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection given to Client::from_redis has not answered for {SILENT_TICKS} s: {remedy}")]
struct Silent {
    remedy: &'static str,
}

/// Watches the program's connection until it ends; gives the error that has said so. It is not this client's to end, so its silence is reported.
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
