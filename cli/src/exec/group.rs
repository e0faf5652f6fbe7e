//! The command: its process group, and its processes in other groups.

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

use super::{
    elsewhere::{self, Mark},
    signals,
};

#[cfg(target_os = "linux")]
use nix::sys::wait::{Id, waitid};

/// The command and the processes that it has started: its process group, and on Linux the processes of its session.
pub(super) struct Group {
    leader: Child,
    id: Pid,
    mark: Mark,
    /// Whether the process group is empty. If so, another group may have its number.
    is_empty: bool,
}

impl Group {
    /// Starts the command as the leader of a new group.
    pub(super) fn start(command: &mut Command, mark: Mark) -> io::Result<Self> {
        // Processes that outlive the command become children of this process, so it can detect their end.
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_child_subreaper(true)?;
        command.env(elsewhere::VARIABLE, mark.for_command());
        let leader = command.process_group(0).spawn()?;
        let id = leader.id().and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| io::Error::other("the command has no process id"))?;
        Ok(Self {
            leader,
            id: Pid::from_raw(id),
            mark,
            is_empty: false,
        })
    }

    pub(super) const fn id(&self) -> Pid {
        self.id
    }

    pub(super) const fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The process group, if it is not empty.
    pub(super) fn in_use(&self) -> Option<Pid> {
        (!self.is_empty).then_some(self.id)
    }

    /// Completes when the command has ended. Other processes of the group may continue. It is cancel safe.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Sends a signal to the whole group. A signal that ends processes is also sent to the command's processes in other
    /// groups. Possibly no process is left to get it.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.in_use() {
            let _sent = killpg(group, signal);
        }
        if signal == Signal::SIGKILL {
            self.mark.kill();
        } else if signals::ends(signal) {
            self.mark.end(signal, self.id);
        }
    }

    /// The signal that has stopped the command since the last call. Only Linux reports it separately from the end of a
    /// process.
    pub(super) fn stopped_by(&self) -> Option<Signal> {
        #[cfg(target_os = "linux")]
        if let Ok(WaitStatus::Stopped(_, signal)) =
            waitid(Id::Pid(self.id), WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG)
        {
            return Some(signal);
        }
        None
    }

    /// Reaps ended processes that outlived the command: otherwise they would be zombies until fencepost ends. `other`
    /// is a child of fencepost itself, which this does not reap.
    pub(super) fn reap(&self, other: Option<Pid>) {
        #[cfg(target_os = "linux")]
        while let Ok(status) = waitid(
            Id::All,
            WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT,
        ) {
            match status.pid() {
                Some(pid) if pid != self.id && Some(pid) != other => {
                    let _reaped = waitpid(pid, Some(WaitPidFlag::WNOHANG));
                }
                _ => return,
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _no_subreaper = other;
    }

    /// Whether a process is left, after the command itself has ended.
    pub(super) fn is_alive(&mut self) -> bool {
        self.is_empty = self.is_empty || self.has_emptied();
        !self.is_empty || self.mark.is_left()
    }

    fn has_emptied(&self) -> bool {
        let group = Pid::from_raw(-self.id.as_raw());
        // Ended processes stay in the group until their parent waits for them.
        loop {
            match waitpid(group, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        killpg(self.id, None::<Signal>) == Err(Errno::ESRCH)
    }
}
