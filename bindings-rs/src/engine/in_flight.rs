//! Commands under way that the task of a contender awaits itself.
//!
//! They are lent to it for a short time only. A task may stop polling a call of ours, in a `select!` whose handler waits for something
//! else; an answer that it leaves lying would be a lock that no task knows of. So the background task recalls what is out for longer,
//! and goes on with it.

use alloc::{
    collections::VecDeque,
    sync::{Arc, Weak},
};
use core::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Instant, Key};

use super::{
    contender_state::{ContenderState, SharedState},
    inputs::Engine,
    machines::{CommandFuture, Completed},
    state::Awaits,
};

/// How long commands are lent to a task. A good deal shorter than any session's timeout, because the confirmations of a session may be
/// among them.
const LENT_FOR: Duration = Duration::from_millis(250);

/// Commands that are lent to a task.
#[derive(Default)]
pub(super) struct LentCommands(Mutex<LentState>);

#[derive(Default)]
struct LentState {
    commands: Vec<CommandFuture>,
    recalled: bool,
}

impl LentCommands {
    fn lock(&self) -> MutexGuard<'_, LentState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts commands in; gives them back if the background task has recalled them.
    fn put(&self, commands: Vec<CommandFuture>) -> Vec<CommandFuture> {
        let mut state = self.lock();
        if state.recalled {
            return commands;
        }
        state.commands.extend(commands);
        Vec::new()
    }

    /// Takes the commands out, for good.
    fn recall(&self) -> Vec<CommandFuture> {
        let mut state = self.lock();
        state.recalled = true;
        mem::take(&mut state.commands)
    }

    /// Polls what is under way until something has been answered, and takes it out.
    fn answer(&self, cx: &mut Context<'_>) -> Option<(Key, Completed)> {
        let mut state = self.lock();
        let mut commands = state.commands.iter_mut().enumerate();
        let (at, answer) = commands.find_map(|(at, command)| match Pin::new(command).poll(cx) {
            Poll::Ready(answer) => Some((at, answer)),
            Poll::Pending => None,
        })?;
        state.commands.remove(at);
        Some(answer)
    }
}

/// What is lent at present, in the order in which it is recalled: each task has it for as long.
#[derive(Default)]
pub(super) struct Loans(VecDeque<(Instant, Weak<LentCommands>)>);

impl Loans {
    pub(super) fn lend(&mut self, now: Instant, lent: &Arc<LentCommands>) {
        self.0.push_back((now.plus(LENT_FOR), Arc::downgrade(lent)));
    }

    /// When the next ones are to be recalled.
    pub(super) fn due(&mut self) -> Option<Instant> {
        while self
            .0
            .pop_front_if(|(_, lent)| lent.strong_count() == 0)
            .is_some()
        {}
        self.0.front().map(|(due, _)| *due)
    }

    /// Recalls what has been out for too long.
    pub(super) fn recall(&mut self, now: Instant) -> Vec<CommandFuture> {
        let mut recalled = Vec::new();
        while let Some((_, lent)) = self.0.pop_front_if(|(due, _)| *due <= now) {
            recalled.extend(lent.upgrade().map(|lent| lent.recall()).into_iter().flatten());
        }
        recalled
    }
}

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
