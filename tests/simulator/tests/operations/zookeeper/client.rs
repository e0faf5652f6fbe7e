//! A client: its application, its library's connection, and its clock.

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    CommandId, Failure, Instant, Outcome, Output, SessionId,
    zookeeper::{Notice, Reply, Request, Write, ZooKeeper},
};
use fencepost_simulator::{
    backend::{Answered as Carried, Backend as _, Owner},
    world::BEGINNING,
    zookeeper::{Ask, Servers},
};

use super::{World, accepted};
use crate::{application::Application, promises::Broken};

/// A pending request.
pub(super) struct Sent {
    pub(super) id: CommandId,
    session: SessionId,
    ask: Ask,
    /// Whether the client still waits for the answer.
    pub(super) awaited: bool,
}

/// A pending answer.
pub(super) struct Answered {
    pub(super) id: CommandId,
    pub(super) reply: Reply,
    mark: i64,
    /// The request, if it was a write.
    pub(super) write: Option<Ask>,
    /// Whether it is the answer to another request.
    swapped: bool,
}

pub(super) struct Client {
    number: u8,
    pub(super) application: Application<ZooKeeper>,
    pub(super) connected: bool,
    pub(super) paused: bool,
    /// Whether its requests do not reach the server for a while.
    pub(super) stuck: bool,
    pub(super) crashes: u8,
    /// How much faster its clock runs than the servers', in thousandths.
    pub(super) drift: i8,
    pub(super) requests: VecDeque<Sent>,
    pub(super) answers: VecDeque<Answered>,
    pub(super) notices: VecDeque<Notice>,
    /// Commands without an outcome.
    pub(super) open: Vec<CommandId>,
    /// Executed writes whose answers were lost with the connection.
    pub(super) orphaned: VecDeque<(Ask, Reply)>,
    /// Whether the next write gets one of these answers.
    pub(super) swaps: bool,
}

impl Client {
    pub(super) const fn new(number: u8, crashes: u8, drift: i8, application: Application<ZooKeeper>) -> Self {
        Self {
            number,
            application,
            connected: false,
            paused: false,
            stuck: false,
            crashes,
            drift,
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            notices: VecDeque::new(),
            open: Vec::new(),
            orphaned: VecDeque::new(),
            swaps: false,
        }
    }

    /// The time of a clock with this drift. At the start, all clocks show the same time.
    pub(super) fn clock(now: Instant, drift: i8) -> Instant {
        let since = now.since(BEGINNING).as_micros();
        let rate = u128::from(1000_u16.saturating_add_signed(drift.into()));
        let local = u64::try_from(since * rate / 1000).expect("a short run");
        BEGINNING.plus(Duration::from_micros(local))
    }

    pub(super) fn local(&self, now: Instant) -> Instant {
        Self::clock(now, self.drift)
    }

    /// The common time at which a clock with this drift shows `local`.
    fn global(local: Instant, drift: i8) -> Instant {
        let since = local.since(BEGINNING).as_micros();
        let rate = u128::from(1000_u16.saturating_add_signed(drift.into()));
        let global = u64::try_from(since * 1000 / rate).expect("a short run");
        BEGINNING.plus(Duration::from_micros(global))
    }

    pub(super) fn owns(&self, owner: Owner) -> bool {
        owner == Owner::Client(self.number)
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.connected && self.requests.is_empty() && self.answers.is_empty() && self.notices.is_empty()
    }

    /// Whether the driver reports the outcomes of lost requests only when there is a connection again.
    pub(super) const fn settles_late(&self) -> bool {
        !self.number.is_multiple_of(2)
    }
}

