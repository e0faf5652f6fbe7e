//! One contender: an acquire in progress, or its grant.

use alloc::sync::Arc;
use core::time::Duration;
use std::sync::MutexGuard;

use fencepost_core::{AcquireTimeout, Found, Intent, Key, claim::Record};

use super::shared::Shared;
use crate::{
    Error, Lost, Shown, clock,
    engine::{
        ContenderParams,
        contender_state::{Answer, ContenderState, SharedState},
        end::End,
        in_flight::InFlight,
    },
};

/// One contender. When it is dropped, the background task cancels its acquire or releases its grant.
pub(super) struct Contender {
    shared: Arc<Shared>,
    shared_state: Arc<SharedState>,
    key: Key,
}

/// The result of a claim.
pub(super) enum Opened {
    /// The contender may run the operation.
    Granted(Contender),
    /// The operation has a result.
    Replayed(Box<Record>),
}

/// The result of a request about an operation or a value.
pub(super) enum Stepped {
    Stored(Box<Record>),
    Replayed(Box<Record>),
    Looked(Option<Box<Record>>),
}

impl Contender {
    /// Opens a contender and waits until it has the lock.
    pub(super) async fn acquire(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<Self, Error> {
        match Self::open(shared, params, acquire_timeout).await? {
            (contender, None) => Ok(contender),
            (_, Some(end)) => Err(end.error()),
        }
    }

    /// Inspects the contenders of a lock.
    pub(super) async fn inspect(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<Vec<Found>, Error> {
        match Self::open(shared, params, acquire_timeout).await? {
            (_, Some(End::Found(found))) => Ok(found),
            (_, Some(end)) => Err(end.error()),
            (_, None) => Ok(Vec::new()),
        }
    }

    /// Claims an operation.
    pub(super) async fn claim(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<Opened, Error> {
        match Self::open(shared, params, acquire_timeout).await? {
            (contender, None) => Ok(Opened::Granted(contender)),
            (_, Some(End::Replayed(record))) => Ok(Opened::Replayed(record)),
            (_, Some(end)) => Err(end.error()),
        }
    }

    /// Makes one request about an operation or a value.
    pub(super) async fn step(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<Stepped, Error> {
        match Self::open(shared, params, acquire_timeout).await? {
            (_, Some(End::Completed(record))) => Ok(Stepped::Stored(record)),
            (_, Some(End::Replayed(record))) => Ok(Stepped::Replayed(record)),
            (_, Some(End::Looked(record))) => Ok(Stepped::Looked(record)),
            (_, Some(end)) => Err(end.error()),
            (_, None) => Ok(Stepped::Looked(None)),
        }
    }

    /// Sweeps a scope. Returns the number of deleted records.
    pub(super) async fn sweep(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<u64, Error> {
        match Self::open(shared, params, acquire_timeout).await? {
            (_, Some(End::Swept(deleted))) => Ok(deleted),
            (_, Some(end)) => Err(end.error()),
            (_, None) => Ok(0),
        }
    }

    /// Opens a machine and waits for its grant or its end.
    ///
    /// If this task did not take its grant in time, the client has released it. The task runs again now, so it acquires
    /// again, within the remaining time.
    async fn open(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<(Self, Option<End>), Error> {
        let start = clock::now();
        let mut left = acquire_timeout;
        loop {
            match Self::open_once(shared, params, left).await? {
                (_, Some(End::GivenBack)) => left = after(acquire_timeout, clock::now().since(start)),
                done => return Ok(done),
            }
        }
    }

    async fn open_once(
        shared: &Arc<Shared>,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<(Self, Option<End>), Error> {
        let (key, shared_state, commands) = shared.engine.acquire(params, acquire_timeout)?;
        shared_state.trace.begin(params.lock);
        let contender = Self {
            shared: Arc::clone(shared),
            shared_state,
            key,
        };
        // This is dropped before the contender, so the background task first gets the commands in flight.
        let mut in_flight = InFlight::new(&shared.engine, key, commands);
        let end = in_flight
            .until(&contender.shared_state, |state| {
                state.taken |= state.grant.is_some();
                match &state.end {
                    Some(end) => Some(Some(end.clone())),
                    None => state.grant.map(|_| None),
                }
            })
            .await;
        drop(in_flight);
        Ok((contender, end))
    }

    /// The lock's name.
    pub(super) fn lock(&self) -> &Shown {
        &self.shared_state.lock
    }

    /// The state after the events so far.
    pub(super) fn state(&self) -> MutexGuard<'_, ContenderState> {
        self.shared_state.state()
    }

    /// Completes when the grant has ended without a release.
    pub(super) async fn lost(&self) -> Lost {
        self.shared_state
            .until(|state| state.lost.clone().or_else(|| state.end.as_ref().map(End::lost)))
            .await
    }

    /// Completes when another client has sent a revocation request.
    pub(super) async fn revoke_requested(&self) {
        self.shared_state
            .until(|state| state.revoke_requested.then_some(()))
            .await;
    }

    /// Extends the grant from now on.
    pub(super) async fn extend(&self) -> Result<(), Error> {
        self.shared.engine.check_process()?;
        let before = {
            let state = self.state();
            if let Some(lost) = &state.lost {
                return Err(lost.clone().into());
            }
            if let Some(end) = &state.end {
                return Err(end.error());
            }
            state.extensions
        };
        let (verdict, commands) = self.shared.engine.intent(self.key, Intent::Extend);
        let mut in_flight = InFlight::new(&self.shared.engine, self.key, commands);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        in_flight
            .until(&self.shared_state, |state| match (&state.end, &state.lost) {
                (Some(end), _) => Some(Err(end.error())),
                (None, Some(lost)) => Some(Err(lost.clone().into())),
                (None, None) => (state.extensions != before).then_some(Ok(())),
            })
            .await
    }

    /// Ends a claim and waits for the server's confirmation. If the server refuses the end, the program may end the
    /// claim again. If a call is cancelled, its end continues, and another call for the same end returns its result.
    pub(super) async fn end_claim(&self, intent: Intent) -> Result<Answer, Error> {
        self.shared.engine.check_process()?;
        self.not_over()?;
        let (number, commands) = self.shared.engine.end_claim(self.key, intent);
        let mut in_flight = InFlight::new(&self.shared.engine, self.key, commands);
        let number = number.map_err(|misuse| self.end_or(misuse.into()))?;
        in_flight
            .until(&self.shared_state, |state| match &state.end {
                Some(end) => Some(Err(end.error())),
                None => state.take_answer(number),
            })
            .await
    }

    /// Releases the grant and waits for the server's confirmation.
    pub(super) async fn release(&self) -> Result<(), Error> {
        self.shared.engine.check_process()?;
        self.not_over()?;
        let (verdict, commands) = self.shared.engine.intent(self.key, Intent::Release);
        let mut in_flight = InFlight::new(&self.shared.engine, self.key, commands);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        in_flight
            .until(&self.shared_state, |state| match &state.end {
                Some(End::Released) => Some(Ok(())),
                Some(end) => Some(Err(end.error())),
                None => state.unconfirmed.then(|| Err(self.unconfirmed())),
            })
            .await
    }

    /// Fails with the contender's end, if it has ended.
    fn not_over(&self) -> Result<(), Error> {
        match &self.state().end {
            Some(end) => Err(end.error()),
            None => Ok(()),
        }
    }

    /// Turns a writer's grant into a reader's and waits for the server's confirmation. If a call is cancelled, its
    /// downgrade continues, and the next call returns its result.
    pub(super) async fn downgrade(&self) -> Result<(), Error> {
        self.shared.engine.check_process()?;
        self.not_over()?;
        let (verdict, commands) = self.shared.engine.downgrade(self.key);
        let mut in_flight = InFlight::new(&self.shared.engine, self.key, commands);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        in_flight
            .until(&self.shared_state, |state| match &state.end {
                Some(end) => Some(Err(end.error())),
                None => state.take_downgrade().map(|done| done.map_err(Error::from)),
            })
            .await
    }

    fn unconfirmed(&self) -> Error {
        Error::ReleaseUnconfirmed {
            lock: self.lock().clone(),
        }
    }

    /// Returns the contender's end or its loss if that is the cause of this error; otherwise the error itself.
    fn end_or(&self, error: Error) -> Error {
        let state = self.state();
        match (&state.end, &state.lost) {
            (Some(end), _) => end.error(),
            (None, Some(lost)) => lost.clone().into(),
            (None, None) => error,
        }
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // The copy in a forked process holds nothing.
        if self.shared.engine.check_process().is_err() {
            return;
        }
        let (over, answered) = {
            let state = self.state();
            // The background task finishes a release in progress, and closes the contender.
            let over = state.end.is_some() || state.releasing;
            (over, matches!(state.answer, Some(Ok(_))))
        };
        match (over, answered) {
            (true, _) => {}
            (false, true) => self.shared.engine.close_ended_claim(self.key),
            (false, false) => self.shared.engine.close_in_background(self.key),
        }
    }
}

/// The rest of an acquire timeout. When it has ended, the caller tries once.
fn after(acquire_timeout: AcquireTimeout, elapsed: Duration) -> AcquireTimeout {
    match acquire_timeout {
        AcquireTimeout::For(limit) => match limit.saturating_sub(elapsed) {
            Duration::ZERO => AcquireTimeout::Try,
            left => AcquireTimeout::For(left),
        },
        AcquireTimeout::Forever | AcquireTimeout::Try => acquire_timeout,
    }
}
