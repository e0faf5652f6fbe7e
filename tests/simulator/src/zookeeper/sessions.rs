//! Sessions: they outlive connections.

use core::time::Duration;

use fencepost_core::{
    Instant, SessionId,
    zookeeper::{Notice, SessionState},
};
use fencepost_models::zookeeper::CannotAttach;

use crate::{backend::Owner, step::Number};

use super::Servers;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Session {
    pub(super) id: Option<SessionId>,
    pub(super) connected: bool,
    /// The timeout that the connection has negotiated.
    pub(super) timeout: Duration,
    /// When its server last received something from its client.
    pub(super) last_contact: Option<Instant>,
}

impl Servers {
    /// A client connects to a server: its session continues, or a new one begins.
    pub(super) fn attach(&mut self, now: Instant, client: Number, server: u8) -> Option<Vec<Notice>> {
        let member = self.member(server);
        let mut notices = Vec::new();
        let known = self.session(client).id;
        let id = match known.map(|session| self.server.reattach(now, session, member)) {
            Some(Ok(())) => known?,
            Some(Err(CannotAttach::SessionOver)) | None => {
                let fresh = self.server.open_session_at(now, member, self.timeout)?;
                notices.extend(known.map(|session| self.state(SessionState::Expired, session)));
                // Some drivers make their sessions themselves, and report when they begin.
                if client.is_multiple_of(2) {
                    notices.push(self.state(SessionState::Connecting, SessionId(0)));
                }
                self.owners.retain(|(_, owner)| *owner != Owner::Client(client));
                self.owners.push((fresh, Owner::Client(client)));
                fresh
            }
            Some(Err(_)) => return None,
        };
        self.server.negotiate(id, self.timeout);
        *self.session(client) = Session {
            id: Some(id),
            connected: true,
            timeout: self.timeout,
            last_contact: Some(now),
        };
        notices.push(self.state(SessionState::Connected, id));
        Some(notices)
    }

    /// A client's connection has ended.
    pub(super) fn suspend(&mut self, client: Number) -> Vec<Notice> {
        let session = self.session(client);
        session.connected = false;
        let id = session.id;
        if let Some(id) = id {
            self.server.detach(id);
        }
        id.map(|id| self.state(SessionState::Suspended, id))
            .into_iter()
            .collect()
    }

    const fn state(&self, state: SessionState, session: SessionId) -> Notice {
        Notice::Session {
            state,
            session,
            timeout: self.timeout,
        }
    }
}