impl World<'_> {
    /// Polls all outputs of a client's hub.
    pub(super) fn drain(&mut self, number: u8) -> Result<(), Broken> {
        let mut unsent = VecDeque::new();
        let mut moves = false;
        loop {
            let session = self.servers.connection(number);
            let (now, own) = (self.now, &mut self.clients[usize::from(number)]);
            match own.application.hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    let ask = Ask::from(command.request);
                    if Servers::is_reconnect(&ask) {
                        moves = true;
                    } else if own.connected {
                        // A late write may find another record under the same name.
                        own.stuck |= self.theme.swept
                            && !self.recovering
                            && is_guarded(&ask)
                            && self.chance.percent(40);
                        own.open.push(command.id);
                        own.requests.push_back(Sent {
                            id: command.id,
                            session,
                            ask,
                            awaited: true,
                        });
                    } else {
                        unsent.push_back(command.id);
                    }
                }
                (key, Output::Event(event)) => {
                    self.log(|| format!("{number} receives {event:?}"));
                    self.believe(number, &event)?;
                    let own = &mut self.clients[usize::from(number)];
                    if key == own.application.key {
                        let drift = own.drift;
                        let global = |local| Client::global(local, drift);
                        own.application
                            .on_event(now, global, &event, &mut self.account, &mut self.seen)?;
                    } else {
                        self.operated(&event)?;
                    }
                }
                _ => match unsent.pop_front() {
                    Some(id) => self.fail(number, id, Failure::NotSent)?,
                    None if core::mem::take(&mut moves) => {
                        if let Some(server) = self.servers.next_server(number) {
                            self.disconnect(number, 0)?;
                            self.connect(number, server)?;
                        }
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    pub(super) fn fail(&mut self, number: u8, id: CommandId, failure: Failure) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        own.open.retain(|open| *open != id);
        let local = own.local(self.now);
        accepted(
            own.application
                .hub
                .handle_outcome(local, id, Outcome::Failed(failure)),
        )
    }

    /// The server executes a client's next request.
    pub(super) fn execute(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        let stalls = |sent: &Sent| self.servers.stalls(sent.session, &sent.ask);
        if own.stuck || own.requests.front().is_none_or(stalls) {
            return Ok(());
        }
        let Some(Sent {
            id,
            session,
            ask,
            awaited,
        }) = own.requests.pop_front()
        else {
            return Ok(());
        };
        let throttled = self.throttled.checked_sub(1).and_then(|left| {
            self.throttled = left;
            self.servers.throttled(session, &ask)
        });
        let write = (throttled.is_none() && Servers::is_committed(&ask)).then(|| ask.clone());
        let answered = match throttled {
            Some(reply) => Some(Carried { reply, mark: 0 }),
            None => {
                let wrong = self
                    .mutant
                    .map_or_else(|| ask.clone(), |mutant| mutant.asked(ask.clone()));
                self.servers.execute(self.now, number, session, id, wrong)
            }
        };
        self.log(|| {
            let reply = answered
                .as_ref()
                .map(|answered| Servers::describe_reply(&answered.reply));
            format!(
                "{number} {}: {}",
                Servers::describe_ask(&ask),
                reply.unwrap_or_default()
            )
        });
        if let Some(Carried { mut reply, mark }) = answered
            && awaited
        {
            if let Some(mutant) = self.mutant {
                reply = mutant.answered(&ask, reply);
            }
            self.answer_later(number, id, reply, mark, write);
        }
        self.after_a_change()
    }

    fn answer_later(&mut self, number: u8, id: CommandId, reply: Reply, mark: i64, write: Option<Ask>) {
        let own = &mut self.clients[usize::from(number)];
        let (mut reply, mut swapped) = (reply, false);
        if let Some(ask) = write
            .as_ref()
            .filter(|ask| own.swaps && !Servers::is_routine(ask))
            && let Some((before, theirs)) = own.orphaned.pop_front()
        {
            own.swaps = false;
            if let Some(other) = Servers::instead(ask, &reply, &before, theirs) {
                (reply, swapped) = (other, true);
            }
        }
        own.answers.push_back(Answered {
            id,
            reply,
            mark,
            write,
            swapped,
        });
    }

    pub(super) fn answer(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        if own.paused || !own.connected {
            return Ok(());
        }
        let Some(answered) = own.answers.pop_front() else {
            return Ok(());
        };
        own.open.retain(|open| *open != answered.id);
        let local = own.local(self.now);
        self.servers.delivered(number, answered.mark);
        let outcome = Outcome::Reply(answered.reply);
        let verdict = own.application.hub.handle_outcome(local, answered.id, outcome);
        if !answered.swapped {
            accepted(verdict)?;
        }
        self.drain(number)
    }

    pub(super) fn notice(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        if own.paused || !own.connected {
            return Ok(());
        }
        let Some(notice) = own.notices.pop_front() else {
            return Ok(());
        };
        self.notify(number, notice)
    }

    pub(super) fn notify(&mut self, number: u8, notice: Notice) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        let local = own.local(self.now);
        accepted(own.application.hub.handle_notice(local, notice))?;
        self.drain(number)
    }

    /// Delivers all pending messages first.
    pub(super) fn carry(&mut self) -> Result<(), Broken> {
        for number in (0..).take(self.clients.len()) {
            self.execute(number)?;
            self.answer(number)?;
        }
        Ok(())
    }

    /// An answer does not arrive in time, and the client ignores it later.
    pub(super) fn give_up(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        if own.paused || !own.connected {
            return Ok(());
        }
        let id = match own.answers.pop_front() {
            Some(answered) => Some(answered.id),
            None => {
                let sent = own.requests.iter_mut().find(|sent| sent.awaited);
                sent.map(|sent| {
                    sent.awaited = false;
                    sent.id
                })
            }
        };
        let Some(id) = id else { return Ok(()) };
        self.log(|| format!("{number} waits no more for {id:?}"));
        self.fail(number, id, Failure::Unknown)?;
        self.drain(number)
    }

    pub(super) fn swap(&mut self, number: u8) {
        let own = &mut self.clients[usize::from(number)];
        own.swaps |= !own.orphaned.is_empty();
    }
}

/// Whether a request is a write that depends on a read.
fn is_guarded(ask: &Ask) -> bool {
    let Ask::Request(Request::Multi { writes }) = ask else {
        return false;
    };
    writes.iter().any(|write| matches!(write, Write::Set { .. }))
}
