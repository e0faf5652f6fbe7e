//! One contender: an acquire on its way, or the grant it has come to.

use alloc::sync::Arc;
use core::{
    future::{Future, poll_fn},
    pin::pin,
    time::Duration,
};

use fencepost_core::{Found, Intent, Key, Patience, Settings};

use super::Shared;
use crate::{
    Error, Shown, clock,
    hub::{
        alarm::within,
        engine::CONFIRM_WITHIN,
        pocket::Pocket,
        seat::{End, Seat},
    },
};

/// One contender. Dropped, it is withdrawn, or released, by the background task.
pub(super) struct Contender {
    pub(super) shared: Arc<Shared>,
    pub(super) seat: Arc<Seat>,
    key: Key,
}

impl Contender {
    /// Opens a contender and waits until it has the lock.
    pub(super) async fn acquire(
        shared: &Arc<Shared>,
        lock: &Shown,
        settings: &Settings,
        patience: Patience,
    ) -> Result<Self, Error> {
        match Self::open(shared, lock, settings, patience).await? {
            (contender, None) => Ok(contender),
            (_, Some(end)) => Err(end.error()),
        }
    }

    /// Looks at contenders from outside.
    pub(super) async fn inspect(
        shared: &Arc<Shared>,
        lock: &Shown,
        settings: &Settings,
        patience: Patience,
    ) -> Result<Vec<Found>, Error> {
        match Self::open(shared, lock, settings, patience).await? {
            (_, Some(End::Found(found))) => Ok(found),
            (_, Some(end)) => Err(end.error()),
            (_, None) => Ok(Vec::new()),
        }
    }

    /// Opens a machine and waits until it has come to something: a grant, or its end.
    ///
    /// A grant that this task has not taken in time was given back. The task is back now, so it contends again, for the time that is left.
    async fn open(
        shared: &Arc<Shared>,
        lock: &Shown,
        settings: &Settings,
        patience: Patience,
    ) -> Result<(Self, Option<End>), Error> {
        let start = clock::now();
        let mut left = patience;
        loop {
            match Self::open_once(shared, lock, settings, left).await? {
                (_, Some(End::GivenBack)) => left = after(patience, clock::now().since(start)),
                done => return Ok(done),
            }
        }
    }

    async fn open_once(
        shared: &Arc<Shared>,
        lock: &Shown,
        settings: &Settings,
        patience: Patience,
    ) -> Result<(Self, Option<End>), Error> {
        let (key, seat, flights) = shared.engine.acquire(lock, settings, patience)?;
        let contender = Self {
            shared: Arc::clone(shared),
            seat,
            key,
        };
        // Dropped before the contender: what is under way goes first to the background task.
        let mut pocket = Pocket::new(&shared.engine, key, flights);
        let end = pocket
            .until(&contender.seat, |told| {
                told.taken |= told.grant.is_some();
                match &told.end {
                    Some(end) => Some(Some(end.clone())),
                    None => told.grant.map(|_| None),
                }
            })
            .await;
        drop(pocket);
        Ok((contender, end))
    }

    /// Extends the grant from now on.
    pub(super) async fn extend(&self) -> Result<(), Error> {
        self.shared.engine.check_process()?;
        let before = {
            let told = self.seat.told();
            if let Some(end) = &told.end {
                return Err(end.error());
            }
            told.extensions
        };
        let (verdict, flights) = self.shared.engine.intent(self.key, Intent::Extend);
        let mut pocket = Pocket::new(&self.shared.engine, self.key, flights);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        pocket
            .until(&self.seat, |told| match &told.end {
                Some(end) => Some(Err(end.error())),
                None => (told.extensions != before).then_some(Ok(())),
            })
            .await
    }

    /// Releases the grant and waits for the server's word.
    pub(super) async fn release(&self) -> Result<(), Error> {
        self.not_over()?;
        let (verdict, flights) = self.shared.engine.intent(self.key, Intent::Release);
        let mut pocket = Pocket::new(&self.shared.engine, self.key, flights);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        pocket
            .until(&self.seat, |told| match &told.end {
                Some(End::Released) => Some(Ok(())),
                Some(end) => Some(Err(end.error())),
                None => told.unconfirmed.then(|| Err(self.unconfirmed())),
            })
            .await
    }

    /// Fails if the contender has ended, with how.
    pub(super) fn not_over(&self) -> Result<(), Error> {
        match &self.seat.told().end {
            Some(end) => Err(end.error()),
            None => Ok(()),
        }
    }

    /// Fails if the contender has ended in another way than by its release: another hold of the same owner may have released it by now.
    pub(super) fn not_lost(&self) -> Result<(), Error> {
        match &self.seat.told().end {
            None | Some(End::Released) => Ok(()),
            Some(end) => Err(end.error()),
        }
    }

    /// Turns a writer's grant into a reader's and waits for the server's word.
    pub(super) async fn downgrade(&self) -> Result<(), Error> {
        let (verdict, flights) = self.shared.engine.intent(self.key, Intent::Downgrade);
        let mut pocket = Pocket::new(&self.shared.engine, self.key, flights);
        verdict.map_err(|misuse| self.end_or(misuse.into()))?;
        pocket
            .until(&self.seat, |told| match &told.end {
                Some(end) => Some(Err(end.error())),
                None => told.downgrade.clone().map(|done| done.map_err(Error::from)),
            })
            .await
    }

    /// The same for a release that leaves readers' holds: it waits no longer than any release.
    pub(super) async fn downgrade_at_release(&self) -> Result<(), Error> {
        self.not_lost()?;
        let mut downgrading = pin!(within(CONFIRM_WITHIN, self.downgrade()));
        let done = poll_fn(|cx| {
            let _inside = self.shared.engine.runtime.inside();
            downgrading.as_mut().poll(cx)
        });
        match done.await {
            // The last reader's hold has released the grant meanwhile.
            Some(Err(_)) if matches!(self.seat.told().end, Some(End::Released)) => Ok(()),
            Some(done) => done,
            None => Err(self.unconfirmed()),
        }
    }

    fn unconfirmed(&self) -> Error {
        Error::ReleaseUnconfirmed {
            lock: self.seat.lock.clone(),
        }
    }

    /// Has the background task say what the application wants.
    pub(super) fn later(&self, intent: Intent) {
        self.shared.engine.say(self.key, intent);
    }

    /// The contender's end, if that is why a call was refused.
    fn end_or(&self, error: Error) -> Error {
        self.seat.told().end.as_ref().map_or(error, End::error)
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        // A fork's copy of it holds nothing.
        if self.shared.engine.check_process().is_err() {
            return;
        }
        let over = {
            let told = self.seat.told();
            // A release under way is finished in the background, and so is its bookkeeping.
            told.end.is_some() || told.releasing
        };
        if !over {
            self.shared.engine.discard(self.key);
        }
    }
}

/// What is left of a patience. When it has ended, the lock is the caller's if it is free.
fn after(patience: Patience, elapsed: Duration) -> Patience {
    match patience {
        Patience::For(limit) => match limit.saturating_sub(elapsed) {
            Duration::ZERO => Patience::Try,
            left => Patience::For(left),
        },
        Patience::Forever | Patience::Try => patience,
    }
}
