//! The signals that fencepost gets and forwards.

use std::{
    future::poll_fn,
    io,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
};

use nix::sys::signal::{SigHandler, SigSet, Signal, raise};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// The signals that a process catches, without those that report an error of the process itself.
pub(super) struct Signals {
    streams: Vec<(Signal, Stream)>,
    ignored: u64,
}

/// The signals that fencepost does not forward: they cannot be caught, report an error of fencepost, or are about its
/// own children, pipes and terminal.
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

/// The signals that do not end a process by default.
const HARMLESS: [Signal; 4] = [Signal::SIGCONT, Signal::SIGTSTP, Signal::SIGURG, Signal::SIGWINCH];

impl Signals {
    /// Catches the signals that would end this process, except signals that it ignores, for example under `nohup`.
    pub(super) fn of_the_end() -> io::Result<Self> {
        let mut signals = Self {
            streams: Vec::new(),
            ignored: ignored(),
        };
        signals.add(|signal| !HARMLESS.contains(&signal))?;
        Ok(signals)
    }

    /// Also catches the other signals, because there is now a command that gets them. SIGCHLD reports that a child has
    /// stopped or ended. Some programs start others with SIGCHLD ignored: then the exit status of a child would be
    /// lost.
    pub(super) fn add_harmless(&mut self) -> io::Result<()> {
        self.add(|signal| HARMLESS.contains(&signal))?;
        self.catch(Signal::SIGCHLD)
    }

    fn add(&mut self, wanted: impl Fn(Signal) -> bool) -> io::Result<()> {
        for each in Signal::iterator() {
            let is_ignored = (self.ignored >> (each as i32 - 1)) & 1 == 1;
            if wanted(each) && !OWN.contains(&each) && !is_ignored {
                self.catch(each)?;
            }
        }
        Ok(())
    }

    /// Catches one signal, and unblocks it: if a program starts fencepost in a thread that blocks signals, fencepost
    /// inherits the blocked signals.
    fn catch(&mut self, each: Signal) -> io::Result<()> {
        let stream = signal(SignalKind::from_raw(each as i32))?;
        self.streams.push((each, stream));
        Ok(SigSet::from(each).thread_unblock()?)
    }

    /// The next signal. It is cancel safe.
    pub(super) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            for (signal, stream) in &mut self.streams {
                if let Poll::Ready(Some(())) = stream.poll_recv(context) {
                    if *signal == Signal::SIGINT {
                        note_interrupt();
                    }
                    return Poll::Ready(*signal);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The next signal that ends a process by default. It is cancel safe.
    pub(super) async fn next_of_the_end(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if ends(signal) {
                return signal;
            }
        }
    }
}

/// Whether a signal ends a process by default.
pub(super) fn ends(signal: Signal) -> bool {
    signal != Signal::SIGCHLD && !HARMLESS.contains(&signal)
}

/// Whether the user has interrupted fencepost or its command.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub(super) fn note_interrupt() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Ends this process by SIGINT, if it has received SIGINT. A shell ends its script only if the interrupted program ends
/// in this way. An exit code would mean that the program has handled the signal.
pub(super) fn end_by_interrupt() {
    if INTERRUPTED.load(Ordering::Relaxed) {
        // SAFETY: the default action is not a function of this program.
        let default = unsafe { nix::sys::signal::signal(Signal::SIGINT, SigHandler::SigDfl) };
        if default.is_ok() {
            let _ended = raise(Signal::SIGINT);
        }
    }
}

/// The signals that this process ignores, one bit each. fencepost must not catch these: the command inherits ignored
/// signals, but not handlers.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Other systems do not report the ignored signals.
#[cfg(not(target_os = "linux"))]
fn ignored() -> u64 {
    0
}
