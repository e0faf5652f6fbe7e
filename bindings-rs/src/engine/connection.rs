//! The first connection, and the state of the present one.

use core::{
    future::{Future, poll_fn},
    pin::pin,
    sync::atomic::Ordering,
    time::Duration,
};

use fencepost_core::Refusal;

use super::{alarm::within, inputs::Engine};
use crate::{Error, Native, Refused};

/// What is known of a connection.
#[derive(Default)]
pub(super) struct ConnectionStatus {
    /// Its last error, while it is not there.
    pub(super) last_error: Option<Native>,
    /// Why waiting for it is of no use.
    pub(super) rejected: Option<Refused>,
}

impl Engine {
    /// The connection is made.
    pub(crate) fn connected(&self) {
        self.state().connection = ConnectionStatus::default();
        self.connected_once.store(true, Ordering::Release);
        self.connection_changed.notify_waiters();
    }

    /// The connection cannot be made, or is lost. The driver tries again.
    pub(crate) fn connection_failed(&self, native: Native) {
        self.state().connection.last_error = Some(native);
    }

    /// The connection is refused, or is over for good: acquires are refused with this until there is one again.
    pub(crate) fn rejected(&self, reason: Refusal, native: Native) {
        self.state().connection = ConnectionStatus {
            last_error: Some(native.clone()),
            rejected: Some(Refused::new(reason, None, Some(native))),
        };
        self.connection_changed.notify_waiters();
    }

    /// Whether there has ever been a connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected_once.load(Ordering::Acquire)
    }

    /// Waits for the first connection.
    pub(crate) async fn ready(&self, limit: Duration) -> Result<(), Error> {
        let first = async {
            loop {
                let mut changed = pin!(self.connection_changed.notified());
                changed.as_mut().enable();
                if self.is_connected() {
                    return Ok(());
                }
                {
                    let state = self.state();
                    state.check_open()?;
                    if let Some(refused) = &state.connection.rejected {
                        return Err(Error::from(refused.clone()));
                    }
                }
                changed.await;
            }
        };
        let mut waiting = pin!(within(limit, first));
        // Whatever executor polls it: the timer is tokio's.
        let first = poll_fn(|cx| {
            let _inside = self.runtime.inside();
            waiting.as_mut().poll(cx)
        });
        first.await.unwrap_or_else(|| {
            let native = self.state().connection.last_error.clone();
            let detail = format!(
                "{} within {limit:?}: check the address, and that a server runs there",
                self.at
            );
            Err(Refused::new(Refusal::Unreachable, Some(detail), native).into())
        })
    }
}
