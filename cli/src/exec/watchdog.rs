//! A second process that ends the command if fencepost itself is killed or stopped.
//!
//! fencepost writes the group and the time of its SIGKILL to the watchdog's standard input, and repeats this after each
//! renewal. The watchdog kills the command at that time, or when its input ends without the word `over`.

use std::{
    io::{self, BufRead as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, killpg},
    time::{ClockId, clock_gettime},
    unistd::{Pid, getpid},
};

use super::elsewhere::{self, Mark};

/// The name of the hidden command.
const COMMAND: &str = "watchdog";
const OVER: &str = "over";
const NO_GROUP: i32 = 0;
/// Timers stop while the computer is suspended, so the watchdog reads the clock at least this often.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// The digits of a process and a time, a space and a newline.
const LONGEST_LINE: usize = 10 + 1 + 20 + 1;

/// fencepost's handle of the watchdog.
pub(super) struct Watchdog {
    process: Child,
    /// Non-blocking: a stopped watchdog does not stop fencepost.
    input: UnixStream,
    reported: (Option<Pid>, u64),
}

impl Watchdog {
    /// Starts the watchdog in a separate group, which gets no signals of the terminal.
    pub(super) fn start(mark: &Mark) -> io::Result<Self> {
        let (input, standard_input) = UnixStream::pair()?;
        input.set_nonblocking(true)?;
        let process = Command::new(own_program()?)
            .arg0("fencepost")
            .arg(COMMAND)
            .env(elsewhere::VARIABLE, mark.for_watchdog())
            .stdin(Stdio::from(OwnedFd::from(standard_input)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self {
            process,
            input,
            reported: (None, 0),
        })
    }

    /// Lets the command write its group to the watchdog before it begins: so the watchdog knows the group even if
    /// fencepost is killed at this moment.
    pub(super) fn watch_from_the_start(
        &mut self,
        command: &mut tokio::process::Command,
        left: impl FnOnce() -> Duration,
    ) -> io::Result<()> {
        let at = in_future(left);
        self.reported.1 = at;
        let mut input = self.input.try_clone()?;
        let announce = move || {
            let mut line = [0; LONGEST_LINE];
            let mut rest = &mut line[..];
            // If the watchdog has ended, fencepost replaces it later.
            if writeln!(rest, "{} {at}", getpid()).is_ok() {
                let left = rest.len();
                let _written = input.write(&line[..LONGEST_LINE - left]);
            }
            Ok(())
        };
        // SAFETY: after the fork, this neither allocates nor locks: it formats two numbers on the stack, and sends
        // them.
        unsafe { command.pre_exec(announce) };
        Ok(())
    }

    /// Sets the time when the watchdog kills the command; a later call moves it. `group` is `None` if only processes in
    /// other groups are left.
    pub(super) fn kill_in(&mut self, group: Option<Pid>, left: impl FnOnce() -> Duration) {
        let at = in_future(left);
        let (known, before) = self.reported;
        // The times of one lease differ by some microseconds.
        if at.abs_diff(before) > 1000 || known != group {
            self.reported = (group, at);
            self.tell(&format!("{} {at}", group.map_or(NO_GROUP, Pid::as_raw)));
        }
    }

    pub(super) fn id(&self) -> Option<Pid> {
        i32::try_from(self.process.id()).ok().map(Pid::from_raw)
    }

    /// Whether another process has ended the watchdog.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends the watchdog after the command, and waits for it, because process 1 of a container may not reap it.
    pub(super) fn dismiss(mut self) {
        self.tell(OVER);
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }

    /// Writes a line to the watchdog. If the watchdog has ended, fencepost continues without it.
    fn tell(&mut self, line: &str) {
        let _written = self.input.write_all(format!("{line}\n").as_bytes());
    }
}

/// The program to start, even if its file was replaced.
fn own_program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}

/// Microseconds of a clock that all processes share.
fn now() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::CLOCK_MONOTONIC;
    clock_gettime(clock).map_or(0, |time| micros(time.into()))
}

/// The time after this duration. It reads the clock first: so a pause makes the time earlier, not later.
fn in_future(left: impl FnOnce() -> Duration) -> u64 {
    let now = now();
    now.saturating_add(micros(left()))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Runs the watchdog.
pub(crate) fn run() {
    let (to, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    let mut watched: Option<(Pid, u64)> = None;
    loop {
        let left = watched.map_or(LONGEST_SLEEP, |(_, at)| {
            Duration::from_micros(at.saturating_sub(now()))
        });
        match lines.recv_timeout(left.min(LONGEST_SLEEP)) {
            Ok(line) if line == OVER => return,
            Ok(line) => watched = read(&line).or(watched),
            Err(RecvTimeoutError::Timeout) => {
                if let Some((group, _)) = watched.take_if(|(_, at)| *at <= now()) {
                    kill(group);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                if let Some((group, _)) = watched {
                    kill(group);
                }
                return;
            }
        }
    }
}

fn kill(group: Pid) {
    if group.as_raw() != NO_GROUP {
        let _killed = killpg(group, Signal::SIGKILL);
    }
    if let Some(mark) = Mark::of_watched() {
        mark.kill();
    }
}

fn read(line: &str) -> Option<(Pid, u64)> {
    let (group, at) = line.split_once(' ')?;
    Some((Pid::from_raw(group.parse().ok()?), at.parse().ok()?))
}
