//! Watches the command and its lock until all processes of the command have ended.

use std::{io, os::unix::process::ExitStatusExt as _, process::ExitStatus, time::Duration};

use fencepost::clock;
use fencepost_core::Instant;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::getpgrp,
};

use super::{
    group::Group,
    options::{OnLost, Plan},
    report::Report,
    right::Right,
    signals::{self, Signals},
    terminal::Terminal,
    watchdog::Watchdog,
};

/// The end of the command.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// The reason, if fencepost has ended the command.
    pub(super) why: Option<Why>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Lost,
    MaxHold,
}

pub(super) struct Watch<'a> {
    plan: &'a Plan,
    right: &'a mut Right,
    group: Group,
    watchdog: Option<Watchdog>,
    report: &'a mut Report,
    started: Instant,
    stage: Stage,
    why: Option<Why>,
    warned: bool,
    /// Whether a process of the command is left.
    is_left: bool,
    /// The reason of a loss that the client has reported.
    lost: Option<&'static str>,
    terminal: Terminal,
    stopped: Option<Stopped>,
}

/// The reason why the command is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    /// The command used the terminal. It gets the terminal as soon as fencepost has it. fencepost has to poll for this,
    /// because a shell does not report that it puts fencepost in the foreground.
    ByTerminal,
    /// A signal stopped the command: by Ctrl-Z, for example.
    BySignal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// fencepost has sent SIGTERM, and sends SIGKILL at this time at the latest.
    Ending {
        kill_at: Instant,
    },
    Killed,
}

/// How often per lease fencepost reads the deadline, because the client renews the lease in the background.
const LOOKS_PER_LEASE: u32 = 50;
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// How often fencepost checks whether it is in the foreground again.
const LOOK_AT_TERMINAL: Duration = Duration::from_millis(100);
/// How often fencepost checks a command that has to end.
const LOOK_AT_GROUP: Duration = Duration::from_millis(10);

