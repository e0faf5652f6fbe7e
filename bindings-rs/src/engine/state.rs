//! The state that the engine's lock guards.

use alloc::{collections::VecDeque, sync::Arc};
use core::{pin::pin, time::Duration};

use fencepost_core::{
    CommandId, Event, Instant, Intent, Key, Misuse, Output, Refusal, lowered::Notice, sorted::SortedMap,
};
use fencepost_models::hub::Hub;
use futures_util::{
    FutureExt,
    future::{self, BoxFuture, Either},
};

use super::{
    command_errors::CommandErrors,
    contender_ids::ContenderIds,
    contender_state::{ContenderState, SharedState},
    delegated::Delegations,
    driver::{CommandFuture, Completed, Driver},
    end::End,
    unclaimed::Unclaimed,
};
use crate::{DriverFailed, Error, Native, Refused};

/// The error of a client whose background task has ended.
pub(super) const ABANDONED: &str = "the client's background task has ended, because its runtime was shut down or a driver panicked: make the client in a runtime that lives as long";

/// How long a release waits for the server's confirmation.
const CONFIRM_WITHIN: Duration = Duration::from_secs(5);

/// The hub, and the calls that wait for its events.
pub(super) struct State {
    pub(super) hub: Hub,
    pub(super) contenders: SortedMap<Key, Arc<SharedState>>,
    /// The contender that was opened last.
    pub(super) newest: Option<Key>,
    /// Commands without an outcome, with the contenders that existed when they were sent. They are in the order in
    /// which they were sent: a lost session ends all of them.
    pub(super) in_flight: SortedMap<CommandId, Option<Arc<SharedState>>>,
    /// The client library's latest errors on the commands of owners: the holds of a grant share them.
    owners_errors: CommandErrors<64>,
    /// Releases, with the time when their callers stop waiting. All wait equally long, so they are in that order. Some
    /// have already ended.
    pub(super) releases: VecDeque<(Instant, Key)>,
    /// Commands that tasks await themselves, for a short time.
    pub(super) delegations: Delegations,
    pub(super) unclaimed: Unclaimed,
    /// When the background task wakes up by itself.
    pub(super) armed: Option<Instant>,
    pub(super) seed: u64,
    pub(super) contender_ids: ContenderIds,
    pub(super) connection: ConnectionStatus,
    pub(super) closed: bool,
    /// The client's runtime has ended before the client was closed.
    pub(super) abandoned: bool,
    /// The failure of the client library, if it has ended the client.
    pub(super) failed: Option<DriverFailed>,
}

/// The status of a connection.
#[derive(Default)]
pub(super) struct ConnectionStatus {
    /// The last error, while there is no connection.
    pub(super) last_error: Option<Native>,
    /// The refusal, if the client need not wait for a connection.
    pub(super) rejected: Option<Refused>,
}

/// Which commands the caller awaits itself. The background task awaits the rest.
#[derive(Clone, Copy)]
pub(crate) enum Awaits {
    Nothing,
    Only(Key),
    /// The commands of the contender that was just opened.
    Newest,
    All,
}

/// The result of polling all outputs.
#[derive(Default)]
pub(super) struct Drained {
    pub(super) for_caller: Vec<CommandFuture>,
    pub(super) for_background: Vec<CommandFuture>,
    pub(super) changed: Vec<Arc<SharedState>>,
    /// The background task has something to do.
    pub(super) wake_background: bool,
}

impl State {
    pub(super) fn new(hub: Hub, seed: u64) -> Self {
        Self {
            hub,
            contenders: SortedMap::new(),
            newest: None,
            in_flight: SortedMap::new(),
            owners_errors: CommandErrors::default(),
            releases: VecDeque::new(),
            delegations: Delegations::default(),
            unclaimed: Unclaimed::default(),
            armed: None,
            seed,
            contender_ids: ContenderIds::new(),
            connection: ConnectionStatus::default(),
            closed: false,
            abandoned: false,
            failed: None,
        }
    }

