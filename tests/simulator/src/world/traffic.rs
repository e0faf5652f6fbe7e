//! The pending messages, and the waiting clients. A schedule or the explorer chooses the next step by this.

use crate::{
    backend::{Backend, Owner, Subject},
    step::Number,
};

use super::World;

/// The pending messages of a client: the number of possible steps of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Whether it is connected.
    pub connected: bool,
    /// Requests that could be executed next.
    pub requests: u8,
    /// Answers that could arrive next.
    pub answers: u8,
    /// Whether there are notices.
    pub notices: bool,
}

impl<B: Backend, S: Subject<B>> World<B, S> {
    /// Whether any client waits for a time.
    #[must_use]
    pub fn awaits_timer(&self) -> bool {
        self.clients.iter().any(|client| client.wait.is_some())
    }

    /// Whether a client waits in the server's queue, or holds.
    #[must_use]
    pub fn has_a_place(&self, client: Number) -> bool {
        let belongings = self.backend.belongings(self.now);
        let own = Owner::Client(client);
        belongings.iter().any(|(_, owner, _)| *owner == own)
    }

    /// Whether a client inspects.
    #[must_use]
    pub fn inspects(&self, client: Number) -> bool {
        self.clients[usize::from(client)].subject.inspects().is_some()
    }

    /// Whether a client has its answer, and nothing more to do.
    #[must_use]
    pub fn is_satisfied(&self, client: Number) -> bool {
        self.clients[usize::from(client)].subject.is_satisfied()
    }

    /// The pending messages of a client.
    #[must_use]
    pub fn traffic(&self, client: Number) -> Traffic {
        let client = &self.clients[usize::from(client)];
        let count = |items: usize| {
            let items = if B::ORDERED { items.min(1) } else { items };
            u8::try_from(items).unwrap_or(u8::MAX)
        };
        Traffic {
            connected: client.connected,
            requests: count(client.requests.len()),
            answers: count(client.answers.len()),
            notices: !client.notices.is_empty(),
        }
    }

    /// Resets the counters. For the explorer, worlds that differ only in counters are the same.
    pub fn forget_counts(&mut self) {
        self.checker.forget_counts();
        for client in &mut self.clients {
            // A write to a shared client copies it.
            if client.sent > 0 || !client.orphaned.is_empty() {
                client.sent = 0;
                client.orphaned.clear();
            }
        }
    }
}
