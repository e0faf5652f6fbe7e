//! Commands in flight that the task of a contender awaits itself, while they are [delegated](super::delegated) to it.

use alloc::sync::Arc;
use core::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
};

use fencepost_core::Key;

use super::{
    contender_state::{ContenderState, SharedState},
    delegated::DelegatedCommands,
    driver::{CommandFuture, Completed},
    inputs::Engine,
    state::Awaits,
};

/// Commands of one contender. When this is dropped, the background task awaits those that are still in flight.
pub(crate) struct InFlight<'a> {
    engine: &'a Engine,
    key: Key,
    delegated: Option<Arc<DelegatedCommands>>,
}

impl<'a> InFlight<'a> {
    pub(crate) fn new(engine: &'a Engine, key: Key, commands: Vec<CommandFuture>) -> Self {
        let delegated = (!commands.is_empty()).then(|| {
            let delegated = Arc::<DelegatedCommands>::default();
            let _empty = delegated.put(commands);
            engine.delegate(&delegated);
            delegated
        });
        Self {
            engine,
            key,
            delegated,
        }
    }

    /// Awaits the commands until `look` returns a value.
    pub(crate) async fn until<T>(
        &mut self,
        contender: &SharedState,
        mut look: impl FnMut(&mut ContenderState) -> Option<T>,
    ) -> T {
        let mut changed = pin!(contender.changed());
        poll_fn(|cx| {
            loop {
                let Some((delegated, (key, answer))) = self.answer(cx) else {
                    // The task first waits for the next change, and then looks. So it misses no change.
                    while changed.as_mut().poll(cx).is_ready() {
                        changed.set(contender.changed());
                    }
                    return look(&mut contender.state()).map_or(Poll::Pending, Poll::Ready);
                };
                // This task sees the effect of the reply at once. So it first stops waiting for changes: otherwise it
                // would wake itself, and an idle thread might steal it.
                changed.set(contender.changed());
                let more = self.engine.complete(Awaits::Only(self.key), key, answer);
                let left = delegated.put(more);
                if !left.is_empty() {
                    self.engine.await_in_background(left);
                }
                if let Some(seen) = look(&mut contender.state()) {
                    return Poll::Ready(seen);
                }
            }
        })
        .await
    }

    fn answer(&self, cx: &mut Context<'_>) -> Option<(&DelegatedCommands, (Key, Completed))> {
        let delegated = self.delegated.as_deref()?;
        let _inside = self.engine.runtime.inside();
        Some((delegated, delegated.answer(cx)?))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let commands = self
            .delegated
            .take()
            .map(|delegated| delegated.recall())
            .unwrap_or_default();
        if !commands.is_empty() {
            self.engine.await_in_background(commands);
        }
    }
}
