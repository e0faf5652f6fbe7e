//! The command's process group.

use std::{io, process::ExitStatus};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, killpg},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use tokio::process::{Child, Command};

/// The command, and all processes that it has started and that have not left its process group.
pub(super) struct Group {
    leader: Child,
    id: Pid,
}

impl Group {
    /// Starts the command as the leader of a new group.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        // What a command leaves behind becomes a child of this process, which can then see that it has ended.
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_child_subreaper(true)?;
        let leader = command.process_group(0).spawn()?;
        let id = leader.id().and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| io::Error::other("the command has no process id"))?;
        Ok(Self {
            leader,
            id: Pid::from_raw(id),
        })
    }

    pub(super) const fn id(&self) -> Pid {
        self.id
    }

    /// Completes when the command has ended; others of the group may go on. It is cancel safe.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Sends a signal to the whole group. There may be no process left to get it.
    pub(super) fn signal(&self, signal: Signal) {
        let _sent = killpg(self.id, signal);
    }

    /// Whether a process of the group is left, after the command itself has ended.
    pub(super) fn is_alive(&self) -> bool {
        let group = Pid::from_raw(-self.id.as_raw());
        // Those that have ended and that no one has waited for are still in the group.
        loop {
            match waitpid(group, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        killpg(self.id, None::<Signal>) != Err(Errno::ESRCH)
    }
}
