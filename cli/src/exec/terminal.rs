//! The terminal, which the command's group has while it runs.

use std::io::{IsTerminal as _, stdin};

use nix::{
    sys::signal::{SigSet, SigmaskHow, Signal, killpg},
    unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp},
};

/// The terminal is another group's until this is dropped.
pub(super) struct Lent;

/// Lends the terminal to the command's group, if this process has it. Without it, a read of the terminal would stop the
/// command.
pub(super) fn lend(group: Pid) -> Option<Lent> {
    if !stdin().is_terminal() || tcgetpgrp(stdin()) != Ok(getpgrp()) {
        return None;
    }
    give(group);
    // The command may have read before it had the terminal.
    let _continued = killpg(group, Signal::SIGCONT);
    Some(Lent)
}

impl Drop for Lent {
    fn drop(&mut self) {
        give(getpgrp());
    }
}

fn give(group: Pid) {
    // A process of the background that changes the terminal's group is stopped, unless it blocks this signal.
    let mut block = SigSet::empty();
    block.add(Signal::SIGTTOU);
    let before = block.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let _given = tcsetpgrp(stdin(), group);
    if let Ok(before) = before {
        let _restored = before.thread_set_mask();
    }
}
