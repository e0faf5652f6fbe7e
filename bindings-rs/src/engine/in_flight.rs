//! Commands under way that the task of a contender awaits itself, while they are [lent](super::loans) to it.

use alloc::sync::Arc;
use core::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
};

use fencepost_core::Key;

use super::{
    contender_state::{ContenderState, SharedState},
    driver::{CommandFuture, Completed},
    inputs::Engine,
    loans::LentCommands,
    state::Awaits,
};

/// Commands of one contender. Dropped, it leaves what is still under way to the background task.
pub(crate) struct InFlight<'a> {
    engine: &'a Engine,
    key: Key,
    lent: Option<Arc<LentCommands>>,
}

impl<'a> InFlight<'a> {
    pub(crate) fn new(engine: &'a Engine, key: Key, commands: Vec<CommandFuture>) -> Self {
        let lent = (!commands.is_empty()).then(|| {
            let lent = Arc::<LentCommands>::default();
            let _empty = lent.put(commands);
            engine.lend(&lent);
            lent
        });
        Self { engine, key, lent }
    }

    /// Carries the commands through until `look` has seen what it looks for.
    pub(crate) async fn until<T>(
        &mut self,
        contender: &SharedState,
        mut look: impl FnMut(&mut ContenderState) -> Option<T>,
    ) -> T {
        let mut changed = pin!(contender.changed());
        poll_fn(|cx| {
            loop {
                let Some((lent, (key, answer))) = self.answer(cx) else {
                    // First in line for the next change, then a look: nothing is missed in between.
                    while changed.as_mut().poll(cx).is_ready() {
                        changed.set(contender.changed());
                    }
                    return look(&mut contender.state()).map_or(Poll::Pending, Poll::Ready);
                };
                // What comes of the answer is seen here at once: out of the line, or this task would wake itself, and an idle thread
                // would come and take it away.
                changed.set(contender.changed());
                let more = self.engine.complete(Awaits::Only(self.key), key, answer);
                let left = lent.put(more);
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

    fn answer(&self, cx: &mut Context<'_>) -> Option<(&LentCommands, (Key, Completed))> {
        let lent = self.lent.as_deref()?;
        let _inside = self.engine.runtime.inside();
        Some((lent, lent.answer(cx)?))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let commands = self.lent.take().map(|lent| lent.recall()).unwrap_or_default();
        if !commands.is_empty() {
            self.engine.await_in_background(commands);
        }
    }
}
