//! Processes of the command in other process groups, such as those of `timeout` and of shells with job control.
//!
//! The command gets an id in its environment, which processes inherit. A process with this id in fencepost's session is
//! a part of the command. A process that makes a new session is no longer a part. Only Linux shows the environment of
//! processes.

use std::ffi::OsString;

#[cfg(target_os = "linux")]
use nix::unistd::getpgid;
use nix::{sys::signal::Signal, unistd::Pid};

/// The variable with the ids of all `exec` in which a process runs. The innermost one is last.
pub(super) const VARIABLE: &str = "FENCEPOST_EXEC_IDS";
const BETWEEN: char = ':';
/// The prefix of the watchdog's own id: the watchdog is a part of the outer `exec`, and not of its own one.
const WATCHDOG: &str = "watchdog-of-";

/// The id of one `exec`. It is random, so no other process knows it.
#[derive(Clone)]
pub(super) struct Mark {
    around: String,
    id: String,
}

impl Mark {
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let id = u128::from(getrandom::u64()?) << 64 | u128::from(getrandom::u64()?);
        let around = std::env::var(VARIABLE).map_or_else(|_| String::new(), |ids| format!("{ids}{BETWEEN}"));
        Ok(Self {
            around,
            id: format!("{id:032x}"),
        })
    }

    /// The id that the watchdog reads from its environment.
    pub(super) fn of_watched() -> Option<Self> {
        let ids = std::env::var(VARIABLE).ok()?;
        let (_, id) = ids.rsplit_once(WATCHDOG)?;
        Some(Self {
            around: String::new(),
            id: id.into(),
        })
    }

    pub(super) fn for_command(&self) -> OsString {
        format!("{}{}", self.around, self.id).into()
    }

    pub(super) fn for_watchdog(&self) -> OsString {
        format!("{}{WATCHDOG}{}", self.around, self.id).into()
    }

    /// Whether the variable's value names this `exec`. With `last`, it must be the innermost one.
    #[cfg(target_os = "linux")]
    fn is_in(&self, ids: &[u8], last: bool) -> bool {
        let mut ids = ids.rsplit(|byte| *byte == BETWEEN as u8);
        ids.by_ref()
            .take(if last { 1 } else { usize::MAX })
            .any(|id| id == self.id.as_bytes())
    }
}

#[cfg(target_os = "linux")]
impl Mark {
    /// Sends a signal that ends processes to the command's processes outside of the group. An inner `exec` gets it, and
    /// forwards it.
    pub(super) fn end(&self, signal: Signal, group: Pid) {
        process::of_this_session(
            |ids| self.is_in(ids, true),
            |pid, process| {
                if getpgid(Some(pid)) != Ok(group) {
                    process.send(signal);
                    // A stopped process ends only when it continues.
                    process.send(Signal::SIGCONT);
                }
                true
            },
        );
    }

    /// Kills all processes, also those of an inner `exec`. The killed processes may have started others before. So this
    /// searches again until it finds no new process.
    pub(super) fn kill(&self) {
        let mut seen = std::collections::BTreeSet::new();
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            process::of_this_session(
                |ids| self.is_in(ids, false),
                |pid, process| {
                    process.send(Signal::SIGKILL);
                    is_new |= seen.insert(pid);
                    true
                },
            );
        }
    }

    /// Whether a process is left. One search may miss a process whose parent starts it and ends, so two searches have
    /// to find none.
    pub(super) fn is_left(&self) -> bool {
        let mut is_left = false;
        for _ in 0..2 {
            process::of_this_session(
                |ids| self.is_in(ids, false),
                |_, _| {
                    is_left = true;
                    false
                },
            );
        }
        is_left
    }
}

#[cfg(not(target_os = "linux"))]
impl Mark {
    pub(super) fn end(&self, _signal: Signal, _group: Pid) {}

    pub(super) fn kill(&self) {}

    pub(super) fn is_left(&self) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
mod process {
    use std::{
        fs::{self, File},
        io::{self, Read as _},
        os::fd::OwnedFd,
        thread::sleep,
        time::Duration,
    };

    use nix::{
        sys::signal::{Signal, kill},
        unistd::{Pid, getsid},
    };
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    use super::VARIABLE;

