//! A client of the runs: a hub, and the messages in flight between the hub and its server.

use core::time::Duration;
use std::collections::VecDeque;

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Event, Failure, Instant, Intent, Key, Outcome, Output, SessionId,
    Settings, Wait,
    claim::Content,
    hub::Hub,
    zookeeper::{Answer, Notice, Reply, Request, SessionState, ZooKeeper, code},
};
use fencepost_models::zookeeper::Server;

use super::{Chance, Seen};

/// Far longer than a run: only the run itself ends sessions.
const SESSION_TIMEOUT: Duration = Duration::from_secs(3600);

/// A message from the server.
enum Input {
    Reply(CommandId, Reply),
    Notice(Notice),
}

pub(crate) struct Client {
    hub: Hub<ZooKeeper>,
    pub(crate) session: SessionId,
    pub(crate) sweeps: bool,
    /// Whether the client acts for an operator.
    operates: bool,
    key: Option<Key>,
    holds: bool,
    /// The requests that the server has not executed yet, and whether they are an operator's.
    requests: VecDeque<(CommandId, Request, bool)>,
    /// The messages that have not reached the client yet.
    inputs: VecDeque<Input>,
    events: Vec<Event>,
    wait: Wait,
}

impl Client {
    pub(crate) fn connect(server: &mut Server, now: Instant, at: usize, sweeps: bool, number: u64) -> Self {
        let session = server.open_session_at(now, at, SESSION_TIMEOUT).unwrap();
        let mut client = Self {
            hub: Hub::new(number),
            session,
            sweeps,
            operates: false,
            key: None,
            holds: false,
            requests: VecDeque::new(),
            inputs: VecDeque::new(),
            events: Vec::new(),
            wait: Wait::default(),
        };
        client.session_is(now, SessionState::Connecting);
        client.session_is(now, SessionState::Connected);
        client
    }

    fn session_is(&mut self, now: Instant, state: SessionState) {
        let (session, timeout) = (self.session, SESSION_TIMEOUT);
        self.hub
            .handle_notice(
                now,
                Notice::Session {
                    state,
                    session,
                    timeout,
                },
            )
            .unwrap();
        self.poll();
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.key.is_none()
    }

    /// Opens a machine with these settings.
    pub(crate) fn begin(&mut self, now: Instant, settings: &Settings, operates: bool, number: u64) {
        let Settings::ZooKeeper(settings) = settings else {
            panic!("settings of another server");
        };
        let mut contender = [0; 16];
        contender[..8].copy_from_slice(&number.to_be_bytes());
        let contender = ContenderId(contender);
        let key = self.hub.open(now, settings.clone(), contender, number).unwrap();
        self.key = Some(key);
        self.operates = operates;
        let acquire = Intent::Acquire(AcquireTimeout::Try);
        self.hub.intent(now, key, acquire).unwrap();
        self.poll();
    }

    /// An action that a program may take at any time: handle a timeout, end a claim, or cancel a request.
    pub(crate) fn go_on(&mut self, now: Instant, chance: &mut Chance) {
        if self.wait.until.is_some_and(|until| until <= now) {
            self.hub.handle_timeout(now);
        } else if let Some(key) = self.key {
            let intent = match chance.below(16) {
                0..5 if self.holds => Intent::Complete(Content::new("", b"y".to_vec()).unwrap()),
                5..9 if self.holds => Intent::Release,
                9..10 if self.holds => Intent::Leave,
                15 if !self.holds => Intent::Cancel,
                _ => return,
            };
            self.intend(now, key, intent);
        }
        self.poll();
    }

    /// Ends the claim that the client holds.
    pub(crate) fn end_claim(&mut self, now: Instant, intent: Intent) {
        assert!(self.holds, "nothing is claimed");
        if let Some(key) = self.key {
            self.intend(now, key, intent);
        }
    }

    fn intend(&mut self, now: Instant, key: Key, intent: Intent) {
        // A machine that has already ended rejects the intent.
        let _known = self.hub.intent(now, key, intent);
        self.poll();
    }

