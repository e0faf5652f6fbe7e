//! The engine: a client's hub under its lock.
//!
//! [`Engine::put`] handles every input: one critical section passes the input to the hub, polls all outputs, and passes
//! commands to the client library in the order of the outputs. Tasks await the outcomes outside of that section. The
//! task of a contender awaits the outcomes of that contender's commands (see [`InFlight`](super::in_flight::InFlight)),
//! so an acquire needs no switch to another task. The background task awaits all other outcomes.

use alloc::sync::Arc;
use core::{mem, sync::atomic::AtomicBool, time::Duration};
use std::{
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fencepost_core::{AcquireTimeout, Instant, Intent, Key, Misuse};
use fencepost_models::hub::Hub;
use tokio::sync::Notify;

use super::{
    contender_state::{ContenderParams, SharedState},
    delegated::DelegatedCommands,
    driver::{CommandFuture, Driver},
    runtime::Runtime,
    state::{Awaits, Drained, State},
};
use crate::{Error, clock};

/// A client's hub under its lock, and its driver.
pub(crate) struct Engine {
    /// The process that made it.
    process: u32,
    pub(crate) runtime: Runtime,
    /// The address of its server, for error texts.
    pub(super) at: String,
    pub(super) driver: Arc<dyn Driver>,
    state: Mutex<State>,
    jobs: Mutex<BackgroundJobs>,
    /// Notified when the background task has something to do.
    pub(crate) wake: Notify,
    pub(super) connected_once: AtomicBool,
    /// Notified when the connection is made or refused, and when the client ends.
    pub(super) connection_changed: Notify,
}

/// The jobs that tasks and destructors pass to the background task.
#[derive(Default)]
struct BackgroundJobs {
    commands: Vec<CommandFuture>,
    closing: Vec<Key>,
    close_client: bool,
}

impl Engine {
    pub(crate) fn new(
        runtime: Runtime,
        at: String,
        seed: u64,
        hub: Hub,
        driver: Arc<dyn Driver>,
    ) -> Arc<Self> {
        Arc::new(Self {
            process: process::id(),
            runtime,
            at,
            driver,
            state: Mutex::new(State::new(hub, seed)),
            jobs: Mutex::default(),
            wake: Notify::new(),
            connected_once: AtomicBool::new(false),
            connection_changed: Notify::new(),
        })
    }

    /// Fails in a fork of the process. Callers check this before they lock anything: a thread of the parent may have
    /// held the lock, and the fork does not have that thread.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        if process::id() == self.process {
            Ok(())
        } else {
            Err(Error::WrongProcess)
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn jobs(&self) -> MutexGuard<'_, BackgroundJobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an input to the hub, and handles all outputs. Returns the commands that the caller has to await.
    pub(super) fn put<T>(
        &self,
        awaits: Awaits,
        input: impl FnOnce(&mut State, Instant) -> T,
    ) -> (T, Vec<CommandFuture>) {
        let mut drained = Drained::default();
        let result = {
            let mut state = self.state();
            // The clock is read before anything is sent: a lease starts no later than its command.
            let now = clock::now();
            state.hub.at(now);
            let result = input(&mut state, now);
            state.drain(&*self.driver, now, awaits, &mut drained);
            result
        };
        // From now on, wakers may run, and this holds no lock.
        self.driver.flush();
        for contender in drained.changed {
            contender.wake();
        }
        if !drained.for_background.is_empty() {
            self.await_in_background(drained.for_background);
        } else if drained.wake_background {
            self.wake.notify_one();
        }
        (result, drained.for_caller)
    }

    /// Opens a contender and begins its acquire. The caller has to await the commands.
    pub(crate) fn acquire(
        &self,
        params: ContenderParams<'_>,
        acquire_timeout: AcquireTimeout,
    ) -> Result<(Key, Arc<SharedState>, Vec<CommandFuture>), Error> {
        let mut closed = Vec::new();
        let (opened, commands) = self.put(Awaits::Newest, |state, _now| {
            state.newest = None;
            if params.has_owner {
                // This first closes grants or acquires of the owner that were dropped before this call.
                let closing = mem::take(&mut self.jobs().closing);
                closed = state.close_contenders(closing);
            }
            state.check_open()?;
            if let Some(refused) = &state.connection.rejected {
                return Err(refused.clone().of(params.lock).into());
            }
            state.seed = state.seed.wrapping_add(1);
            let id = state.contender_ids.next()?;
            let key = state.hub.open(params.settings, id, state.seed)?;
            if let Err(misuse) = state.hub.intent(key, Intent::Acquire(acquire_timeout)) {
                state.hub.close(key);
                return Err(misuse.into());
            }
            let contender = Arc::new(SharedState::new(params));
            state.contenders.insert(key, Arc::clone(&contender));
            state.newest = Some(key);
            Ok((key, contender))
        });
        for contender in closed {
            contender.wake();
        }
        match opened {
            Ok((key, contender)) => Ok((key, contender, commands)),
            Err(error) => {
                self.await_in_background(commands);
                Err(error)
            }
        }
    }

    /// Passes an intent to a contender. The caller has to await the commands.
    pub(crate) fn intent(&self, key: Key, intent: Intent) -> (Result<(), Misuse>, Vec<CommandFuture>) {
        self.put(Awaits::Only(key), |state, now| state.intent(now, key, intent))
    }

    /// Begins a downgrade, or joins one in progress. The caller has to await the commands.
    pub(crate) fn downgrade(&self, key: Key) -> (Result<(), Misuse>, Vec<CommandFuture>) {
        self.put(Awaits::Only(key), |state, now| state.downgrade(now, key))
    }

    /// Begins an end of a claim, or joins the same end if it is in progress. Returns its number.
    pub(crate) fn end_claim(&self, key: Key, intent: Intent) -> (Result<u64, Misuse>, Vec<CommandFuture>) {
        self.put(Awaits::Only(key), |state, now| state.end_claim(now, key, intent))
    }

    /// Stores the commands that a task awaits itself. The background task recalls them if the task takes too long.
    pub(super) fn delegate(&self, delegated: &Arc<DelegatedCommands>) {
        let earlier = {
            let mut state = self.state();
            let now = clock::now();
            state.delegations.delegate(now, delegated);
            let due = state.delegations.due();
            state.arm(now, due)
        };
        if earlier {
            self.wake.notify_one();
        }
    }

    /// Lets the background task await commands.
    pub(crate) fn await_in_background(&self, commands: Vec<CommandFuture>) {
        self.jobs().commands.extend(commands);
        self.wake.notify_one();
    }

    /// Closes the contender of a claim whose end the server has confirmed. The hub then sends nothing, so the
    /// background task need not wake up. A wake-up for each operation would cost 7 percent of its time on Redis.
    pub(crate) fn close_ended_claim(&self, key: Key) {
        let (closed, _) = self.put(Awaits::Nothing, |state, _now| {
            state.close_contenders(Vec::from([key]))
        });
        for contender in closed {
            contender.wake();
        }
    }

    /// Lets the background task close a contender.
    pub(crate) fn close_in_background(&self, key: Key) {
        self.jobs().closing.push(key);
        self.wake.notify_one();
    }

    /// Lets the background task close the client: no clone, lock or grant of it is left.
    pub(crate) fn close_client_in_background(&self) {
        self.jobs().close_client = true;
        self.wake.notify_one();
    }

    /// The background task's turn: its jobs and, if its alarm has fired, timers. `starved` is how long the runtime was
    /// too busy to read replies.
    pub(crate) fn run_background(&self, timed_out: bool, starved: Duration) -> Turn {
        let mut jobs = BackgroundJobs::default();
        let mut late = Vec::new();
        let mut recalled = Vec::new();
        let ((), more) = self.put(Awaits::All, |state, now| {
            // This takes the jobs under the lock of the state, so an acquire finds a dropped contender either among the
            // jobs, or closed.
            jobs = mem::take(&mut *self.jobs());
            late = state.close_contenders(mem::take(&mut jobs.closing));
            state.postpone_releases(starved);
            if !timed_out {
                return;
            }
            recalled = state.delegations.recall(now);
            late.extend(state.give_back(now));
            state.hub.handle_timeout();
            while state.releases.front().is_some_and(|(due, _)| *due <= now) {
                let Some((_, key)) = state.releases.pop_front() else {
                    break;
                };
                if let Some(contender) = state.contenders.get(&key) {
                    contender.state().unconfirmed = true;
                    late.push(Arc::clone(contender));
                }
            }
        });
        for contender in late {
            contender.wake();
        }
        let mut commands = jobs.commands;
        commands.extend(recalled);
        commands.extend(more);
        Turn {
            commands,
            close_client: jobs.close_client,
            until: self.state().armed,
        }
    }

    /// The number of contenders that still wait for a reply of the server.
    pub(crate) fn pending(&self) -> usize {
        self.state().hub.pending()
    }

    /// The number of contenders that a closed client leaves: they still wait for a reply of the server, or the server
    /// still has their locks.
    pub(crate) fn left(&self) -> usize {
        let state = self.state();
        state.hub.pending().saturating_add(state.hub.unreleased())
    }
}

/// The next work of the background task.
pub(crate) struct Turn {
    pub(crate) commands: Vec<CommandFuture>,
    /// No clone, lock or grant of the client is left.
    pub(crate) close_client: bool,
    /// The time of the next work.
    pub(crate) until: Option<Instant>,
}
