//! A client library's errors, by the command that caused them.

use alloc::{collections::VecDeque, sync::Arc};

use fencepost_core::{Cause, CommandId};

use crate::Native;

/// The latest errors, for the losses or refusals that they may cause.
#[derive(Debug, Default)]
pub(super) struct CommandErrors<const MOST: usize>(VecDeque<(CommandId, Native)>);

impl<const MOST: usize> CommandErrors<MOST> {
    pub(super) fn push(&mut self, id: CommandId, native: Native) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((id, native));
    }

    /// The error of the command that a cause names, if it is still stored.
    pub(super) fn of(&self, cause: &Cause) -> Option<Native> {
        let wanted = cause.command?;
        let found = self.0.iter().rev().find(|(id, _)| *id == wanted);
        found.map(|(_, native)| Arc::clone(native))
    }
}
