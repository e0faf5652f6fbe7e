//! The state of one contender, as its tasks and the engine share it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Cause, CommandId, Event, Found, Grant, Instant, Loss, Misuse, Refusal};
use tokio::sync::Notify;

use super::command_errors::CommandErrors;
use crate::{DriverFailed, Error, Lost, Native, Refused, Shown};

/// One contender, from its acquire to its end.
#[derive(Debug)]
pub(crate) struct SharedState {
    /// The lock's name.
    pub(crate) lock: Shown,
    /// Whether it acquires for an owner: then its grant may have several holds.
    pub(super) has_owner: bool,
    state: Mutex<ContenderState>,
    /// Notified after every change of `state`, never under a lock.
    changed: Notify,
}

/// What the events so far say of a contender.
#[derive(Debug, Default)]
pub(crate) struct ContenderState {
    /// The grant, with its present validity.
    pub(crate) grant: Option<Grant>,
    /// The connection is gone at present.
    pub(crate) suspended: bool,
    /// A task has taken the grant.
    pub(crate) taken: bool,
    /// The application has asked for the release.
    pub(crate) releasing: bool,
    /// Another client asks for the lock.
    pub(crate) revoke_requested: bool,
    /// The node of a foreign contender, which cannot see ours.
    pub(crate) foreign_node: Option<String>,
    /// How often the grant was extended or confirmed.
    pub(crate) extensions: u64,
    /// What a downgrade has come to.
    pub(crate) downgrade: Option<Result<(), Refused>>,
    /// A release has taken too long.
    pub(crate) unconfirmed: bool,
    pub(crate) end: Option<End>,
    /// A machine has few commands in flight.
    errors: CommandErrors<8>,
}

/// How a contender has ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Released,
    /// It was no contender, but a look at some.
    Found(Vec<Found>),
    Refused(Refused),
    Lost(Lost),
    /// The client library could not be used.
    Failed(DriverFailed),
    /// The client was closed during the acquire or the release.
    Closed,
    /// No task has taken the grant in time: it was given back, and the acquire contends again.
    GivenBack,
}

impl SharedState {
    pub(crate) fn new(lock: Shown, has_owner: bool) -> Self {
        Self {
            lock,
            has_owner,
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ContenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes at the next change after this call.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }

    /// Wakes those who wait. To be called outside of all locks, as it runs their wakers.
    pub(crate) fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `look` has seen what it looks for.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&ContenderState) -> Option<T>) -> T {
        loop {
            let mut changed = core::pin::pin!(self.changed());
            changed.as_mut().enable();
            if let Some(seen) = look(&self.state()) {
                return seen;
            }
            changed.await;
        }
    }

    /// Remembers a client library's error for the loss or refusal that it may lead to.
    pub(crate) fn keep_error(&self, id: CommandId, native: Native) {
        self.state().errors.push(id, native);
    }

    /// Takes an event in. `last_error` is the connection's own last error, `find` looks for that of a command elsewhere. Returns whether the
    /// contender has ended.
    pub(super) fn on_event(
        &self,
        event: Event,
        last_error: Option<&Native>,
        find: impl FnOnce(&Cause) -> Option<Native>,
    ) -> bool {
        let mut state = self.state();
        match event {
            Event::Acquired { grant } => state.grant = Some(grant),
            Event::Extended { valid_until } => state.extend(valid_until),
            Event::Suspended => state.suspended = true,
            Event::Resumed { valid_until } => {
                state.suspended = false;
                state.extend(valid_until);
            }
            Event::Lost { reason, cause } => {
                let native = state
                    .errors
                    .of(&cause)
                    .or_else(|| find(&cause))
                    .or_else(|| match reason {
                        Loss::ConnectionClosed | Loss::LeaseEnded | Loss::SessionExpired => {
                            last_error.cloned()
                        }
                        _ => None,
                    });
                state.end = Some(End::Lost(Lost::new(reason, cause.detail, native).of(&self.lock)));
            }
            Event::Refused { reason, cause } => {
                let native = state
                    .errors
                    .of(&cause)
                    .or_else(|| find(&cause))
                    .or_else(|| match reason {
                        Refusal::Unreachable | Refusal::AuthFailed | Refusal::ConnectionClosed => {
                            last_error.cloned()
                        }
                        _ => None,
                    });
                let refused = Refused::new(reason, cause.detail, native).of(&self.lock);
                if state.grant.is_some() && !state.releasing {
                    // Not the acquire, and not the release: the grant stays as it was.
                    state.downgrade = Some(Err(refused));
                } else {
                    state.end = Some(End::Refused(refused));
                }
            }
            Event::Downgraded => state.downgrade = Some(Ok(())),
            Event::Released => state.end = Some(End::Released),
            Event::Found { contenders } => state.end = Some(End::Found(contenders)),
            Event::RevokeRequested => state.revoke_requested = true,
            Event::MixedLayouts { node } => state.foreign_node = Some(node),
            // The client has no use for a place in the queue. A later core may have more events.
            _ => {}
        }
        state.end.is_some()
    }

    /// Ends the contender, unless it has ended.
    pub(crate) fn end(&self, end: End) {
        self.state().end.get_or_insert(end);
    }

    /// The client is closed: a grant that is held is lost by that, and everything else is over.
    pub(super) fn close(&self) {
        let mut state = self.state();
        let held = state.grant.is_some() && state.taken && !state.releasing;
        state.end.get_or_insert_with(|| {
            if !held {
                return End::Closed;
            }
            let detail = Some("the client was closed while it held the lock".into());
            End::Lost(Lost::new(Loss::ConnectionClosed, detail, None).of(&self.lock))
        });
    }

    /// Ends a contender whose grant no task has taken.
    pub(super) fn give_back(&self) -> bool {
        let mut state = self.state();
        let unclaimed = state.end.is_none() && !state.taken;
        if unclaimed {
            state.end = Some(End::GivenBack);
        }
        unclaimed
    }
}

impl ContenderState {
    fn extend(&mut self, valid_until: Option<Instant>) {
        if let Some(grant) = &mut self.grant {
            grant.valid_until = valid_until;
        }
        self.extensions = self.extensions.wrapping_add(1);
    }

    /// Whether the grant is valid, by the caller's clock.
    pub(crate) fn is_valid(&self, now: Instant) -> bool {
        let over = self.end.is_some() || self.releasing || self.suspended;
        !over && self.grant.is_some_and(|grant| grant.is_valid(now))
    }
}

impl End {
    /// The end as the error of a call that needed the contender.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Released | Self::Found(_) => Error::Misuse(Misuse::NotHeld),
            Self::Refused(refused) => Error::Refused(refused.clone()),
            Self::Lost(lost) => Error::Lost(lost.clone()),
            Self::Failed(failed) => Error::DriverFailed(failed.clone()),
            Self::Closed | Self::GivenBack => Error::Misuse(Misuse::Closed),
        }
    }

    /// The end as a loss, for those who wait for one.
    pub(crate) fn lost(&self) -> Lost {
        match self {
            Self::Lost(lost) => lost.clone(),
            Self::Released
            | Self::Found(_)
            | Self::Refused(_)
            | Self::Failed(_)
            | Self::Closed
            | Self::GivenBack => {
                Lost::new(Loss::ConnectionClosed, Some("the client was closed".into()), None)
            }
        }
    }
}
