//! Requests, answers, notices and connections.

use fencepost_core::{CommandId, Event, Failure, Outcome, Output, Refusal};
use fencepost_simulator::{
    backend::{Answered, Backend, NoticeOf, ReplyOf},
    step::Number,
};

use super::{
    client::{Answer, Client, Sent, SettingsOf},
    world::{CLIENTS, World, Wrong},
};
use crate::{application::Stage, promises::Broken, seen::Seen};

impl<B: Backend> World<B> {
    pub(super) fn execute(&mut self, number: Number, nth: u8, wrong: &Wrong<B>) -> Result<(), Broken> {
        let Some(sent) = self.client(number).requests.remove(nth.into()) else {
            return Ok(());
        };
        let routine = B::is_routine(&sent.ask);
        let ask = wrong(sent.ask);
        let answered = self
            .servers
            .execute(self.now, number, sent.connection, sent.id, ask);
        if let Some(Answered { reply, mark }) = answered
            && sent.awaited
        {
            self.client(number).answers.push_back(Answer {
                id: sent.id,
                reply,
                mark,
                routine,
            });
        }
        self.spread()
    }

    pub(super) fn execute_first(
        &mut self,
        number: Number,
        requests: u8,
        wrong: &Wrong<B>,
    ) -> Result<(), Broken> {
        (0..requests).try_for_each(|_| self.execute(number, 0, wrong))
    }

    pub(super) fn take_answer(&mut self, number: Number, nth: u8) -> Option<Answer<B>> {
        let own = self.client(number);
        let answer = own.answers.remove(nth.into())?;
        own.open.retain(|open| *open != answer.id);
        Some(answer)
    }

    pub(super) fn answer(&mut self, number: Number, nth: u8) -> Result<(), Broken> {
        let Some(Answer { id, reply, mark, .. }) = self.take_answer(number, nth) else {
            return Ok(());
        };
        self.servers.delivered(number, mark);
        self.settle(number, id, Outcome::Reply(reply))
    }

    fn settle(&mut self, number: Number, id: CommandId, outcome: Outcome<ReplyOf<B>>) -> Result<(), Broken> {
        let now = self.now;
        let hub = &mut self.client(number).application.hub;
        hub.handle_outcome(now, id, outcome).map_err(|_| Broken::Misuse)?;
        self.drain(number)
    }

    pub(super) fn fail(&mut self, number: Number, id: CommandId, failure: Failure) -> Result<(), Broken> {
        self.client(number).open.retain(|open| *open != id);
        self.settle(number, id, Outcome::Failed(failure))
    }

    pub(super) fn notify(&mut self, number: Number, notice: NoticeOf<B>) -> Result<(), Broken> {
        let now = self.now;
        let hub = &mut self.client(number).application.hub;
        hub.handle_notice(now, notice).map_err(|_| Broken::Misuse)?;
        self.drain(number)
    }

    /// Takes all outputs of a client's hub.
    pub(super) fn drain(&mut self, number: Number) -> Result<(), Broken> {
        loop {
            let (now, connection) = (self.now, self.servers.connection(number));
            let own = &mut self.clients[usize::from(number)];
            match own.application.hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    let (id, ask) = (command.id, B::Ask::from(command.request));
                    if own.connected {
                        own.open.push(id);
                        own.requests.push_back(Sent {
                            id,
                            connection,
                            ask,
                            awaited: true,
                        });
                    } else {
                        self.fail(number, id, Failure::NotSent)?;
                    }
                }
                (_, Output::Event(event)) => {
                    own.done |=
                        matches!(own.application.stage, Stage::Claims | Stage::Ends(_)) && answers(&event);
                    let (account, seen) = (&mut self.account, &mut Seen::default());
                    own.application
                        .on_event(now, |local| local, &event, account, seen)?;
                }
                (_, Output::Wait(wait)) => {
                    own.wait = wait.until;
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    pub(super) fn connect(&mut self, number: Number) -> Result<(), Broken> {
        let Some(notices) = self.servers.connect(self.now, number, 0) else {
            return Ok(());
        };
        // The last notice reports the connection. Before it, the driver reports the outcomes of all earlier requests.
        let last = notices.len().saturating_sub(1);
        for (at, notice) in notices.into_iter().enumerate() {
            if at == last {
                self.settle_open(number)?;
                self.client(number).connected = true;
            }
            self.notify(number, notice)?;
        }
        self.client(number).connected = true;
        self.drain(number)
    }

    /// The connection of a client breaks. Where there is no order, the server may execute its requests later.
    pub(super) fn disconnect(&mut self, number: Number) -> Result<(), Broken> {
        let own = self.client(number);
        if !core::mem::replace(&mut own.connected, false) {
            return Ok(());
        }
        own.answers.clear();
        own.requests.iter_mut().for_each(|sent| sent.awaited = false);
        if B::ORDERED {
            own.requests.clear();
        }
        for notice in self.servers.disconnect(self.now, number) {
            self.notify(number, notice)?;
        }
        self.settle_open(number)
    }

    /// The driver reports that the requests of a broken connection get no answer.
    fn settle_open(&mut self, number: Number) -> Result<(), Broken> {
        for id in core::mem::take(&mut self.client(number).open) {
            self.fail(number, id, Failure::Unknown)?;
        }
        Ok(())
    }

    pub(super) fn crash(&mut self, number: Number, settings: &SettingsOf<B>) -> Result<(), Broken> {
        let now = self.now;
        let own = &mut self.clients[usize::from(number)];
        own.application.crash(&mut self.account);
        self.account.in_doubt |= own.application.hub.pending() > 0;
        let mut fresh = Client::new(now, number, own.crashes + 1, settings);
        if !B::ORDERED {
            fresh.requests = core::mem::take(&mut own.requests);
            fresh.requests.iter_mut().for_each(|sent| sent.awaited = false);
        }
        *own = fresh;
        let _undelivered = self.servers.disconnect(now, number);
        self.servers.forget(number);
        self.connect(number)?;
        self.spread()
    }

    /// Sends the notices of the servers to the clients. The servers may have closed connections.
    pub(super) fn spread(&mut self) -> Result<(), Broken> {
        for number in 0..CLIENTS {
            let notices = self.servers.take_notices(number);
            self.client(number).notices.extend(notices);
        }
        for number in self.servers.broken() {
            self.disconnect(number)?;
        }
        Ok(())
    }
}

/// Whether an event is the last answer of an operation.
fn answers(event: &Event) -> bool {
    match event {
        Event::Completed { .. } | Event::Replayed { .. } => true,
        Event::Refused { reason, .. } => *reason == Refusal::Indeterminate,
        _ => false,
    }
}
