//! Commands that are delegated to the task of their contender: that task awaits them itself, but only for a short time.
//!
//! A task may stop polling a call of the client, for example while the handler of a `select!` waits for something else.
//! If the task does not read the reply, the client may hold a lock without knowing it. So after a time limit, the
//! background task recalls delegated commands, and awaits them.

use alloc::{
    collections::VecDeque,
    sync::{Arc, Weak},
};
use core::{
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Instant, Key};

use super::driver::{CommandFuture, Completed};

/// How long commands are delegated to a task. This is far shorter than any session timeout, because some of them may be
/// confirmations of the session.
const DELEGATED_FOR: Duration = Duration::from_millis(250);

/// Commands that are delegated to a task.
#[derive(Default)]
pub(super) struct DelegatedCommands(Mutex<DelegatedState>);

#[derive(Default)]
struct DelegatedState {
    commands: Vec<CommandFuture>,
    recalled: bool,
}

impl DelegatedCommands {
    fn lock(&self) -> MutexGuard<'_, DelegatedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds commands. Returns them if the background task has recalled the delegation.
    pub(super) fn put(&self, commands: Vec<CommandFuture>) -> Vec<CommandFuture> {
        let mut state = self.lock();
        if state.recalled {
            return commands;
        }
        state.commands.extend(commands);
        Vec::new()
    }

    /// Ends the delegation, and returns the commands.
    pub(super) fn recall(&self) -> Vec<CommandFuture> {
        let mut state = self.lock();
        state.recalled = true;
        mem::take(&mut state.commands)
    }

    /// Polls the commands in their order. Removes the first one that is complete, and returns its result.
    pub(super) fn answer(&self, cx: &mut Context<'_>) -> Option<(Key, Completed)> {
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

/// The present delegations. All last equally long, so they are in the order in which they will be recalled.
#[derive(Default)]
pub(super) struct Delegations(VecDeque<(Instant, Weak<DelegatedCommands>)>);

impl Delegations {
    pub(super) fn delegate(&mut self, now: Instant, delegated: &Arc<DelegatedCommands>) {
        self.0
            .push_back((now.plus(DELEGATED_FOR), Arc::downgrade(delegated)));
    }

    /// The time to recall the next delegation.
    pub(super) fn due(&mut self) -> Option<Instant> {
        while let Some((due, delegated)) = self.0.front() {
            if delegated.strong_count() > 0 {
                return Some(*due);
            }
            self.0.pop_front();
        }
        None
    }

    /// Recalls the delegations that have lasted too long.
    pub(super) fn recall(&mut self, now: Instant) -> Vec<CommandFuture> {
        let mut recalled = Vec::new();
        while let Some((due, delegated)) = self.0.front() {
            if *due > now {
                break;
            }
            recalled.extend(
                delegated
                    .upgrade()
                    .map(|delegated| delegated.recall())
                    .into_iter()
                    .flatten(),
            );
            self.0.pop_front();
        }
        recalled
    }
}
