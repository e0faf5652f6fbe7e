//! The hub's inputs: the steps of a story, and the machine or command of each.

use core::time::Duration;

use fencepost_core::{
    CommandId, ContenderId, Instant, Key, Misuse, Output, SessionId, Settings,
    lowered::{Notice, Outcome},
    redis,
    zookeeper::{self, SessionState, WatchEvent},
};

use crate::{
    contender::Account,
    step::{NewSession, Step, intent_name},
    values::{depth, plain},
};

use super::{Asked, World, bound};

impl World {
    pub(super) fn put(&mut self, step: Step) -> Result<(), Misuse> {
        let now = Instant::from_micros(self.now);
        self.input = (step.name(), "");
        match step {
            Step::Open => self.open(&plain(self.hub.family(), self.contenders.len()), 5),
            Step::OpenWith(raw, seed) => match Settings::try_from((*raw).clone()) {
                Ok(settings) => {
                    self.depth = self.depth.max(depth(&raw));
                    self.open(&settings, seed)
                }
                Err(error) => {
                    self.saw(error.name());
                    Ok(())
                }
            },
            Step::Intent(machine, intent) => {
                let key = self.key(machine);
                self.input.1 = intent_name(&intent);
                self.hub.intent(now, key, intent.clone())?;
                let contender = self.contenders.get_mut(&key);
                contender
                    .unwrap_or_else(|| panic!("{key:?} was never opened"))
                    .accepted(&intent);
                Ok(())
            }
            Step::Answer(command, variant) => match self.any_open(command) {
                Some(at) => self.answer(at, variant),
                None => Ok(()),
            },
            Step::Fail(command, failure) => match self.any_open(command) {
                Some(at) => {
                    self.input = (self.commands[at].request.operation.name(), failure.name());
                    self.settle(at, Outcome::Failed(failure))
                }
                None => Ok(()),
            },
            Step::Babble(command, outcome) => match self.open_or_any(command) {
                Some(at) => self.settle(at, outcome),
                None => self.hub.handle_outcome(now, CommandId(command.into()), outcome),
            },
            Step::Again(command, outcome) => self.again(command, outcome),
            Step::NeverIssued(id, outcome) => {
                let verdict = self.hub.handle_outcome(now, id, outcome);
                assert!(verdict.is_err(), "an outcome for {id:?} was taken");
                verdict
            }
            Step::Session(state, session, timeout) => self.session(state, session, timeout),
            Step::Vanish => self.vanish(),
            Step::Notice(command, session, event) => {
                let id = match self.any_command(command) {
                    Some(at) => self.commands[at].id,
                    None => CommandId(command.into()),
                };
                let notice = self.notice(id, session, event);
                self.hub.handle_notice(now, notice)
            }
            Step::NoticeOfNothing(id, event) => {
                let notice = self.notice(id, 1, event);
                let verdict = self.hub.handle_notice(now, notice);
                assert!(verdict.is_err(), "a notice for {id:?} was taken");
                verdict
            }
            Step::Advance(micros) => {
                self.now = self.now.saturating_add(micros);
                self.hub.handle_timeout(Instant::from_micros(self.now));
                Ok(())
            }
            Step::GoBack(micros) => {
                self.now = self.now.saturating_sub(micros);
                self.hub.handle_timeout(Instant::from_micros(self.now));
                Ok(())
            }
            Step::UntilWait => {
                // Do not wait for a timeout without an end.
                let until = self
                    .until
                    .filter(|until| until.saturating_sub(self.now) < 1 << 60);
                self.now = until.unwrap_or(self.now).max(self.now);
                self.hub.handle_timeout(Instant::from_micros(self.now));
                Ok(())
            }
            Step::Close(machine) => {
                let key = self.key(machine);
                if let Some(unused) = self.hub.close(now, key) {
                    assert!(self.unused.insert(unused), "{unused:?} was returned before");
                    assert!(!self.hub.serves(unused));
                }
                self.contenders.entry(key).and_modify(Account::close);
                Ok(())
            }
            Step::PollOnly(machine) => {
                let key = self.key(machine);
                while !self.poll(Some(key)) {}
                Ok(())
            }
            Step::Hold(inputs) => {
                self.hold = inputs;
                Ok(())
            }
            Step::Shutdown => {
                self.shut_down();
                Ok(())
            }
        }
    }

    pub(super) fn open(&mut self, settings: &Settings, seed: u64) -> Result<(), Misuse> {
        let owner = ContenderId((self.contenders.len() as u128).to_be_bytes());
        let key = self
            .hub
            .open(Instant::from_micros(self.now), settings, owner, seed)?;
        let newest = self.contenders.keys().next_back();
        assert!(
            newest.is_none_or(|newest| *newest < key),
            "{key:?} was given before"
        );
        self.contenders.insert(key, Account::of(settings));
        Ok(())
    }

    pub(super) fn shut_down(&mut self) {
        self.hub.shutdown(Instant::from_micros(self.now));
        self.contenders.values_mut().for_each(Account::close);
    }

