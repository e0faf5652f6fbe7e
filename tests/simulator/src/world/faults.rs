//! Faults: between a client and its server, of a client, and of the server.

use fencepost_core::{CommandId, Failure};

use crate::{
    backend::{Backend, ReplyOf, Subject},
    checker::{Belief, name},
    step::{ClientFault, Number, ServerFault},
    trace::{Act, Actor, Trace},
};

use super::{Client, Make, World, client::Answered};

impl<B: Backend, S: Subject<B>> World<B, S> {
    pub(super) fn client_fault(
        &mut self,
        client: Number,
        fault: ClientFault,
        make: Make<'_, S>,
        trace: &mut impl Trace<B>,
    ) -> bool {
        let moved = match fault {
            ClientFault::LoseRequest(nth) => self.lose_request(client, nth, trace),
            ClientFault::LoseAnswer(nth) => self.lose_answer(client, nth, trace),
            ClientFault::GiveUp(nth) => self.give_up(client, nth, trace),
            ClientFault::Double => self.double(client, trace),
            ClientFault::LoseNotice => self.lose_notice(client),
            ClientFault::Disconnect(executed) => self.disconnect(client, executed, trace),
            ClientFault::Swap => self.swap(client),
            ClientFault::Reconnect(how) => self.reconnect(client, how, trace),
            ClientFault::Pause => !core::mem::replace(&mut self.client(client).paused, true),
            ClientFault::Wake => self.wake(client, trace),
            ClientFault::Crash => {
                self.crash(client, make, trace);
                true
            }
        };
        if moved {
            trace.act(self.now, Act::Lost(Actor::Client(client)), || {
                format!("{}: {}", name(client), fault.name())
            });
        }
        moved
    }

    /// If answers keep their order, no single answer is lost, because the connection would break.
    fn lose_request(&mut self, client: Number, nth: u8, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if B::ORDERED || one.paused || !one.connected {
            return false;
        }
        let Some(sent) = one.take_request(nth) else {
            return false;
        };
        if sent.awaited {
            self.fail(client, sent.id, Failure::Unknown, trace);
            self.drain(client, trace);
        }
        true
    }

    /// The client library has waited too long, and drops the answer of the server.
    fn lose_answer(&mut self, client: Number, nth: u8, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(Answered { id, .. }) = one.take_answer(nth) else {
            return false;
        };
        self.fail(client, id, Failure::Unknown, trace);
        self.drain(client, trace);
        true
    }

    fn give_up(&mut self, client: Number, nth: u8, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(sent) = one.requests.get_mut(usize::from(nth)) else {
            return false;
        };
        if !core::mem::replace(&mut sent.awaited, false) {
            return false;
        }
        let id = sent.id;
        self.fail(client, id, Failure::Unknown, trace);
        self.drain(client, trace);
        true
    }

    /// The next write gets the answer to an earlier one.
    fn swap(&mut self, client: Number) -> bool {
        let one = self.client(client);
        !one.orphaned.is_empty() && !core::mem::replace(&mut one.swaps, true)
    }

    /// Sends the answer to a request, or the answer to another request.
    pub(super) fn answer_later(
        &mut self,
        client: Number,
        id: CommandId,
        reply: ReplyOf<B>,
        mark: i64,
        write: Option<B::Ask>,
    ) {
        let one = self.client(client);
        let mut answer = Answered {
            id,
            reply,
            mark,
            write,
            swapped: false,
        };
        if let Some(ask) = answer.write.as_ref().filter(|_| one.swaps)
            && let Some((before, theirs)) = one.orphaned.pop_front()
        {
            one.swaps = false;
            if let Some(reply) = B::instead(ask, &answer.reply, &before, theirs) {
                answer.reply = reply;
                answer.swapped = true;
            }
        }
        one.answers.push_back(answer);
    }

    /// A notice is lost: only a recheck detects the change.
    fn lose_notice(&mut self, client: Number) -> bool {
        let one = self.client(client);
        let lost = one.notices.pop_front().is_some();
        one.notice_lost |= lost;
        lost
    }

    fn double(&mut self, client: Number, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(notice) = one.notices.front().cloned() else {
            return false;
        };
        self.notify(client, notice, trace);
        self.drain(client, trace);
        true
    }

    /// The connection breaks. The server still executes some of the pending requests. It does not execute the
    /// others or, if there is no order, executes them later.
    pub(super) fn disconnect(&mut self, client: Number, executed: u8, trace: &mut impl Trace<B>) -> bool {
        if !self.client(client).connected {
            return false;
        }
        for _ in 0..executed {
            if !self.execute(client, 0, trace) {
                break;
            }
        }
        let one = self.client(client);
        one.connected = false;
        if B::ORDERED {
            one.requests.clear();
        }
        for sent in &mut one.requests {
            sent.awaited = false;
        }
        let left = core::mem::take(&mut one.answers);
        let writes = left
            .into_iter()
            .filter_map(|answer| Some((answer.write?, answer.reply)));
        one.orphaned = writes.collect();
        one.swaps = false;
        let notices = self.backend.disconnect(self.now, client);
        for notice in notices {
            self.notify(client, notice, trace);
            self.drain(client, trace);
        }
        if !settles_late::<B>(client) {
            self.settle_open(client, trace);
        }
        true
    }

