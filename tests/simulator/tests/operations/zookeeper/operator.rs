//! An operator: issues tokens, registers, settles and deletes records; and a sweep.

use fencepost_core::{
    AcquireTimeout, CommandId, Event, Instant, Intent, Settings,
    claim::{Content, State, form},
    zookeeper::{Request, Write},
};
use fencepost_simulator::zookeeper::RECORD;

use super::{CLAIMANTS, Mutant, World, accepted, zookeeper};
use crate::promises::Broken;

/// The task of the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Task {
    #[default]
    Nothing,
    Issues,
    Registers,
    Looks,
    /// It has read a record with this guard.
    HasSeen(u64),
    Settles,
    Forgets,
}

impl World<'_> {
    /// Issues a token.
    pub(super) fn issue(&mut self) -> Result<(), Broken> {
        let settings = self.scope.issue("stock", b"form", self.theme.life);
        self.ask(Task::Issues, settings.expect("good settings"))
    }

    /// Runs the next step of the operator.
    pub(super) fn operate(&mut self) -> Result<(), Broken> {
        let operator = &self.clients[usize::from(CLAIMANTS)];
        if operator.paused {
            return Ok(());
        }
        let key = "stock";
        let token = self.theme.life.map(|_| &b"form"[..]);
        match self.truth.task {
            Task::Nothing if self.chance.percent(30) => {
                let content = content("registered");
                let settings = self.scope.register(key, token, b"print", content);
                self.ask(Task::Registers, settings.expect("good settings"))
            }
            Task::Nothing => {
                let settings = self.scope.look(key);
                self.ask(Task::Looks, settings.expect("good settings"))
            }
            Task::HasSeen(guard) if self.theme.operated && self.chance.percent(40) => {
                self.account.forgotten = true;
                let settings = self.scope.forget(key, guard);
                self.ask(Task::Forgets, settings.expect("good settings"))
            }
            Task::HasSeen(guard) if self.theme.operated => {
                let settings = self.scope.settle(key, guard, content("settled"));
                self.ask(Task::Settles, settings.expect("good settings"))
            }
            Task::HasSeen(_) => {
                self.truth.task = Task::Nothing;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn ask(&mut self, task: Task, settings: Settings) -> Result<(), Broken> {
        let acquire_timeout = match self.chance.below(3) {
            0 => AcquireTimeout::Try,
            1 => AcquireTimeout::For(core::time::Duration::from_millis(400)),
            _ => AcquireTimeout::Forever,
        };
        self.log(|| format!("the operator: {task:?}"));
        self.truth.task = task;
        let operator = &mut self.clients[usize::from(CLAIMANTS)];
        let local: Instant = operator.local(self.now);
        let hub = &mut operator.application.hub;
        let (owner, seed) = (self.chance.bits(), self.chance.bits());
        let owner = fencepost_core::ContenderId((u128::from(owner) | 1 << 127).to_be_bytes());
        let key = accepted_key(hub.open(local, zookeeper(settings), owner, seed))?;
        accepted(hub.intent(local, key, Intent::Acquire(acquire_timeout)))?;
        self.drain(CLAIMANTS)
    }

    /// Handles the answer to the operator's request.
    pub(super) fn operated(&mut self, event: &Event) -> Result<(), Broken> {
        let task = core::mem::take(&mut self.truth.task);
        match event {
            Event::Looked { record: Some(record) } if task == Task::Looks => {
                self.truth.task = Task::HasSeen(record.guard());
                if record.state == State::Done {
                    self.account.result(&record.result)?;
                }
            }
            Event::Completed { record } if task == Task::Registers => {
                self.seen.registrations += 1;
                self.account.registers(b"print")?;
                self.account.result(&record.result)?;
            }
            Event::Completed { record } if task == Task::Settles => {
                self.seen.settled += 1;
                self.account.result(&record.result)?;
            }
            Event::Completed { .. } if task == Task::Issues => self.truth.issued = true,
            Event::Looked { record: None } if task == Task::Forgets => self.seen.forgotten += 1,
            Event::Replayed { record } => self.account.result(&record.result)?,
            _ => {}
        }
        Ok(())
    }

    /// Deletes a freed record, like a sweep.
    pub(super) fn sweep(&mut self) -> Result<(), Broken> {
        let server = self.servers.server();
        let Some((bytes, stat)) = server.node(RECORD) else {
            return Ok(());
        };
        if form::decode(bytes) != Ok(None) {
            return Ok(());
        }
        let bucket = RECORD.rsplit_once('/').expect("a path").0;
        let mut writes = vec![Write::Delete {
            path: RECORD.into(),
            version: Some(stat.version),
        }];
        if self.mutant.is_none_or(Mutant::sweeps_well) {
            writes.push(Write::Set {
                path: bucket.into(),
                data: Vec::new(),
                version: None,
            });
        }
        let session = server.open_session();
        server.execute(session, CommandId(u64::MAX), Request::Multi { writes });
        server.end_session(session);
        self.seen.sweeps += 1;
        self.log(|| "the freed record is deleted".into());
        self.after_a_change()
    }
}

fn content(text: &str) -> Content {
    Content::new("text", text.into()).expect("a short text")
}

fn accepted_key<T>(key: Result<T, fencepost_core::Misuse>) -> Result<T, Broken> {
    key.map_err(|_misuse| Broken::Misuse)
}