    /// Fails if the client has been closed or abandoned, or has failed.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        match &self.failed {
            Some(failed) => Err(failed.clone().into()),
            None if self.abandoned => {
                let detail = Some(ABANDONED.into());
                Err(Refused::new(Refusal::ConnectionClosed, detail, None).into())
            }
            None if self.closed => Err(Misuse::Closed.into()),
            None => Ok(()),
        }
    }

    /// Passes an intent to a contender.
    pub(super) fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        let releases = intent == Intent::Release;
        self.hub.intent(key, intent)?;
        let Some(contender) = self.contenders.get(&key) else {
            return Ok(());
        };
        if releases && !contender.is_claim {
            contender.state().releasing = true;
            self.releases.push_back((now.plus(CONFIRM_WITHIN), key));
        }
        Ok(())
    }

    /// Begins a downgrade, or joins one that is in progress, because its call may have been cancelled.
    pub(super) fn downgrade(&mut self, now: Instant, key: Key) -> Result<(), Misuse> {
        let contender = self.contenders.get(&key).cloned();
        if contender
            .as_ref()
            .is_some_and(|contender| contender.state().is_downgrading())
        {
            return Ok(());
        }
        self.intent(now, key, Intent::Downgrade)?;
        if let Some(contender) = contender {
            contender.state().begin_downgrade();
        }
        Ok(())
    }

    /// Begins an end of a claim, or joins this end if it has begun. Returns its number.
    pub(super) fn end_claim(&mut self, now: Instant, key: Key, intent: Intent) -> Result<u64, Misuse> {
        let Some(contender) = self.contenders.get(&key).cloned() else {
            return Err(Misuse::NotHeld);
        };
        if let Some(number) = contender.state().running_end(&intent) {
            return Ok(number);
        }
        self.intent(now, key, intent.clone())?;
        Ok(contender.state().begin_end(intent))
    }

    /// Polls all outputs: passes commands to the driver in their order, and stores events.
    pub(super) fn drain(&mut self, driver: &dyn Driver, now: Instant, awaits: Awaits, drained: &mut Drained) {
        loop {
            match self.hub.poll_output(None) {
                (key, Output::Command(command)) => {
                    let id = command.id;
                    let future = driver.start(command);
                    let command = CommandFuture { key, future };
                    let contender = self.contenders.get(&command.key).cloned();
                    self.in_flight.insert(id, contender);
                    match awaits {
                        Awaits::All => drained.for_caller.push(command),
                        Awaits::Only(key) if key == command.key => drained.for_caller.push(command),
                        Awaits::Newest if self.newest == Some(command.key) => {
                            drained.for_caller.push(command)
                        }
                        Awaits::Only(_) | Awaits::Newest | Awaits::Nothing => {
                            drained.for_background.push(command)
                        }
                    }
                }
                (key, Output::Event(event)) => {
                    // The contender's own task checks the state as soon as this returns.
                    let seen = match awaits {
                        Awaits::Only(own) => own == key,
                        Awaits::Newest => self.newest == Some(key),
                        Awaits::All | Awaits::Nothing => false,
                    };
                    drained.changed.extend(self.on_event(now, key, event, seen));
                }
                (_, Output::Wait(wait)) => {
                    let until = self.earliest(wait.until);
                    let earlier = self.arm(now, until);
                    let done = self.closed && self.hub.pending() == 0;
                    // The background task handles both before it sleeps.
                    drained.wake_background = (earlier || done) && !matches!(awaits, Awaits::All);
                    return;
                }
                // A later core may have more outputs.
                _ => {}
            }
        }
    }

    /// Sets the time when the background task wakes up. Returns whether the caller has to wake it now. If the time
    /// moves to a later one, the task still wakes up at the earlier time: most timers of locks never fire.
    pub(super) fn arm(&mut self, now: Instant, until: Option<Instant>) -> bool {
        let armed = self.armed.filter(|armed| *armed > now);
        let earlier = until.is_some_and(|until| armed.is_none_or(|armed| until < armed));
        self.armed = if earlier { until } else { armed };
        earlier
    }

    fn earliest(&mut self, until: Option<Instant>) -> Option<Instant> {
        let release = self.release_due();
        let (recall, give_back) = (self.delegations.due(), self.unclaimed.due());
        let all = until.into_iter().chain(release).chain(recall).chain(give_back);
        all.min()
    }

    /// Stores an event in the state of its contender. `seen` means that the contender's task checks its state at once.
    fn on_event(&mut self, now: Instant, key: Key, event: Event, seen: bool) -> Option<Arc<SharedState>> {
        let contender = self.contenders.get(&key)?;
        if let Event::Acquired { grant } = &event
            && !seen
        {
            self.unclaimed.granted(now, key, contender, grant);
        }
        let over = contender.on_event(event, self.connection.last_error.as_ref(), |cause| {
            self.owners_errors.of(cause)
        });
        if !over {
            return Some(Arc::clone(contender));
        }
        if self.hub.close(key) == Some(key) {
            contender.unwatch();
        }
        self.contenders.remove(&key)
    }

    /// Closes contenders without events. Returns their states: the caller wakes their tasks.
    pub(super) fn close_contenders(&mut self, keys: Vec<Key>) -> Vec<Arc<SharedState>> {
        let mut closed = Vec::new();
        for key in keys {
            let Some(contender) = self.contenders.remove(&key) else {
                self.hub.close(key);
                continue;
            };
            self.close_contender(key, &contender);
            contender.end(End::Closed);
            closed.push(contender);
        }
        closed
    }

    /// Closes a contender. The hub leaves a claim, because the operation may have run. If no task has taken the claim,
    /// the operation has not run, so this releases the claim.
    fn close_contender(&mut self, key: Key, contender: &SharedState) {
        if contender.is_claim && contender.is_unclaimed() {
            let _accepted = self.hub.intent(key, Intent::Release);
        }
        if self.hub.close(key) == Some(key) {
            contender.unwatch();
        }
    }

    /// Stores a client library's error for the loss or refusal that it may cause.
    fn keep_error(&mut self, id: CommandId, contender: Option<&Arc<SharedState>>, native: Native) {
        if contender.is_none_or(|contender| contender.has_owner) {
            self.owners_errors.push(id, Arc::clone(&native));
        }
        if let Some(contender) = contender {
            contender.keep_error(id, native);
        }
    }

    /// The time when the next caller of a release stops waiting. Finished releases are removed only here, from the
    /// front of the queue: a search among thousands of releases would cost as much as the release itself.
    fn release_due(&mut self) -> Option<Instant> {
        while let Some((due, key)) = self.releases.front() {
            if self.contenders.contains_key(key) {
                return Some(*due);
            }
            self.releases.pop_front();
        }
        None
    }

    /// Lets the callers of releases wait longer: a busy program has read no replies, and may not have sent the
    /// requests.
    pub(super) fn postpone_releases(&mut self, by: Duration) {
        for (due, _) in &mut self.releases {
            *due = due.plus(by);
        }
    }

    /// Releases the grants that no task has taken in time. Returns their contenders.
    pub(super) fn give_back(&mut self, now: Instant) -> Vec<Arc<SharedState>> {
        let mut given = Vec::new();
        while let Some((key, contender)) = self.unclaimed.take_due(now) {
            if contender.give_back() {
                self.contenders.remove(&key);
                self.close_contender(key, &contender);
                given.push(contender);
            }
        }
        given
    }

    /// Handles the outcome of a command, or the event of a watch. Returns the watch to await next.
    pub(super) fn complete(&mut self, key: Key, completed: Completed) -> Option<CommandFuture> {
        match completed {
            Completed::Outcome {
                id,
                outcome,
                native,
                watch,
            } => {
                let contender = self.in_flight.remove(&id);
                if let Some(native) = native {
                    self.keep_error(id, contender.as_ref().and_then(Option::as_ref), native);
                }
                let watch = watch
                    .zip(contender.clone())
                    .map(|(watch, contender)| CommandFuture {
                        key,
                        future: match contender {
                            Some(contender) => Box::pin(until_unwatched(watch, contender)),
                            // A hold has ended, and its machine serves the other holds of the grant.
                            None => Box::pin(watch.map(Completed::Notice)),
                        },
                    });
                if let Err(misuse) = self.hub.handle_outcome(id, outcome) {
                    // The reply has the wrong shape: the command's outcome counts as unknown, and this error is the
                    // reason.
                    self.keep_error(id, contender.as_ref().and_then(Option::as_ref), Arc::new(misuse));
                }
                watch
            }
            Completed::Notice(notice) => {
                let _accepted = self.hub.handle_notice(notice);
                None
            }
            // The engine handles a fault itself.
            Completed::Fault(_) | Completed::Nothing => None,
        }
    }
}

/// Awaits a watch as long as its machine needs it: the library removes a dropped watch from the server. If the
/// contender ends while its machine still serves other holds of an owner, the watch is on the grant's node, and ends
/// with that node.
async fn until_unwatched(watch: BoxFuture<'static, Notice>, contender: Arc<SharedState>) -> Completed {
    let needless = |state: &ContenderState| state.unwatched.then_some(());
    let over = pin!(contender.until(needless));
    match future::select(watch, over).await {
        Either::Left((notice, _)) => Completed::Notice(notice),
        Either::Right(_) => Completed::Nothing,
    }
}