    /// How often to read a process that is inside `execve`: the kernel may have to read from the disk, or may run other
    /// processes first.
    const LOOKS: u32 = 250;
    /// More bytes than the environment of most processes.
    const ENOUGH: usize = 1 << 15;
    const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

    /// One process. A handle stays correct when another process gets the same number.
    pub(super) enum Process {
        Handle(OwnedFd),
        /// Kernels before 5.3 and some containers have no handles.
        Number(Pid),
    }

    impl Process {
        fn open(pid: Pid) -> Self {
            let handle = rustix::process::Pid::from_raw(pid.as_raw())
                .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            handle.map_or(Self::Number(pid), Self::Handle)
        }

        pub(super) fn send(&self, signal: Signal) {
            match self {
                Self::Handle(handle) => {
                    if let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) {
                        let _sent = pidfd_send_signal(handle, signal);
                    }
                }
                Self::Number(pid) => {
                    let _sent = kill(*pid, signal);
                }
            }
        }
    }

    /// Calls `each` for every living process of this session whose variable is `right`, until `each` returns false.
    /// Without `/proc`, it finds no process.
    pub(super) fn of_this_session(
        right: impl Fn(&[u8]) -> bool,
        mut each: impl FnMut(Pid, &Process) -> bool,
    ) {
        let own = getsid(None);
        let mut visit = |pid| {
            if getsid(Some(pid)) != own {
                return true;
            }
            // This opens the process before it reads the environment: so the environment is that of this process, or
            // this process is dead.
            let process = Process::open(pid);
            let environment = environment(pid);
            let mut variables = environment.split(|byte| *byte == 0);
            let ids = variables.find_map(|one| one.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
            getsid(Some(pid)) != own || !ids.is_some_and(&right) || each(pid, &process)
        };
        // The list may miss a process whose parent started it meanwhile and has ended. So this continues with the
        // numbers that the kernel assigned meanwhile, until there are no new ones.
        let mut last = newest();
        if !all().into_iter().all(&mut visit) {
            return;
        }
        loop {
            let next = newest();
            let goes_on = match (last, next) {
                (Some(last), Some(next)) if last < next => {
                    (last + 1..=next).map(Pid::from_raw).all(&mut visit)
                }
                // The numbers have started again from the beginning: so the list may miss a child with a low number
                // whose parent has a high number.
                (Some(last), Some(next)) if last > next => all()
                    .into_iter()
                    .chain((1..=next).map(Pid::from_raw))
                    .all(&mut visit),
                _ => return,
            };
            if !goes_on {
                return;
            }
            last = next;
        }
    }

    fn all() -> Vec<Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.map(Pid::from_raw).collect()
    }

    /// The last number that the kernel assigned. Numbers increase, and start again from the beginning at the end of
    /// their range.
    fn newest() -> Option<i32> {
        let line = fs::read_to_string("/proc/loadavg").ok()?;
        line.split_whitespace().last()?.parse().ok()
    }

    /// The environment of a process; empty if the process has ended, or belongs to another user.
    fn environment(pid: Pid) -> Vec<u8> {
        for _ in 0..LOOKS {
            match read_at_once(pid) {
                Ok(text) if text.is_empty() && is_between_programs(pid) => sleep(BETWEEN_LOOKS),
                Ok(text) => return text,
                Err(_) => break,
            }
        }
        Vec::new()
    }

    /// Reads with one call: between two calls, the process could execute another program, and the rest would be
    /// missing.
    fn read_at_once(pid: Pid) -> io::Result<Vec<u8>> {
        let mut text = vec![0; ENOUGH];
        loop {
            let read = File::open(format!("/proc/{pid}/environ"))?.read(&mut text)?;
            if read < text.len() {
                text.truncate(read);
                return Ok(text);
            }
            text.resize(2 * read, 0);
        }
    }

    /// Whether a process without an environment is alive and must have one, because it is inside `execve`.
    fn is_between_programs(pid: Pid) -> bool {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of the program ends at the last parenthesis. The other fields follow.
        let (_, rest) = line.rsplit_once(')').unwrap_or_default();
        let mut fields = rest.split_whitespace();
        let state = fields.next();
        let (start, end) = (fields.nth(46), fields.next());
        let is_empty = start == end && end != Some("0");
        !matches!(state, None | Some("Z" | "X")) && !is_empty
    }
}
