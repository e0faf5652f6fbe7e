//! The state of one contender, as its tasks and the engine share it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fencepost_core::{
    Cause, CommandId, Event, Grant, Instant, Intent, Loss, Misuse, Refusal, Settings, claim::Record,
};
use tokio::sync::Notify;

use super::{command_errors::CommandErrors, end::End, trace::Trace};
use crate::{Error, Lost, Native, Refused, Shown};

/// The arguments to open a contender.
#[derive(Clone, Copy)]
pub(crate) struct ContenderParams<'a> {
    pub(crate) lock: &'a Shown,
    pub(crate) settings: &'a Settings,
    /// Whether the settings name an owner.
    pub(crate) has_owner: bool,
    /// Whether it is a claim.
    pub(crate) is_claim: bool,
}

/// One contender, from its acquire to its end.
#[derive(Debug)]
pub(crate) struct SharedState {
    /// The lock's name.
    pub(crate) lock: Shown,
    /// Whether it acquires for an owner. If so, its grant may have several holds.
    pub(super) has_owner: bool,
    /// Whether it is a claim. If so, a loss or the results of its ends do not close it.
    pub(super) is_claim: bool,
    state: Mutex<ContenderState>,
    /// Notified after every change of `state`, never under a lock.
    changed: Notify,
    pub(crate) trace: Trace,
}

/// The state of a contender after the events so far.
#[derive(Debug, Default)]
pub(crate) struct ContenderState {
    /// The grant, with its present validity.
    pub(crate) grant: Option<Grant>,
    /// The connection is lost at present.
    pub(crate) suspended: bool,
    /// A task has taken the grant.
    pub(crate) taken: bool,
    /// The application has requested the release.
    pub(crate) releasing: bool,
    /// Another client has sent a revocation request.
    pub(crate) revoke_requested: bool,
    /// The node of a contender of another layout, which ignores this client's node.
    pub(crate) foreign_node: Option<String>,
    /// How often the grant was extended or confirmed.
    pub(crate) extensions: u64,
    /// The result of a downgrade.
    downgrade: Option<Result<(), Refused>>,
    /// A downgrade has begun, and no call has returned its result yet.
    downgrading: bool,
    /// The server has not confirmed a release in time.
    pub(crate) unconfirmed: bool,
    /// A claim's grant has ended, and its end has not succeeded. The application may still end the claim.
    pub(crate) lost: Option<Lost>,
    /// The result of the end of a claim.
    pub(crate) answer: Option<Result<Answer, Error>>,
    /// The last end of a claim, until a call has returned its result.
    ending: Option<Intent>,
    /// The number of ends of a claim that have begun.
    ends: u64,
    pub(crate) end: Option<End>,
    /// No contender uses its machine any more, so its watches are not needed.
    pub(super) unwatched: bool,
    /// Few errors, because a machine has few commands in flight.
    errors: CommandErrors<8>,
}

/// The result of an end of a claim.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The claim has ended without a result.
    Released,
    /// The result is stored.
    Completed,
    /// Another attempt has stored a result.
    Replayed(Box<Record>),
}

impl SharedState {
    pub(super) fn new(params: ContenderParams<'_>) -> Self {
        Self {
            lock: params.lock.clone(),
            has_owner: params.has_owner,
            is_claim: params.is_claim,
            state: Mutex::default(),
            changed: Notify::new(),
            trace: Trace::default(),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ContenderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes at the next change after this call.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }

    /// Wakes the waiting tasks. The caller must hold no lock, because this calls their wakers and the program's
    /// subscriber.
    pub(crate) fn wake(&self) {
        self.trace.report(&self.lock);
        self.changed.notify_waiters();
    }

    /// Waits until `look` returns a value.
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

    /// Stores a client library's error for the loss or refusal that it may cause.
    pub(crate) fn keep_error(&self, id: CommandId, native: Native) {
        self.state().errors.push(id, native);
    }

    /// Handles an event. `last_error` is the last error of the connection, and `find` looks for the error of a command
    /// elsewhere. Returns whether the contender has ended.
    pub(super) fn on_event(
        &self,
        event: Event,
        last_error: Option<&Native>,
        find: impl FnOnce(&Cause) -> Option<Native>,
    ) -> bool {
        self.trace.event(&event);
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
                let lost = Lost::caused(reason, cause, native).of(&self.lock);
                self.trace.lost(&lost);
                if self.is_claim {
                    // If a refusal came just before, it has the details.
                    state.answer.get_or_insert_with(|| Err(lost.clone().into()));
                    state.lost = Some(lost);
                } else {
                    state.end = Some(End::Lost(lost));
                }
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
                let refused = Refused::caused(reason, cause, native).of(&self.lock);
                self.trace.refused(&refused);
                if self.is_claim && state.grant.is_some() {
                    state.answer = Some(Err(refused.into()));
                } else if state.grant.is_some() && !state.releasing {
                    // This is neither the acquire nor the release: the grant is unchanged.
                    state.downgrade = Some(Err(refused));
                } else {
                    state.end = Some(End::Refused(refused));
                }
            }
            Event::Downgraded => state.downgrade = Some(Ok(())),
            Event::Released if self.is_claim => state.end_claim(Answer::Released),
            Event::Completed { .. } if self.is_claim => state.end_claim(Answer::Completed),
            Event::Replayed { record } if self.is_claim && state.grant.is_some() => {
                state.end_claim(Answer::Replayed(record));
            }
            Event::Completed { record } => state.end = Some(End::Completed(record)),
            Event::Replayed { record } => state.end = Some(End::Replayed(record)),
            Event::Looked { record } => state.end = Some(End::Looked(record)),
            Event::Swept { deleted } => state.end = Some(End::Swept(deleted)),
            Event::Released => state.end = Some(End::Released),
            Event::Found { contenders } => state.end = Some(End::Found(contenders)),
            Event::RevokeRequested => state.revoke_requested = true,
            Event::MixedLayouts { node } => state.foreign_node = Some(node),
            // The client does not use the place in the queue. A later core may have more events.
            _ => {}
        }
        state.end.is_some()
    }

    /// Ends the contender, unless it has ended.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.state();
        if state.end.is_none() {
            self.trace.end(state.end.insert(end));
        }
    }

    /// No contender uses its machine any more. The caller must then call [`wake`](Self::wake), which ends the watches.
    pub(super) fn unwatch(&self) {
        self.state().unwatched = true;
    }

    /// Ends the contender, because the client is closed: a grant is lost, and an acquire or a release ends.
    pub(super) fn close(&self) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        let held = state.grant.is_some() && state.taken && !state.releasing;
        let end = if held {
            let detail = Some("the client was closed while it held the lock".into());
            End::Lost(Lost::new(Loss::ConnectionClosed, detail, None).of(&self.lock))
        } else {
            End::Closed
        };
        self.trace.end(state.end.insert(end));
    }

    /// Whether it has a grant that no task has taken.
    pub(super) fn is_unclaimed(&self) -> bool {
        let state = self.state();
        state.grant.is_some() && !state.taken
    }

    /// Ends a contender whose grant no task has taken.
    pub(super) fn give_back(&self) -> bool {
        let mut state = self.state();
        let unclaimed = state.end.is_none() && !state.taken;
        if unclaimed {
            self.trace.end(state.end.insert(End::GivenBack));
        }
        unclaimed
    }
}