    /// Passes an answer that fits the command.
    pub(super) fn answer(&mut self, at: usize, variant: u8) -> Result<(), Misuse> {
        let request = self.commands[at].request.clone();
        let (outcome, how) = if self.is_zookeeper() {
            let (answer, how) = self.directory.answer(&request, variant, self.session);
            let session = SessionId(self.session);
            (Outcome::ZooKeeper(zookeeper::Reply { session, answer }), how)
        } else {
            let (reply, how) = crate::redis::reply(&request, variant);
            (Outcome::Redis(reply), how)
        };
        self.input = (request.operation.name(), how);
        self.settle(at, outcome)
    }

    pub(super) fn settle(&mut self, at: usize, outcome: Outcome) -> Result<(), Misuse> {
        if let Outcome::ZooKeeper(zookeeper::Reply {
            answer: zookeeper::Answer::Children(names),
            ..
        }) = &outcome
        {
            let own = names.iter().filter(|name| name.starts_with("_c_"));
            self.directory.ever.extend(own.cloned());
            self.budget += self.directory.ever.len();
        }
        let id = self.commands[at].id;
        let verdict = self
            .hub
            .handle_outcome(Instant::from_micros(self.now), id, outcome);
        if !matches!(verdict, Err(Misuse::WrongFamily { .. })) {
            self.open.retain(|open| *open != at);
            self.commands[at].settled = true;
        }
        verdict
    }

    /// Passes an outcome for a command that already has one, which must change nothing.
    pub(super) fn again(&mut self, command: u8, outcome: Outcome) -> Result<(), Misuse> {
        let settled = self.commands.iter().rev().filter(|asked| asked.settled);
        let Some(id) = settled.map(|asked| asked.id).nth(command.into()) else {
            return Ok(());
        };
        self.drain();
        let before = self.wait.take().unwrap_or_default();
        self.hub
            .handle_outcome(Instant::from_micros(self.now), id, outcome)?;
        let after = self.hub.poll_output(None);
        assert_eq!(
            after,
            (Key::HUB, Output::Wait(before)),
            "{id:?} was settled before"
        );
        Ok(())
    }

    pub(super) fn session(
        &mut self,
        state: SessionState,
        which: NewSession,
        timeout: Duration,
    ) -> Result<(), Misuse> {
        if state == SessionState::Expired || matches!(which, NewSession::New) {
            self.session += 1;
            self.directory.end_session();
        }
        let session = match which {
            NewSession::Same | NewSession::New => self.session,
            NewSession::Odd(session) => session,
        };
        let notice = zookeeper::Notice::Session {
            state,
            session: SessionId(session),
            timeout,
        };
        self.hub
            .handle_notice(Instant::from_micros(self.now), Notice::ZooKeeper(notice))
    }

    pub(super) fn vanish(&mut self) -> Result<(), Misuse> {
        let Some(gone) = self.directory.remove_first().filter(|_| self.is_zookeeper()) else {
            return Ok(());
        };
        let above = gone.rsplit_once('/').map(|(above, _)| above);
        let watches = |asked: &&Asked| {
            let path = asked.request.path.as_str();
            asked.request.flags == 4 && (path.ends_with(&gone) || Some(path) == above)
        };
        let told = self.commands.iter().filter(watches).map(|asked| asked.id);
        for id in told.collect::<Vec<_>>() {
            self.budget += bound(self.hub.pending() + 1, self.depth, self.directory.ever.len());
            let notice = self.notice(id, 1, 0);
            self.hub.handle_notice(Instant::from_micros(self.now), notice)?;
        }
        Ok(())
    }

    pub(super) fn notice(&self, id: CommandId, session: u8, event: u8) -> Notice {
        if self.is_zookeeper() == (event == u8::MAX) {
            return Notice::Redis(redis::Notice::Message { id });
        }
        if !self.is_zookeeper() {
            return Notice::Redis(if event.is_multiple_of(3) {
                redis::Notice::Gone { id }
            } else {
                redis::Notice::Message { id }
            });
        }
        let session = if session.is_multiple_of(16) {
            session.into()
        } else {
            self.session
        };
        let event = [WatchEvent::Deleted, WatchEvent::Changed, WatchEvent::Gone][usize::from(event % 3)];
        Notice::ZooKeeper(zookeeper::Notice::Watch {
            id,
            session: SessionId(session),
            event,
        })
    }

    /// A machine: mostly one of the latest.
    pub(super) fn key(&self, machine: u8) -> Key {
        match self.contenders.keys().rev().nth(usize::from(machine % 3)) {
            Some(key) if machine < 250 => *key,
            _ => Key(u64::from(machine)),
        }
    }

    /// A pending command, mostly the first one, in the order of a server.
    pub(super) fn any_open(&self, command: u8) -> Option<usize> {
        let at = if command < 200 {
            0
        } else {
            usize::from(command) % self.open.len().max(1)
        };
        self.open.get(at).copied()
    }

    pub(super) fn open_or_any(&self, command: u8) -> Option<usize> {
        let open = self.open.get(usize::from(command) % self.open.len().max(1));
        open.copied()
            .filter(|_| command < 180)
            .or_else(|| self.any_command(command))
    }

    pub(super) fn any_command(&self, command: u8) -> Option<usize> {
        let back = usize::from(command % 32) + 1;
        self.commands.len().checked_sub(back).filter(|_| command < 250)
    }
}
