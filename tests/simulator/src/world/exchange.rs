//! Requests, answers and notices: the arrival of messages between clients and their servers.

use fencepost_core::{CommandId, Failure, Outcome};

use crate::{
    backend::{Answered, Backend, Belongings, NoticeOf, Owner, ReplyOf, Subject},
    checker::{Belief, Property, name, trespass},
    step::Number,
    trace::{Act, Actor, Input, Trace},
};

use super::{
    World,
    client::{self, Sent},
    inspections::Doing,
};

impl<B: Backend, S: Subject<B>> World<B, S> {
    pub(super) fn execute(&mut self, client: Number, nth: u8, trace: &mut impl Trace<B>) -> bool {
        let first = self.clients[usize::from(client)].requests.front();
        if first.is_some_and(|sent| self.backend.stalls(sent.connection, &sent.ask)) {
            return false;
        }
        let Some(sent) = self.client(client).take_request(nth) else {
            return false;
        };
        self.carry_out(client, sent, trace);
        true
    }

    pub(super) fn carry_out(&mut self, client: Number, sent: Sent<B>, trace: &mut impl Trace<B>) {
        let Sent {
            id,
            connection,
            ask,
            awaited,
        } = sent;
        trace.act(
            self.now,
            Act::Arrow(Actor::Client(client), Actor::Server),
            || match self.backend.behind(connection) {
                0 => B::describe_ask(&ask),
                behind => format!("{}, {behind} behind", B::describe_ask(&ask)),
            },
        );
        self.stale |= !B::reads(&ask);
        let committed = B::is_committed(&ask).then(|| ask.clone());
        let throttled = self.throttled.checked_sub(1).and_then(|left| {
            self.throttled = left;
            self.backend.throttled(connection, &ask)
        });
        // A request that was not executed has no transaction.
        let write = committed.filter(|_| throttled.is_none());
        let answered = match throttled {
            Some(reply) => Some(Answered { reply, mark: 0 }),
            None => {
                let harms = B::harms(&ask);
                let before = if harms {
                    self.backend.belongings(self.now)
                } else {
                    Vec::new()
                };
                let doing = self.about_to(client, id, &ask);
                let to_break = doing.as_ref().and_then(Doing::to_break).map(str::to_owned);
                let last = self.backend.last_fence(self.now);
                let answered = self.backend.execute(self.now, client, connection, id, ask);
                let fence = self.backend.last_fence(self.now);
                if let Some(given) = fence.filter(|_| fence != last) {
                    self.checker.given(given);
                }
                if harms {
                    let after = self.backend.belongings(self.now);
                    if let Some(what) = trespass(&before, &after, client, self.now, to_break.as_deref())
                        && !(self.setup.nameless && self.checker.two_may_hold)
                    {
                        self.checker.violated(Property::S5, || what);
                    }
                    self.nothing_returns(client, &before, &after);
                    let known = |thing: &String| before.iter().any(|(known, ..)| known == thing);
                    let new = after.iter().find(|(thing, ..)| !known(thing));
                    if let (Some((holder, ..)), Some(fence)) = (new, fence) {
                        self.checker.takes(holder, fence);
                    }
                }
                self.was_shown(client, doing, &before);
                answered
            }
        };
        if let Some(Answered { reply, mark }) = answered
            && awaited
        {
            self.answer_later(client, id, reply, mark, write);
        }
        self.spread_notices();
        self.see_broken(trace);
    }

    /// S8: objects that a machine has reported as deleted do not reappear when a late request arrives.
    pub(super) fn nothing_returns(&mut self, client: Number, before: &Belongings, after: &Belongings) {
        let owns = |all: &Belongings| all.iter().any(|(_, owner, _)| *owner == Owner::Client(client));
        let gone = self.checker.belief(client) == Belief::Idle
            && self.clients[usize::from(client)].subject.pending() == 0;
        if gone && !self.checker.two_may_hold && owns(after) && !owns(before) {
            self.checker.violated(Property::S8, || {
                format!(
                    "client {} has the lock on the server, and has given it up long ago",
                    name(client)
                )
            });
        }
    }

    pub(super) fn spread_notices(&mut self) {
        for client in self.numbers() {
            let notices = self.backend.take_notices(client);
            if !notices.is_empty() {
                self.client(client).notices.extend(notices);
            }
        }
    }

    pub(super) fn answer(&mut self, client: Number, nth: u8, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(client::Answered {
            id,
            reply,
            mark,
            swapped,
            ..
        }) = one.take_answer(nth)
        else {
            return false;
        };
        trace.act(self.now, Act::Arrow(Actor::Server, Actor::Client(client)), || {
            B::describe_reply(&reply)
        });
        if self.backend.delivered(client, mark) {
            // The result is the same as if the request was never sent.
            let one = self.client(client);
            one.sent = one.sent.saturating_sub(1);
        }
        self.settle(client, id, Outcome::Reply(reply), swapped, trace);
        self.drain(client, trace);
        self.see_broken(trace);
        true
    }

    pub(super) fn settle(
        &mut self,
        client: Number,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
        swapped: bool,
        trace: &mut impl Trace<B>,
    ) {
        let local = self.local(client);
        trace.input(client, local, || Input::Outcome(id, outcome.clone()));
        if let Err(misuse) = self.client(client).subject.handle_outcome(local, id, outcome)
            && !swapped
        {
            self.checker.violated(Property::S7, || {
                format!("an answer to {} was refused: {misuse}", name(client))
            });
        }
    }

    /// The server does not answer, and the driver reports the failure to the client.
    pub(super) fn fail(
        &mut self,
        client: Number,
        id: CommandId,
        failure: Failure,
        trace: &mut impl Trace<B>,
    ) {
        let one = self.client(client);
        one.open.retain(|open| *open != id);
        one.in_doubt |= failure == Failure::Unknown;
        self.settle(client, id, Outcome::Failed(failure), false, trace);
    }

    pub(super) fn notice(&mut self, client: Number, trace: &mut impl Trace<B>) -> bool {
        let one = self.client(client);
        if one.paused || !one.connected {
            return false;
        }
        let Some(notice) = one.notices.pop_front() else {
            return false;
        };
        self.notify(client, notice, trace);
        self.drain(client, trace);
        true
    }

    pub(super) fn notify(&mut self, client: Number, notice: NoticeOf<B>, trace: &mut impl Trace<B>) {
        let local = self.local(client);
        trace.act(self.now, Act::Arrow(Actor::Server, Actor::Client(client)), || {
            B::describe_notice(&notice)
        });
        trace.input(client, local, || Input::Notice(notice.clone()));
        if let Err(misuse) = self.client(client).subject.handle_notice(local, notice) {
            self.checker.violated(Property::S7, || {
                format!("a notice to {} was refused: {misuse}", name(client))
            });
        }
    }
}