impl ContenderState {
    /// The number of the last end of a claim, if it is this end, is in progress, or has succeeded and no call has
    /// returned that yet.
    pub(super) fn running_end(&self, intent: &Intent) -> Option<u64> {
        let goes_on = !matches!(self.answer, Some(Err(_)));
        (goes_on && self.ending.as_ref() == Some(intent)).then_some(self.ends)
    }

    /// Begins an end of a claim. Returns its number.
    pub(super) fn begin_end(&mut self, intent: Intent) -> u64 {
        self.answer = None;
        self.ending = Some(intent);
        self.ends += 1;
        self.ends
    }

    /// The result of an end of a claim, for a call that has waited for it. After a refusal, another call may have begun
    /// another end.
    pub(crate) fn take_answer(&mut self, number: u64) -> Option<Result<Answer, Error>> {
        if self.ends != number {
            return Some(Err(Misuse::NotHeld.into()));
        }
        let answer = self.answer.clone()?;
        self.ending = None;
        Some(answer)
    }

    /// Whether a downgrade is in progress, or has succeeded and no call has returned that yet.
    pub(super) const fn is_downgrading(&self) -> bool {
        self.downgrading && !matches!(self.downgrade, Some(Err(_)))
    }

    /// Begins a downgrade.
    pub(super) fn begin_downgrade(&mut self) {
        self.downgrade = None;
        self.downgrading = true;
    }

    /// The result of a downgrade, for a call that has waited for it.
    pub(crate) fn take_downgrade(&mut self) -> Option<Result<(), Refused>> {
        let done = self.downgrade.clone()?;
        self.downgrading = false;
        Some(done)
    }

    /// An end of a claim has succeeded.
    fn end_claim(&mut self, answer: Answer) {
        self.answer = Some(Ok(answer));
        self.lost = None;
    }

    fn extend(&mut self, valid_until: Option<Instant>) {
        if let Some(grant) = &mut self.grant {
            grant.valid_until = valid_until;
        }
        self.extensions = self.extensions.wrapping_add(1);
    }

    /// Whether the grant is valid, by the caller's clock.
    pub(crate) fn is_valid(&self, now: Instant) -> bool {
        let ended = self.end.is_some() || self.lost.is_some() || matches!(self.answer, Some(Ok(_)));
        let over = ended || self.releasing || self.suspended;
        !over && self.grant.is_some_and(|grant| grant.is_valid(now))
    }
}

impl End {
    /// The end, as the error of a call that needs the contender.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Released
            | Self::Found(_)
            | Self::Completed(_)
            | Self::Replayed(_)
            | Self::Looked(_)
            | Self::Swept(_) => Error::Misuse(Misuse::NotHeld),
            Self::Refused(refused) => Error::Refused(refused.clone()),
            Self::Lost(lost) => Error::Lost(lost.clone()),
            Self::Failed(failed) => Error::DriverFailed(failed.clone()),
            Self::Closed | Self::GivenBack => Error::Misuse(Misuse::Closed),
        }
    }

    /// The end, as a loss, for calls that wait for one.
    pub(crate) fn lost(&self) -> Lost {
        match self {
            Self::Lost(lost) => lost.clone(),
            Self::Released
            | Self::Found(_)
            | Self::Completed(_)
            | Self::Replayed(_)
            | Self::Looked(_)
            | Self::Swept(_)
            | Self::Refused(_)
            | Self::Failed(_)
            | Self::Closed
            | Self::GivenBack => {
                Lost::new(Loss::ConnectionClosed, Some("the client was closed".into()), None)
            }
        }
    }
}
