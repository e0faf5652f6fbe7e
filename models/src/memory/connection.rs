//! The connection of a hub. It continues when the hub gets a new session.

use alloc::vec::Vec;
use core::time::Duration;

use fencepost_core::{
    Instant, SessionId,
    zookeeper::{Notice, SessionState},
};

use crate::zookeeper::Server;

/// A hub, as a [`Server`](super::Server) knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connected {
    /// The hub's id. It stays the same when the hub gets a new session.
    pub hub: u64,
    /// The hub's session; in the state [`State::Expired`], the session that has ended.
    pub session: SessionId,
    /// The state of the session.
    pub state: State,
    /// Whether the hub is paused.
    pub paused: bool,
}

/// The state of a hub's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The hub has a connection to the server.
    Connected,
    /// The hub has no connection. The server keeps the session.
    Suspended,
    /// The server has ended the session. The hub does not know this yet, because it is suspended or paused.
    Expired,
}

impl State {
    /// The name, the same in every language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Suspended => "suspended",
            Self::Expired => "expired",
        }
    }
}

/// The connection of one hub. All methods follow one rule: a hub connects as soon as its network is up and it is not
/// paused, and gets a new session if the server has ended the old one.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The hub's id: the number of its first session.
    pub(super) hub: u64,
    pub(super) session: SessionId,
    timeout: Duration,
    /// Whether the hub can reach the server.
    network: bool,
    /// Whether the session has a connection to the server.
    pub(super) attached: bool,
    pub(super) paused: bool,
    /// The changes of the session that the hub has not taken yet.
    unreported: Vec<(SessionState, SessionId)>,
    /// Whether the hub has to be polled, even if there is no change to take.
    pub(super) awake: bool,
}

impl Connection {
    /// Connects with a new session.
    pub(super) fn new(model: &mut Server, timeout: Duration) -> Self {
        let mut new = Self {
            hub: 0,
            session: SessionId(0),
            timeout,
            network: true,
            attached: true,
            paused: false,
            unreported: Vec::new(),
            awake: false,
        };
        new.begin(model);
        new.hub = new.session.0.unsigned_abs();
        new
    }

    pub(super) fn state(&self, model: &Server) -> State {
        if !model.is_alive(self.session) {
            State::Expired
        } else if self.attached {
            State::Connected
        } else {
            State::Suspended
        }
    }

    pub(super) fn expire(&mut self, model: &mut Server) {
        model.end_session(self.session);
        self.attached = false;
        self.connect(model);
    }

    pub(super) fn suspend(&mut self, model: &mut Server) {
        self.network = false;
        if self.attached {
            self.attached = false;
            model.detach(self.session);
            self.report(SessionState::Suspended);
        }
    }

    pub(super) fn reconnect(&mut self, model: &mut Server) {
        self.network = true;
        self.connect(model);
    }

    pub(super) fn pause(&mut self) {
        self.paused = true;
    }

    pub(super) fn resume(&mut self, model: &mut Server) {
        if self.paused {
            self.paused = false;
            self.awake = true;
            self.connect(model);
        }
    }

    /// Takes the changes of the session that the hub has not taken yet.
    pub(super) fn take_unreported(&mut self) -> impl Iterator<Item = Notice> {
        self.awake = false;
        let timeout = self.timeout;
        let unreported = core::mem::take(&mut self.unreported).into_iter();
        unreported.map(move |(state, session)| Notice::Session {
            state,
            session,
            timeout,
        })
    }

    fn connect(&mut self, model: &mut Server) {
        if self.attached || self.paused || !self.network {
            return;
        }
        self.attached = true;
        let server = model.leader();
        if model.reattach(Instant::ZERO, self.session, server).is_ok() {
            self.report(SessionState::Connected);
        } else {
            self.report(SessionState::Expired);
            self.begin(model);
        }
    }

    /// Begins a new session.
    fn begin(&mut self, model: &mut Server) {
        self.session = model.open_session();
        self.report(SessionState::Connecting);
        self.report(SessionState::Connected);
    }

    fn report(&mut self, state: SessionState) {
        self.unreported.push((state, self.session));
        self.awake = true;
    }
}
