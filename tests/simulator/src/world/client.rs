//! One client: the lock under test, its pending messages, and its clock.

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{CommandId, Instant};

use super::{BEGINNING, inspections::Inspections};
use crate::{
    backend::{Backend, NoticeOf, ReplyOf},
    checker::Mode,
    shared::Shared,
};

/// A pending request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sent<B: Backend> {
    pub(crate) id: CommandId,
    pub(crate) connection: B::Connection,
    pub(crate) ask: B::Ask,
    /// Whether the client still waits for the answer.
    pub(crate) awaited: bool,
}

/// A pending answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Answered<B: Backend> {
    pub(crate) id: CommandId,
    pub(crate) reply: ReplyOf<B>,
    pub(crate) mark: i64,
    /// The request, if it was a write.
    pub(crate) write: Option<B::Ask>,
    /// Whether it is the answer to another request.
    pub(crate) swapped: bool,
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client<B: Backend, S> {
    pub(crate) subject: Shared<S>,
    pub(crate) connected: bool,
    pub(crate) paused: bool,
    /// How much faster its clock runs than the server's, in thousandths.
    pub(crate) drift: i8,
    pub(crate) requests: VecDeque<Sent<B>>,
    pub(crate) answers: VecDeque<Answered<B>>,
    /// Executed writes whose answers were lost with the connection.
    pub(crate) orphaned: VecDeque<(B::Ask, ReplyOf<B>)>,
    /// Whether the next write gets one of these answers.
    pub(crate) swaps: bool,
    pub(crate) notices: VecDeque<NoticeOf<B>>,
    /// Commands without an outcome.
    pub(crate) open: Vec<CommandId>,
    /// When the machine must look at its clock.
    pub(crate) wait: Option<Instant>,
    /// Whether that is a recheck: perhaps no notice reports its result.
    pub(crate) looks: bool,
    /// The time of the last input of its machine, by its own clock.
    pub(crate) last_input: Instant,
    /// A notice of the present acquire, or of its grant, was lost.
    pub(crate) notice_lost: bool,
    /// How many requests it has sent, without routine requests.
    pub(crate) sent: u64,
    /// A request of the present acquire is in doubt: its answer was lost.
    pub(crate) in_doubt: bool,
    /// The last mode of a lost grant, if it differs from the mode that was requested: the rest of the grant
    /// on the server has that mode.
    pub(crate) left: Option<Mode>,
    /// The number of processes before this one.
    pub(crate) crashes: u8,
    pub(super) inspections: Inspections,
}

impl<B: Backend, S> Client<B, S> {
    pub(crate) fn new(subject: S, drift: i8) -> Self {
        Self {
            subject: Shared::new(subject),
            connected: false,
            paused: false,
            drift,
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            orphaned: VecDeque::new(),
            swaps: false,
            notices: VecDeque::new(),
            open: Vec::new(),
            wait: None,
            last_input: BEGINNING,
            looks: false,
            notice_lost: false,
            sent: 0,
            in_doubt: false,
            left: None,
            crashes: 0,
            inspections: Inspections::default(),
        }
    }

    /// The client's own time. At the start, all clocks show the same time.
    pub(crate) fn local(&self, now: Instant) -> Instant {
        let since = now.since(BEGINNING).as_micros() as u64;
        BEGINNING.plus(Duration::from_micros(
            since / 1000 * self.rate() + since % 1000 * self.rate() / 1000,
        ))
    }

    /// The server's time at which this client's clock shows `local`, or a little later.
    pub(crate) fn global(&self, local: Instant) -> Instant {
        let since = local.since(BEGINNING).as_micros() as u64;
        BEGINNING.plus(Duration::from_micros((since / self.rate() + 1) * 1000))
    }

    /// How many thousandths of a second its clock counts in a second.
    fn rate(&self) -> u64 {
        1000_u16.saturating_add_signed(self.drift.into()).into()
    }

    /// Whether it can receive and send everything, and no message is pending.
    pub(crate) fn is_quiet(&self) -> bool {
        let receives = self.connected && !self.paused;
        receives && self.requests.is_empty() && self.answers.is_empty() && self.notices.is_empty()
    }

    /// Removes the first (n-th) pending answer.
    pub(crate) fn take_answer(&mut self, nth: u8) -> Option<Answered<B>> {
        let nth = if B::ORDERED { 0 } else { nth.into() };
        let answer = self.answers.remove(nth)?;
        self.open.retain(|open| *open != answer.id);
        Some(answer)
    }

    /// Removes the first (n-th) pending request.
    pub(crate) fn take_request(&mut self, nth: u8) -> Option<Sent<B>> {
        let nth = if B::ORDERED { 0 } else { nth.into() };
        self.requests.remove(nth)
    }
}
