//! Commands that are lent to the task of their contender, for a short time only.
//!
//! A task may stop polling a call of the client, for example while the handler of a `select!` waits for something else.
//! If the task does not read the answer, it may hold a lock without knowing it. So the background task takes back a
//! command that was lent for longer, and awaits it.

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
    pub(super) fn put(&self, commands: Vec<CommandFuture>) -> Vec<CommandFuture> {
        let mut state = self.lock();
        if state.recalled {
            return commands;
        }
        state.commands.extend(commands);
        Vec::new()
    }

    /// Takes the commands out, for good.
    pub(super) fn recall(&self) -> Vec<CommandFuture> {
        let mut state = self.lock();
        state.recalled = true;
        mem::take(&mut state.commands)
    }

    /// Polls what is under way until something has been answered, and takes it out.
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

/// What is lent at present, in the order in which it is recalled: each task has it for as long.
#[derive(Default)]
pub(super) struct Loans(VecDeque<(Instant, Weak<LentCommands>)>);

impl Loans {
    pub(super) fn lend(&mut self, now: Instant, lent: &Arc<LentCommands>) {
        self.0.push_back((now.plus(LENT_FOR), Arc::downgrade(lent)));
    }

    /// When the next ones are to be recalled.
    pub(super) fn due(&mut self) -> Option<Instant> {
        while let Some((due, lent)) = self.0.front() {
            if lent.strong_count() > 0 {
                return Some(*due);
            }
            self.0.pop_front();
        }
        None
    }

    /// Recalls what has been out for too long.
    pub(super) fn recall(&mut self, now: Instant) -> Vec<CommandFuture> {
        let mut recalled = Vec::new();
        while let Some((due, lent)) = self.0.front() {
            if *due > now {
                break;
            }
            recalled.extend(lent.upgrade().map(|lent| lent.recall()).into_iter().flatten());
            self.0.pop_front();
        }
        recalled
    }
}
