//! The first connection, and what is the matter with the present one.

use core::{
    future::{Future, poll_fn},
    pin::pin,
    sync::atomic::Ordering,
    time::Duration,
};

use fencepost_core::Refusal;

use super::{alarm::within, engine::Engine};
use crate::{Error, Native, Refused};

/// What is known of a connection.
#[derive(Default)]
pub(super) struct Link {
    /// Its last error, while it is not there.
    pub(super) trouble: Option<Native>,
    /// Why nobody need wait for it.
    pub(super) rejected: Option<Refused>,
}

impl Engine {
    /// The connection is there.
    pub(crate) fn connected(&self) {
        self.state().link = Link::default();
        self.connected_once.store(true, Ordering::Release);
        self.link_changed.notify_waiters();
    }

    /// The connection cannot be made, or is lost; perhaps later.
    pub(crate) fn troubled(&self, native: Native) {
        self.state().link.trouble = Some(native);
    }

    /// The connection is refused, or is over for good: acquires are refused with this until there is one again.
    pub(crate) fn rejected(&self, reason: Refusal, native: Native) {
        self.state().link = Link {
            trouble: Some(native.clone()),
            rejected: Some(Refused::new(reason, None, Some(native))),
        };
        self.link_changed.notify_waiters();
    }

    /// Whether there has ever been a connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected_once.load(Ordering::Acquire)
    }

    /// Waits for the first connection.
    pub(crate) async fn ready(&self, limit: Duration) -> Result<(), Error> {
        let first = async {
            loop {
                let mut changed = pin!(self.link_changed.notified());
                changed.as_mut().enable();
                if self.is_connected() {
                    return Ok(());
                }
                {
                    let state = self.state();
                    state.check_open()?;
                    if let Some(refused) = &state.link.rejected {
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
            let native = self.state().link.trouble.clone();
            let detail = format!(
                "{} within {limit:?}: check the address, and that a server runs there",
                self.at
            );
            Err(Refused::new(Refusal::Unreachable, Some(detail), native).into())
        })
    }
}
