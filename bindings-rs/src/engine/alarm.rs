//! Alarms at given times, and time limits.
//!
//! The client handles replies that have arrived before it handles a late timer. If a program keeps its runtime busy, a
//! timer may fire before the runtime has read the replies that have arrived, or written the requests. So a late alarm
//! first waits some time for I/O.

use core::{future::Future, mem, pin::pin, time::Duration};

use fencepost_core::Instant;

use crate::clock;

/// The longest sleep. Tokio's timers stop while the computer is suspended, but leases do not.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// An alarm with a greater delay is late: an idle runtime wakes a timer sooner.
const LATE: Duration = Duration::from_millis(5);

/// The longest wait of a late alarm for I/O. It waits as long as it is late, but not longer than this. This is enough
/// for a round trip to most servers, also on a busy machine.
const GRACE: Duration = Duration::from_millis(150);

/// An alarm for one time after another.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    /// The time of the late alarm, and the end of its wait for I/O.
    grace: Option<(Instant, Instant)>,
    /// When the present sleep ends.
    wakes: Option<Instant>,
    /// How long the runtime was too busy to wake the alarm.
    starved: Duration,
}

impl Alarm {
    /// Completes at that time, or never. If a call is dropped and repeated, the wait for I/O continues.
    pub(crate) async fn wait(&mut self, until: Option<Instant>) {
        let Some(until) = until else {
            self.wakes = None;
            return core::future::pending().await;
        };
        loop {
            let now = clock::now();
            let overslept = self.wakes.take().map_or(Duration::ZERO, |wakes| now.since(wakes));
            if overslept >= LATE {
                self.starved = self.starved.saturating_add(overslept);
            }
            let late = now.since(until);
            let wake = match self.grace.filter(|(of, _)| *of == until) {
                _ if now < until => until,
                None if late >= LATE => {
                    let grace = now.plus(late.min(GRACE));
                    self.grace = Some((until, grace));
                    grace
                }
                Some((_, grace)) if now < grace => grace,
                None | Some(_) => {
                    self.grace = None;
                    return;
                }
            };
            let sleep = wake.since(now).min(LONGEST_SLEEP);
            self.wakes = Some(now.plus(sleep));
            tokio::time::sleep(sleep).await;
        }
    }

    /// How long the runtime was too busy to wake this alarm, since the last call.
    pub(super) fn take_starved(&mut self) -> Duration {
        mem::take(&mut self.starved)
    }
}

/// The output of the future, or `None` if it takes longer than the limit.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let until = clock::now().plus(limit);
    let mut alarm = Alarm::default();
    let (future, timeout) = (pin!(future), pin!(alarm.wait(Some(until))));
    tokio::select! {
        biased;
        done = future => Some(done),
        () = timeout => None,
    }
}