impl<'a> Watch<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        right: &'a mut Right,
        group: Group,
        watchdog: Option<Watchdog>,
        report: &'a mut Report,
        started: Instant,
    ) -> Self {
        Self {
            plan,
            right,
            group,
            watchdog,
            report,
            started,
            stage: Stage::Running,
            why: None,
            warned: false,
            is_left: true,
            lost: None,
            terminal: Terminal::of_this_process(),
            stopped: None,
        }
    }

    /// Completes when no process of the command is left.
    pub(super) async fn until_dead(mut self, signals: &mut Signals) -> io::Result<Ended> {
        let mut status: Option<ExitStatus> = None;
        if cfg!(not(target_os = "linux")) {
            // Other systems do not report that the command was stopped for its use of the terminal.
            let _lent = self.terminal.lend(self.group.id());
        }
        loop {
            self.is_left = status.is_none() || self.group.is_alive();
            self.decide(status.is_some());
            if self.stopped == Some(Stopped::ByTerminal) && self.terminal.lend(self.group.id()) {
                self.stopped = None;
            }
            if let Some(status) = status
                && !self.is_left
            {
                if let Some(watchdog) = self.watchdog {
                    watchdog.dismiss();
                }
                if self.terminal.take_back() && status.signal() == Some(Signal::SIGINT as i32) {
                    // The other programs of the job have not received this Ctrl-C.
                    signals::note_interrupt();
                    let _sent = killpg(getpgrp(), Signal::SIGINT);
                }
                return Ok(Ended {
                    status,
                    why: self.why.or(self.warned.then_some(Why::Lost)),
                });
            }
            let pause = self.pause(status.is_some());
            tokio::select! {
                biased;
                ended = self.group.ended(), if status.is_none() => status = Some(ended?),
                signal = signals.next() => self.on_signal(signal),
                lost = self.right.lost(), if self.lost.is_none() => self.lost = Some(lost.reason().name()),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn on_signal(&mut self, signal: Signal) {
        match signal {
            Signal::SIGCHLD => self.look_at_children(),
            Signal::SIGCONT => {
                self.stopped = None;
                self.group.signal(signal);
            }
            _ => {
                self.group.signal(signal);
                if self.stopped.is_some() && signals::ends(signal) {
                    // A stopped process handles a signal only when it continues.
                    self.stopped = None;
                    self.group.signal(Signal::SIGCONT);
                }
            }
        }
    }

    /// Handles a child of this process that has stopped or ended.
    fn look_at_children(&mut self) {
        match self.group.stopped_by() {
            Some(Signal::SIGTTIN | Signal::SIGTTOU) => self.stopped = Some(Stopped::ByTerminal),
            Some(_) => {
                self.stopped = Some(Stopped::BySignal);
                // From now on, fencepost receives Ctrl-C again.
                self.terminal.take_back();
            }
            None => {}
        }
        if self.watchdog.as_mut().is_some_and(Watchdog::has_ended) {
            self.replace_watchdog();
        }
        self.group.reap(self.watchdog.as_ref().and_then(Watchdog::id));
    }

    /// Starts a new watchdog, because another process has ended the old one.
    fn replace_watchdog(&mut self) {
        match Watchdog::start(self.group.mark()) {
            Ok(watchdog) => {
                self.watchdog = Some(watchdog);
                self.inform_watchdog();
                self.report
                    .complain("the watchdog of the command has ended: another one was started");
            }
            Err(error) => {
                self.watchdog = None;
                self.report.complain(format!(
                    "the watchdog of the command has ended, and another one cannot be started: {error}"
                ));
            }
        }
    }

    /// Sends the watchdog the time of the SIGKILL.
    fn inform_watchdog(&mut self) {
        let kill_by = self.kill_by();
        if let (Some(watchdog), Some(kill_by)) = (&mut self.watchdog, kill_by) {
            watchdog.kill_in(self.group.in_use(), || kill_by.since(clock::now()));
        }
    }

    /// The latest time for SIGKILL, if a loss ends the command.
    fn kill_by(&self) -> Option<Instant> {
        let kept = self.plan.on_lost != OnLost::Warn;
        kept.then(|| self.right.kill_by(self.plan))
    }

    /// Ends the command if it is time to do so.
    fn decide(&mut self, has_ended: bool) {
        self.right.look();
        let now = clock::now();
        self.inform_watchdog();
        if self.why.is_none() {
            let due = self.right.deadline().minus(self.plan.notice());
            let too_long = self.plan.max_hold.map(|limit| self.started.plus(limit));
            match (self.lost, self.plan.on_lost) {
                (Some(reason), OnLost::Warn) if !self.warned => self.warn(reason),
                (Some(reason), OnLost::Term | OnLost::Kill) => self.lose(reason, now),
                (None, OnLost::Term | OnLost::Kill) if now >= due => self.lose("lease-ends", now),
                _ if !has_ended && too_long.is_some_and(|at| now >= at) => {
                    self.why = Some(Why::MaxHold);
                    self.report.lost("max-hold");
                    let name = &self.plan.name;
                    self.report.complain(format!(
                        "lock {name:?}: --max-hold has passed: ending the command"
                    ));
                    self.end(now, self.grace());
                }
                _ => {}
            }
        }
        if has_ended && self.is_left && self.stage == Stage::Running {
            // Processes that outlive the command must end before the lock is released.
            self.end(now, self.plan.grace);
        }
        match self.stage {
            Stage::Ending { kill_at }
                if now >= self.kill_by().map_or(kill_at, |kill_by| kill_by.min(kill_at)) =>
            {
                self.signal(Signal::SIGKILL);
                self.stage = Stage::Killed;
            }
            // A process may have left the group at the moment of the first SIGKILL.
            Stage::Killed if has_ended => self.signal(Signal::SIGKILL),
            _ => {}
        }
    }

    fn lose(&mut self, reason: &'static str, now: Instant) {
        self.why = Some(Why::Lost);
        self.report.lost(reason);
        let name = &self.plan.name;
        self.report
            .complain(format!("lock {name:?}: lost ({reason}): ending the command"));
        self.end(now, self.grace());
    }

    /// How long the command may take to end by itself.
    const fn grace(&self) -> Duration {
        match self.plan.on_lost {
            OnLost::Kill => Duration::ZERO,
            OnLost::Term | OnLost::Warn => self.plan.grace,
        }
    }

    /// Prints once that the command continues without the lock.
    fn warn(&mut self, reason: &'static str) {
        self.warned = true;
        self.report.lost(reason);
        let name = &self.plan.name;
        self.report.complain(format!(
            "lock {name:?}: lost ({reason}): the command continues without it"
        ));
    }

    fn end(&mut self, now: Instant, grace: Duration) {
        if self.stage != Stage::Running {
            return;
        }
        if !grace.is_zero() {
            self.signal(Signal::SIGTERM);
            // A stopped process ends only when it continues.
            self.signal(Signal::SIGCONT);
        }
        self.stage = Stage::Ending {
            kill_at: now.plus(grace),
        };
    }

    /// Sends a signal to the remaining processes of the command.
    fn signal(&self, signal: Signal) {
        if self.is_left {
            self.group.signal(signal);
        }
    }

    /// How long the watch can sleep.
    fn pause(&self, has_ended: bool) -> Duration {
        if has_ended || self.stage != Stage::Running {
            return LOOK_AT_GROUP;
        }
        let now = clock::now();
        let mut pause = (self.plan.ttl / LOOKS_PER_LEASE).min(LONGEST_SLEEP);
        if self.plan.on_lost != OnLost::Warn {
            pause = pause.min(self.right.deadline().minus(self.plan.notice()).since(now));
        }
        if self.stopped == Some(Stopped::ByTerminal) {
            pause = pause.min(LOOK_AT_TERMINAL);
        }
        if let Some(limit) = self.plan.max_hold {
            pause = pause.min(self.started.plus(limit).since(now));
        }
        pause.max(Duration::from_millis(1))
    }
}