    /// Whether the client's next request changes nodes.
    pub(crate) fn writes_next(&self) -> bool {
        let next = self.requests.front();
        next.is_some_and(|(_, request, _)| {
            !matches!(
                request,
                Request::Get { .. } | Request::Children { .. } | Request::Sync { .. }
            )
        })
    }

    /// The server executes the next request. Returns it, and whether it is an operator's.
    pub(crate) fn execute(&mut self, server: &mut Server, seen: &mut Seen) -> Option<(Request, bool)> {
        let (id, request, operates) = self.requests.pop_front()?;
        let answered = server.ask(self.session, id, request.clone().into());
        self.inputs
            .extend(server.take_notices(self.session).into_iter().map(Input::Notice));
        if let Some(answered) = answered {
            let reply = answered.reply;
            let conflict = [code::BAD_VERSION, code::NO_NODE, code::NOT_EMPTY];
            if self.sweeps
                && matches!(request, Request::Multi { .. })
                && matches!(reply.answer, Answer::Error(error) if conflict.contains(&error))
            {
                seen.conflicts += 1;
            }
            self.inputs.push_back(Input::Reply(id, reply));
        }
        Some((request, operates))
    }

    /// Passes the messages from the server to the client.
    pub(crate) fn learn(&mut self, now: Instant, seen: &mut Seen) {
        while let Some(input) = self.inputs.pop_front() {
            match input {
                Input::Reply(id, reply) => self.hub.handle_outcome(now, id, Outcome::Reply(reply)).unwrap(),
                Input::Notice(notice) => self.hub.handle_notice(now, notice).unwrap(),
            }
            self.poll();
        }
        for event in core::mem::take(&mut self.events) {
            self.on_event(now, &event, seen);
        }
        self.poll();
    }

    fn on_event(&mut self, now: Instant, event: &Event, seen: &mut Seen) {
        let counter = match event {
            Event::Acquired { .. } => {
                self.holds = true;
                seen.claimed += 1;
                return;
            }
            Event::Swept { deleted } => {
                seen.deleted += deleted;
                &mut seen.swept
            }
            Event::Completed { .. } => &mut seen.completed,
            Event::Replayed { .. } => &mut seen.replayed,
            Event::Released | Event::Looked { .. } | Event::Lost { .. } | Event::Refused { .. } => {
                &mut seen.others
            }
            _ => return,
        };
        *counter += 1;
        self.holds = false;
        if let Some(key) = self.key.take() {
            self.hub.close(now, key);
        }
    }

    /// The connection is lost, with all messages in flight, and the client connects again in the same session.
    pub(crate) fn reconnect(&mut self, server: &mut Server, now: Instant, chance: &mut Chance) {
        self.session_is(now, SessionState::Suspended);
        let unsent = core::mem::take(&mut self.requests);
        let replies = core::mem::take(&mut self.inputs)
            .into_iter()
            .filter_map(|input| match input {
                Input::Reply(id, _) => Some(id),
                Input::Notice(_) => None,
            });
        let lost: Vec<_> = replies.chain(unsent.into_iter().map(|(id, ..)| id)).collect();
        for id in lost {
            let unknown = Outcome::Failed(Failure::Unknown);
            self.hub.handle_outcome(now, id, unknown).unwrap();
        }
        server.detach(self.session);
        server.forget_watches(self.session);
        let at = chance.index(3);
        if server.reattach(now, self.session, at).is_err() {
            server.catch_up(at, usize::MAX);
            server.reattach(now, self.session, at).unwrap();
        }
        self.session_is(now, SessionState::Connected);
    }

    /// The client's process ends.
    pub(crate) fn end(&self, server: &mut Server) {
        server.end_session(self.session);
    }

    fn poll(&mut self) {
        loop {
            match self.hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    self.requests
                        .push_back((command.id, command.request, self.operates));
                }
                (_, Output::Event(event)) => self.events.push(event),
                (_, Output::Wait(wait)) => {
                    self.wait = wait;
                    return;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
