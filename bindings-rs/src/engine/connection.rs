//! Waits for the first connection.

use core::{
    future::{Future, poll_fn},
    pin::pin,
    sync::atomic::Ordering,
    time::Duration,
};

use fencepost_core::Refusal;

use super::{alarm::within, inputs::Engine};
use crate::{Error, Refused};

impl Engine {
    /// Whether there was a connection.
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
        // Another executor may poll this, but the timer needs tokio's runtime.
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
