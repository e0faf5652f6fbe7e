//! The signals that fencepost gets, and passes on.

use std::{future::poll_fn, io, task::Poll};

use nix::sys::signal::Signal;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// The signals that a process catches, without those that report an error of the process itself.
pub(super) struct Signals {
    streams: Vec<(Signal, Stream)>,
    ignored: u64,
}

/// What fencepost leaves as it is: it cannot be caught, reports an error of fencepost, or is about its own children,
/// pipes and terminal.
const OWN: [Signal; 13] = [
    Signal::SIGKILL,
    Signal::SIGSTOP,
    Signal::SIGILL,
    Signal::SIGTRAP,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGSEGV,
    Signal::SIGSYS,
    Signal::SIGPIPE,
    Signal::SIGCHLD,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];

/// What does not end a process by default.
const HARMLESS: [Signal; 4] = [Signal::SIGCONT, Signal::SIGTSTP, Signal::SIGURG, Signal::SIGWINCH];

impl Signals {
    /// Catches the signals that would end this process, except those that it ignores, as under `nohup`.
    pub(super) fn of_the_end() -> io::Result<Self> {
        let mut signals = Self {
            streams: Vec::new(),
            ignored: ignored(),
        };
        signals.add(|signal| !HARMLESS.contains(&signal))?;
        Ok(signals)
    }

    /// Catches the others, too: there is a command that gets them.
    pub(super) fn add_harmless(&mut self) -> io::Result<()> {
        self.add(|signal| HARMLESS.contains(&signal))
    }

    fn add(&mut self, wanted: impl Fn(Signal) -> bool) -> io::Result<()> {
        for each in Signal::iterator() {
            let is_ignored = (self.ignored >> (each as i32 - 1)) & 1 == 1;
            if wanted(each) && !OWN.contains(&each) && !is_ignored {
                let stream = signal(SignalKind::from_raw(each as i32))?;
                self.streams.push((each, stream));
            }
        }
        Ok(())
    }

    /// The next signal. It is cancel safe.
    pub(super) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            for (signal, stream) in &mut self.streams {
                if let Poll::Ready(Some(())) = stream.poll_recv(context) {
                    return Poll::Ready(*signal);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The signals that this process ignores, one bit each. A handler would end this: the command would not ignore them.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Other systems do not show it.
#[cfg(not(target_os = "linux"))]
fn ignored() -> u64 {
    0
}
