//! The reports of a contender to `tracing`: a span for its wait, one for its hold, and events in them.
//!
//! A subscriber is code of the program. So the client queues its reports while it holds its lock, and passes them on
//! after it has unlocked. A panic of the subscriber would end the task in which the client reports: its background
//! task, which renews all grants, or an acquire that has just got its lock. So the client catches the panic, and
//! reports nothing more about this contender.

use alloc::collections::VecDeque;
use core::mem;
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use fencepost_core::{Event, Refusal};
use tracing::{Span, debug, debug_span, info, warn};

use super::end::End;
use crate::{Lost, Refused, Shown};

// The documentation of the crate lists these targets.
const WAIT: &str = "fencepost::wait";
const QUEUE: &str = "fencepost::queue";
const HOLD: &str = "fencepost::hold";
const LOSS: &str = "fencepost::loss";

/// The spans of one contender.
#[derive(Debug, Default)]
pub(crate) struct Trace(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// The items that the client has not reported yet.
    news: VecDeque<News>,
    /// Whether a thread is reporting the queue. Only one thread does so at a time, to keep the order.
    reporting: bool,
}

#[derive(Debug, Default)]
enum Phase {
    /// There is no span: the contender has not begun, or has ended.
    #[default]
    None,
    Wait {
        span: Span,
        /// The program's own span.
        parent: Span,
        since: Instant,
    },
    Hold {
        span: Span,
        since: Instant,
    },
}

#[derive(Debug)]
enum News {
    Queued(Option<u32>),
    Acquired(Option<u64>),
    Suspended,
    Resumed,
    RevokeRequested,
    MixedLayouts(String),
    Lost(Lost),
    Refused(Refused),
    /// The contender has ended in this way.
    Ended(&'static str),
}

impl Trace {
    /// Begins the wait, in the program's present span. The caller holds no lock.
    pub(crate) fn begin(&self, subject: &Shown) {
        let wait = || Phase::Wait {
            span: debug_span!(target: WAIT, "fencepost.wait", of = subject.of(), name = subject.as_str()),
            parent: Span::current(),
            since: Instant::now(),
        };
        self.state().phase = unless_panic(wait).unwrap_or_default();
        self.report(subject);
    }

    /// Queues an event. For losses and refusals, the client queues its error instead.
    pub(super) fn event(&self, event: &Event) {
        let news = match event {
            Event::Queued { ahead } => News::Queued(*ahead),
            Event::Acquired { grant } => News::Acquired(grant.fence.map(|fence| fence.0)),
            Event::Suspended => News::Suspended,
            Event::Resumed { .. } => News::Resumed,
            Event::RevokeRequested => News::RevokeRequested,
            Event::MixedLayouts { node } => News::MixedLayouts(node.clone()),
            Event::Released => News::Ended("released"),
            Event::Downgraded => News::Ended("downgraded"),
            Event::Completed { .. } => News::Ended("completed"),
            Event::Replayed { .. } => News::Ended("replayed"),
            _ => return,
        };
        self.keep(news);
    }

    pub(super) fn lost(&self, lost: &Lost) {
        self.keep(News::Lost(lost.clone()));
    }

    pub(super) fn refused(&self, refused: &Refused) {
        self.keep(News::Refused(refused.clone()));
    }

    /// Queues an end without an event.
    pub(super) fn end(&self, end: &End) {
        self.keep(match end {
            End::Lost(lost) => News::Lost(lost.clone()),
            End::Refused(refused) => News::Refused(refused.clone()),
            End::Failed(_) => News::Ended("the client library failed"),
            End::GivenBack => News::Ended("given back, because no task has taken the grant"),
            _ => News::Ended("given up or dropped"),
        });
    }

    /// Reports the queued items. The caller holds no lock.
    pub(super) fn report(&self, subject: &Shown) {
        let mut state = self.state();
        while !state.reporting && !matches!(state.phase, Phase::None) {
            let Some(news) = state.news.pop_front() else {
                return;
            };
            state.reporting = true;
            let mut phase = mem::take(&mut state.phase);
            drop(state);
            if let Some(next) = unless_panic(|| phase.after(&news, subject)).unwrap_or(Some(Phase::None)) {
                mem::replace(&mut phase, next).close();
            }
            state = self.state();
            state.phase = phase;
            state.reporting = false;
        }
    }