    /// The requests that were pending when the connection broke get no answer, and the driver reports that to
    /// the client.
    fn settle_open(&mut self, client: Number, trace: &mut impl Trace<B>) {
        for id in core::mem::take(&mut self.client(client).open) {
            self.fail(client, id, Failure::Unknown, trace);
            self.drain(client, trace);
        }
    }

    /// The server has closed connections.
    pub(super) fn see_broken(&mut self, trace: &mut impl Trace<B>) {
        for client in self.backend.broken() {
            self.disconnect(client, 0, trace);
        }
    }

    fn reconnect(&mut self, client: Number, how: u8, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.connected || one.paused {
            return false;
        }
        if how & FORGETS != 0 {
            one.notices.clear();
            self.backend.forget_connection(client);
        }
        self.connect(client, how & !FORGETS, trace)
    }

    /// A driver makes another connection, because the server no longer sends anything.
    pub(super) fn move_on(&mut self, client: Number, trace: &mut impl Trace<B>) {
        if let Some(server) = self.backend.next_server(client)
            && self.disconnect(client, 0, trace)
        {
            self.connect(client, server, trace);
        }
    }

    pub(super) fn connect(&mut self, client: Number, server: u8, trace: &mut impl Trace<B>) -> bool {
        if self.client(client).connected {
            return false;
        }
        // The nodes of an ended session have no owner.
        self.stale = true;
        let Some(notices) = self.backend.connect(self.now, client, server) else {
            return false;
        };
        // The last notice reports the connection. Before it, the driver reports the outcomes of all earlier requests.
        let last = notices.len().saturating_sub(1);
        for (number, notice) in notices.into_iter().enumerate() {
            if number == last {
                self.settle_open(client, trace);
                let one = self.client(client);
                // The client reads everything again.
                (one.connected, one.notice_lost) = (true, false);
            }
            self.notify(client, notice, trace);
            self.drain(client, trace);
        }
        self.client(client).connected = true;
        true
    }

    pub(super) fn wake(&mut self, client: Number, trace: &mut impl Trace<B>) -> bool {
        if !core::mem::replace(&mut self.client(client).paused, false) {
            return false;
        }
        trace.act(self.now, Act::Point(Actor::Client(client)), || {
            format!("{} goes on after a pause", name(client))
        });
        true
    }

    /// A process ends, and another one replaces it, which knows nothing of it. Messages of the first one may
    /// still arrive.
    fn crash(&mut self, client: Number, make: Make<'_, S>, trace: &mut impl Trace<B>) {
        let crashes = self.client(client).crashes.wrapping_add(1);
        if self.client(client).connected {
            let _undelivered = self.backend.disconnect(self.now, client);
        }
        self.backend.forget(client);
        self.stale = true;
        let one = self.client(client);
        let (mut left, drift) = (core::mem::take(&mut one.requests), one.drift);
        let inspections = core::mem::take(&mut one.inspections).orphaned();
        left.iter_mut().for_each(|sent| sent.awaited = false);
        *one = Client::new(make(client, crashes), drift);
        one.crashes = crashes;
        if !B::ORDERED {
            (one.requests, one.inspections) = (left, inspections);
        }
        if let Belief::Holds(_) = self.checker.belief(client) {
            self.checker.lost();
        }
        self.checker.believes(client, Belief::Idle);
        trace.anew(client);
    }

    pub(super) fn server_fault(&mut self, fault: ServerFault, trace: &mut impl Trace<B>) -> bool {
        if let ServerFault::Throttle(requests) = fault {
            self.throttled = requests;
            return true;
        }
        if matches!(fault, ServerFault::FailOver | ServerFault::Restart) {
            // That takes time. Afterwards, the clock is past every fence that the server has issued.
            self.pass(1000, trace);
        }
        let Some(aftermath) = self.backend.server_fault(self.now, fault) else {
            return false;
        };
        self.stale = true;
        trace.act(self.now, Act::Lost(Actor::Server), || fault.name().into());
        self.checker.two_may_hold |= aftermath.two_may_hold;
        self.spread_notices();
        self.see_broken(trace);
        true
    }
}

/// Some drivers report the outcomes of lost requests only when there is a connection again, after the end of
/// the session.
fn settles_late<B: Backend>(client: Number) -> bool {
    B::ORDERED && !client.is_multiple_of(2)
}

/// A bit in the number of [`ClientFault::Reconnect`]: the client library has forgotten its watches and what it has seen.
pub const FORGETS: u8 = 0x80;
