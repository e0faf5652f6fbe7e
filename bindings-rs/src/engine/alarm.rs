//! Alarms at given times, and time limits.
//!
//! The client handles answers that have arrived before a timer that is late. When a program has kept its runtime busy,
//! a timer fires before the runtime has read the answers that have arrived, or written the requests. So an alarm that
//! is late first gives the I/O some time.

use core::{future::Future, mem, pin::pin, time::Duration};

use fencepost_core::Instant;

use crate::clock;

/// Tokio's timers stand still while the computer sleeps, leases do not: no sleep is longer than this.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A runtime with nothing else to do wakes a timer sooner than this.
const LATE: Duration = Duration::from_millis(5);

/// The longest time for I/O when an alarm fires late: it gets as long as the alarm is late, but not more. This is enough for a round trip to
/// most servers, also on a busy machine.
const GRACE: Duration = Duration::from_millis(150);

/// An alarm for one time after another.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    /// Until when I/O goes first, and for which late time.
    grace: Option<(Instant, Instant)>,
    /// When the present sleep ends.
    wakes: Option<Instant>,
    /// For how long the runtime was too busy to wake the alarm.
    starved: Duration,
}

impl Alarm {
    /// Completes at that time, or never. A call that is dropped and made again goes on with the same grace.
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

    /// For how long the runtime was too busy to wake this alarm, since the last call.
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