    fn keep(&self, news: News) {
        self.state().news.push_back(news);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        mem::take(&mut self.state().phase).close();
    }
}

impl Phase {
    /// Closes its spans.
    fn close(self) {
        let _panic = unless_panic(|| drop(self));
    }

    /// Reports one item. Returns the next phase, if the phase changes.
    fn after(&self, news: &News, subject: &Shown) -> Option<Self> {
        let (of, name) = (subject.of(), subject.as_str());
        match (self, news) {
            (Self::Wait { span, parent, since }, News::Acquired(fence)) => {
                let waited_ms = millis(*since);
                debug!(target: WAIT, parent: span, of, name, fence, waited_ms, "acquired");
                let span = debug_span!(target: HOLD, parent: parent, "fencepost.hold", of, name, fence);
                let since = Instant::now();
                return Some(Self::Hold { span, since });
            }
            (Self::Wait { span, since, .. }, News::Refused(refused)) => {
                let (waited_ms, reason) = (millis(*since), refused.reason().name());
                match refused.reason() {
                    // Another contender holds the lock, which is not a fault.
                    Refusal::Timeout | Refusal::NotAvailable | Refusal::InProgress => {
                        debug!(target: WAIT, parent: span, of, name, reason, waited_ms, "{refused}");
                    }
                    _ => warn!(target: WAIT, parent: span, of, name, reason, waited_ms, "{refused}"),
                }
                return Some(Self::None);
            }
            (Self::Wait { span, since, .. }, News::Ended(how)) => {
                debug!(target: WAIT, parent: span, of, name, waited_ms = millis(*since), "{how}");
                return Some(Self::None);
            }
            (Self::Hold { span, .. }, News::Ended(how @ "downgraded")) => {
                debug!(target: HOLD, parent: span, of, name, "{how}");
            }
            (Self::Hold { span, since }, News::Ended(how)) => {
                debug!(target: HOLD, parent: span, of, name, held_ms = millis(*since), "{how}");
                return Some(Self::None);
            }
            (Self::Wait { span, since, .. } | Self::Hold { span, since }, News::Lost(lost)) => {
                let (held_ms, reason) = (millis(*since), lost.reason().name());
                warn!(target: LOSS, parent: span, of, name, reason, held_ms, "{lost}");
                // A claim stays open after a loss.
                return (of != "operation").then_some(Self::None);
            }
            (phase, news) => phase.report(news, of, name),
        }
        None
    }

    /// Reports an item that does not end the phase.
    fn report(&self, news: &News, of: &str, name: &str) {
        let (Self::Wait { span, .. } | Self::Hold { span, .. }) = self else {
            return;
        };
        match news {
            News::Queued(ahead) => {
                debug!(target: QUEUE, parent: span, of, name, ahead, "queued");
            }
            News::MixedLayouts(node) => {
                warn!(target: QUEUE, parent: span, of, name, node, "a contender of another layout, which ignores this one");
            }
            News::Suspended => {
                warn!(target: HOLD, parent: span, of, name, "the connection is lost: the grant is not valid at present");
            }
            News::Resumed => {
                info!(target: HOLD, parent: span, of, name, "the connection is back, and the grant valid");
            }
            News::RevokeRequested => {
                info!(target: HOLD, parent: span, of, name, "another contender requests the lock");
            }
            News::Refused(refused) => {
                let reason = refused.reason().name();
                warn!(target: HOLD, parent: span, of, name, reason, "{refused}");
            }
            News::Acquired(_) | News::Lost(_) | News::Ended(_) => {}
        }
    }
}

/// Calls the program's subscriber; `None` if it panics. The panic hook has reported the panic.
fn unless_panic<T>(report: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(report)).ok()
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}
