//! The terminal, which the command's group gets when the command uses it.

use std::fs::{File, OpenOptions};

use nix::{
    sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, killpg, signal},
    unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp},
};

/// The terminal that controls this process, if there is one.
///
/// The command begins in the background, as a job of this process. So Ctrl-C and the other keys for signals still reach
/// the other programs of the job: the script that runs fencepost, and the rest of a pipeline. The kernel stops a
/// command that reads the terminal in the background. If fencepost has the terminal, it then gives the terminal to the
/// command.
pub(super) struct Terminal {
    file: Option<File>,
    is_lent: bool,
}

impl Terminal {
    pub(super) fn of_this_process() -> Self {
        // Standard input may be another file.
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty");
        Self {
            file: file.ok(),
            is_lent: false,
        }
    }

    /// Lets the kernel stop a command that uses the terminal, if this process has the terminal. bash ignores these
    /// signals in `$(…)`. A command that also ignored them would get an error instead of the terminal.
    pub(super) fn let_it_stop_the_command(&self) {
        if self.is_here() {
            for each in [Signal::SIGTTIN, Signal::SIGTTOU] {
                // SAFETY: the default action is not a function of this program.
                let _before = unsafe { signal(each, SigHandler::SigDfl) };
            }
        }
    }

    /// Whether this process has the terminal: a shell may have put fencepost in the background.
    fn is_here(&self) -> bool {
        self.file
            .as_ref()
            .is_some_and(|file| tcgetpgrp(file) == Ok(getpgrp()))
    }

    /// Lends the terminal to the command's group, and continues the command. Returns whether this process had the
    /// terminal.
    pub(super) fn lend(&mut self, group: Pid) -> bool {
        if let Some(file) = &self.file
            && self.is_here()
        {
            give(file, group);
            self.is_lent = true;
            let _continued = killpg(group, Signal::SIGCONT);
            return true;
        }
        false
    }

    /// Takes the terminal back. Returns whether it was lent.
    pub(super) fn take_back(&mut self) -> bool {
        if let (true, Some(file)) = (self.is_lent, &self.file) {
            give(file, getpgrp());
        }
        std::mem::take(&mut self.is_lent)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take_back();
    }
}

fn give(terminal: &File, group: Pid) {
    // The kernel stops a background process that changes the terminal's group, unless the process blocks this signal.
    let mut block = SigSet::empty();
    block.add(Signal::SIGTTOU);
    let before = block.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let _given = tcsetpgrp(terminal, group);
    if let Ok(before) = before {
        let _restored = before.thread_set_mask();
    }
}
