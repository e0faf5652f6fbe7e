//! The states and transitions of the session lease.

use State::{Absent, Away, Probing, Resting};

use super::SessionLease;
use crate::states::{self, Observer};

/// The state of the session lease after an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no session. The session lease waits for one.
    Absent,
    /// The session has no connection. The session lease waits for one, or for the session's end.
    Away,
    /// A probe is in flight. The session lease waits for the reply, or for the moment at which the reply is overdue.
    Probing,
    /// The server has answered the last probe, or the probe has failed. The session lease waits until the next probe is
    /// due.
    Resting,
}

impl states::State for State {
    const MACHINE: &'static str = "session-lease";
    #[rustfmt::skip]
    const TRANSITIONS: &'static [(Self, Self, &'static str)] = &[
        (Absent,  Probing, "a session is connected"),
        (Away,    Probing, "the session is connected again, or another one is"),
        (Away,    Absent,  "the session expires, or the connection is closed for good"),
        (Probing, Resting, "an answer behind which no probe has to follow at once, or none"),
        (Probing, Away,    "the connection is lost"),
        (Probing, Absent,  "the connection is closed for good, or the login is refused"),
        (Resting, Probing, "the next probe is due, an application extends a grant, a first machine contends"),
        (Resting, Away,    "the connection is lost"),
        (Resting, Absent,  "the connection is closed for good, or the login is refused"),
    ];
}

impl states::Phase for State {
    type State = Self;

    fn state(&self) -> Self {
        *self
    }
}

impl SessionLease {
    pub(super) const fn state(&self) -> State {
        match (self.session, self.connected, self.under_way) {
            (None, ..) => Absent,
            (Some(_), false, _) => Away,
            (Some(_), true, Some(_)) => Probing,
            (Some(_), true, None) => Resting,
        }
    }

    pub(in crate::zookeeper) fn observe(&self, observer: &mut impl Observer) {
        self.trail.show(&self.state(), observer);
    }
}
