//! What one contender has been told so far, for whoever waits for it.

use alloc::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{Cause, CommandId, Event, Found, Grant, Instant, Loss, Misuse, Refusal};
use tokio::sync::Notify;

use crate::{DriverFailed, Error, Lost, Native, Refused, Shown};

/// One contender, from its acquire to its end.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The lock's name.
    pub(crate) lock: Shown,
    told: Mutex<Told>,
    /// Rung after every change of `told`, never under a lock.
    changed: Notify,
}

/// What a contender has been told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The grant, with its present validity.
    pub(crate) grant: Option<Grant>,
    /// The connection is gone at present.
    pub(crate) suspended: bool,
    /// A task has taken the grant.
    pub(crate) taken: bool,
    /// The application has asked for the release.
    pub(crate) releasing: bool,
    /// Somebody would like to have the lock.
    pub(crate) revoke_requested: bool,
    /// The node of a contender that cannot see ours.
    pub(crate) stranger: Option<String>,
    /// How often the grant was extended or confirmed.
    pub(crate) extensions: u64,
    /// What a downgrade has come to.
    pub(crate) downgrade: Option<Result<(), Refused>>,
    /// A release has taken too long.
    pub(crate) unconfirmed: bool,
    pub(crate) end: Option<End>,
    /// The client library's latest errors, by the command they came from.
    natives: Vec<(CommandId, Native)>,
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
    /// The client was closed, which has released whatever there was.
    Closed,
    /// No task has taken the grant in time: it was given back, and the acquire contends again.
    GivenBack,
}

/// The errors that a cause may still name: a machine has few commands under way.
const NATIVES: usize = 8;

impl Seat {
    pub(crate) fn new(lock: Shown) -> Self {
        Self {
            lock,
            told: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes at the next change after this call.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }

    /// Wakes those who wait. To be called outside of all locks, as it runs their wakers.
    pub(crate) fn ring(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `look` has seen what it looks for.
    pub(crate) async fn until<T>(&self, mut look: impl FnMut(&Told) -> Option<T>) -> T {
        loop {
            let mut changed = core::pin::pin!(self.changed());
            changed.as_mut().enable();
            if let Some(seen) = look(&self.told()) {
                return seen;
            }
            changed.await;
        }
    }

    /// Keeps a client library's error for the loss or refusal that it may lead to.
    pub(crate) fn keep(&self, id: CommandId, native: Native) {
        let mut told = self.told();
        if told.natives.len() == NATIVES {
            told.natives.remove(0);
        }
        told.natives.push((id, native));
    }

    /// Takes an event in. `trouble` is the connection's own last error. Answers whether the contender has ended.
    pub(crate) fn tell(&self, event: Event, trouble: Option<&Native>) -> bool {
        let mut told = self.told();
        match event {
            Event::Acquired { grant } => told.grant = Some(grant),
            Event::Extended { valid_until } => told.extend(valid_until),
            Event::Suspended => told.suspended = true,
            Event::Resumed { valid_until } => {
                told.suspended = false;
                told.extend(valid_until);
            }
            Event::Lost { reason, cause } => {
                let native = told.native(&cause).or_else(|| match reason {
                    Loss::ConnectionClosed | Loss::LeaseEnded | Loss::SessionExpired => trouble.cloned(),
                    _ => None,
                });
                told.end = Some(End::Lost(Lost::new(reason, cause.detail, native).of(&self.lock)));
            }
            Event::Refused { reason, cause } => {
                let native = told.native(&cause).or_else(|| match reason {
                    Refusal::Unreachable | Refusal::AuthFailed | Refusal::ConnectionClosed => {
                        trouble.cloned()
                    }
                    _ => None,
                });
                let refused = Refused::new(reason, cause.detail, native).of(&self.lock);
                if told.grant.is_some() && !told.releasing {
                    // Not the acquire, and not the release: the grant stays as it was.
                    told.downgrade = Some(Err(refused));
                } else {
                    told.end = Some(End::Refused(refused));
                }
            }
            Event::Downgraded => told.downgrade = Some(Ok(())),
            Event::Released => told.end = Some(End::Released),
            Event::Found { contenders } => told.end = Some(End::Found(contenders)),
            Event::RevokeRequested => told.revoke_requested = true,
            Event::MixedLayouts { node } => told.stranger = Some(node),
            // A place in the queue concerns nobody here, and a later core may say more.
            _ => {}
        }
        told.end.is_some()
    }

    /// Ends the contender, unless it has ended.
    pub(crate) fn end(&self, end: End) {
        self.told().end.get_or_insert(end);
    }

    /// Ends a contender whose grant no task has taken.
    pub(super) fn give_back(&self) -> bool {
        let mut told = self.told();
        let untaken = told.end.is_none() && !told.taken;
        if untaken {
            told.end = Some(End::GivenBack);
        }
        untaken
    }
}

impl Told {
    fn extend(&mut self, valid_until: Option<Instant>) {
        if let Some(grant) = &mut self.grant {
            grant.valid_until = valid_until;
        }
        self.extensions = self.extensions.wrapping_add(1);
    }

    fn native(&self, cause: &Cause) -> Option<Native> {
        let wanted = cause.command?;
        let kept = self.natives.iter().rev().find(|(id, _)| *id == wanted);
        kept.map(|(_, native)| Arc::clone(native))
    }

    /// Whether the lock is held, though perhaps not for certain at present.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        let over = self.end.is_some() || self.releasing;
        !over && self.grant.is_some_and(|grant| grant.is_valid(now))
    }

    /// Whether the grant is valid, by the caller's clock.
    pub(crate) fn is_valid(&self, now: Instant) -> bool {
        !self.suspended && self.is_held(now)
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
