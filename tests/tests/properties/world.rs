//! A hub, what it has asked for, and a world that answers as it likes.

use core::time::Duration;

use fencepost_core::{
    CommandId, Failure, Instant, Intent, Key, Output, OwnerId, Patience, RawSettings, SessionId, Settings,
    lowered::{Hub, Notice, Operation, Outcome, Request},
    redis, zookeeper,
    zookeeper::{Answer, SessionState, Stat, WatchEvent},
};
use proptest::test_runner::TestCaseError;

use super::inputs::{Family, Step};

pub(crate) struct World {
    family: Family,
    hub: Hub,
    now: u64,
    keys: Vec<Key>,
    /// All commands; those without an outcome come first in `open`.
    commands: Vec<(CommandId, Request)>,
    open: Vec<usize>,
    /// Names of nodes in the lock's directory.
    nodes: Vec<String>,
    session: i64,
    numbers: u32,
    wait: Option<u64>,
    /// What was told, to see that machines got somewhere.
    pub(crate) events: Vec<&'static str>,
}

type Checked = Result<(), TestCaseError>;

/// How much may come out for one input: a burst a machine (the longest is a leave: refusal, delete, barrier, list; or an entry with the
/// directories above), the hub's own, and one delete for every name in a list.
const fn bound(machines: usize, names: usize) -> usize {
    8 + 16 * (machines + 1) + names
}

impl World {
    pub(crate) fn new(family: Family) -> Self {
        let name = match family {
            Family::ZooKeeper => "zookeeper",
            Family::Redis => "redis",
        };
        let mut world = Self {
            family,
            hub: Hub::new(name, 1).unwrap(),
            now: 1_000_000,
            keys: Vec::new(),
            commands: Vec::new(),
            open: Vec::new(),
            nodes: vec!["lock-0000000001".into(), "notes".into()],
            session: 1,
            numbers: 1,
            wait: None,
            events: Vec::new(),
        };
        world.session_is(SessionState::Connected, 1, 9_000_000);
        world.put(&Step::Open);
        world
    }

    /// Puts a step in, takes everything out, and checks what holds after every input.
    pub(crate) fn take(&mut self, step: &Step) -> Checked {
        self.put(step);
        self.drain()
    }

    /// Closes everything, answers everything, and checks that nothing is left.
    pub(crate) fn shut_down(&mut self) -> Checked {
        self.hub.shutdown(Instant::from_micros(self.now));
        self.drain()?;
        for _ in 0..200 {
            if self.hub.pending() == 0 {
                return Ok(());
            }
            self.session_is(SessionState::Connected, self.session, 9_000_000);
            self.drain()?;
            for at in core::mem::take(&mut self.open) {
                let (id, request) = self.commands[at].clone();
                self.reply(id, &request, 0);
                self.drain()?;
            }
            self.now = self.wait.unwrap_or(self.now).max(self.now);
            self.hub.handle_timeout(Instant::from_micros(self.now));
            self.drain()?;
        }
        Err(TestCaseError::fail(format!(
            "{} machines are left: {:?}",
            self.hub.pending(),
            self.hub
        )))
    }

    fn drain(&mut self) -> Checked {
        let most = bound(self.keys.len(), self.nodes.len());
        for _ in 0..most {
            match self.hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    self.open.push(self.commands.len());
                    self.commands.push((command.id, command.request));
                }
                (_, Output::Event(event)) => self.events.push(event.name()),
                (_, Output::Wait(wait)) => {
                    let again = self.hub.poll_output(None);
                    if again != (Key::HUB, Output::Wait(wait)) {
                        return Err(TestCaseError::fail(format!("{wait:?}, then {again:?}")));
                    }
                    self.wait = wait.until.map(Instant::as_micros);
                    return Ok(());
                }
                (_, other) => return Err(TestCaseError::fail(format!("{other:?}"))),
            }
        }
        Err(TestCaseError::fail(format!("more than {most} outputs")))
    }

    fn put(&mut self, step: &Step) {
        let now = Instant::from_micros(self.now);
        match *step {
            Step::Open => {
                let owner = OwnerId(u128::try_from(self.keys.len()).unwrap().to_be_bytes());
                if let Ok(key) = self.hub.open(now, &settings(self.family), owner, 5) {
                    self.keys.push(key);
                }
            }
            Step::Intent { machine, intent } => {
                let intent = match intent % 10 {
                    0..=2 => Intent::Acquire(Patience::Forever),
                    3 => Intent::Acquire(Patience::Try),
                    4 => Intent::Acquire(Patience::For(Duration::from_millis(u64::from(intent)))),
                    5..=7 => Intent::Release,
                    8 => Intent::Extend,
                    _ => Intent::Cancel,
                };
                // A misuse is an answer, too.
                let _verdict = self.hub.intent(now, self.key(machine), intent);
            }
            Step::Answer { command, variant } => {
                if let Some(at) = self.any_open(command) {
                    let (id, request) = self.commands[at].clone();
                    self.reply(id, &request, variant);
                }
            }
            Step::Babble { command, variant } => {
                let id = self.any_command(command);
                let outcome = self.babble(variant);
                let _verdict = self.hub.handle_outcome(now, id, outcome);
            }
            Step::Fail { command, failure } => {
                let failure = [
                    Failure::Unknown,
                    Failure::NotSent,
                    Failure::Unknown,
                    Failure::Closed,
                ][usize::from(failure % 4)];
                let id = match self.any_open(command) {
                    Some(at) => self.commands[at].0,
                    None => self.any_command(command),
                };
                let _verdict = self.hub.handle_outcome(now, id, Outcome::Failed(failure));
            }
            Step::Session {
                state,
                session,
                timeout,
            } => {
                let state = match state % 32 {
                    0..=18 => SessionState::Connected,
                    19..=28 => SessionState::Suspended,
                    29 | 30 => SessionState::Expired,
                    _ if timeout.is_multiple_of(4) => SessionState::AuthFailed,
                    _ => SessionState::Closed,
                };
                if state == SessionState::Expired || session.is_multiple_of(32) {
                    self.session += 1;
                    self.nodes.retain(|node| !node.starts_with("_c_"));
                }
                let timeout = match timeout {
                    0..8 => 0,
                    8..16 => u64::MAX,
                    _ => 9_000_000,
                };
                self.session_is(state, self.session, timeout);
            }
            Step::Vanish => self.vanish(),
            Step::Notice {
                command,
                session,
                event,
            } => {
                let id = self.any_command(command);
                let notice = self.notice(id, session, event);
                let _verdict = self.hub.handle_notice(now, notice);
            }
            Step::Advance { micros } => {
                self.now = self.now.saturating_add(micros.into());
                self.hub.handle_timeout(Instant::from_micros(self.now));
            }
            Step::GoBack { micros } => {
                let before = Instant::from_micros(self.now.saturating_sub(micros.into()));
                self.hub.handle_timeout(before);
            }
            Step::UntilWait => {
                // A wait without end, from a timeout without end, is not waited for.
                let until = self.wait.filter(|until| *until < 1 << 60);
                self.now = until.unwrap_or(self.now).max(self.now);
                self.hub.handle_timeout(Instant::from_micros(self.now));
            }
            Step::Close { machine } => self.hub.close(now, self.key(machine)),
            Step::PollOnly { machine } => {
                // What is polled for one machine has to be polled for it alone; drained afterwards, so nothing is lost.
                let (key, output) = self.hub.poll_output(Some(self.key(machine)));
                assert!(key == Key::HUB || key == self.key(machine), "{output:?}");
                if let Output::Command(command) = output {
                    self.open.push(self.commands.len());
                    self.commands.push((command.id, command.request));
                }
            }
            Step::Shutdown => self.hub.shutdown(now),
        }
    }

    fn key(&self, machine: u8) -> Key {
        // Mostly one of the latest.
        match self.keys.iter().rev().nth(usize::from(machine % 3)) {
            Some(key) if machine < 250 => *key,
            _ => Key(u64::from(machine)),
        }
    }

    fn any_open(&mut self, command: u8) -> Option<usize> {
        if self.open.is_empty() {
            return None;
        }
        // Mostly in order, as servers answer.
        let at = if command < 200 {
            0
        } else {
            usize::from(command) % self.open.len()
        };
        Some(self.open.remove(at))
    }

    fn any_command(&self, command: u8) -> CommandId {
        match self.commands.iter().rev().nth(usize::from(command % 32)) {
            Some((id, _)) if command < 250 => *id,
            _ => CommandId(u64::from(command)),
        }
    }

    /// An answer in the command's own shape; variant 0 is what a healthy server says to somebody who leaves.
    fn reply(&mut self, id: CommandId, request: &Request, variant: u8) {
        let outcome = match self.family {
            Family::ZooKeeper => {
                let session = SessionId(self.session);
                let answer = self.answer(request, variant);
                Outcome::ZooKeeper(zookeeper::Reply { session, answer })
            }
            Family::Redis => Outcome::Redis(redis_reply(variant)),
        };
        let _verdict = self
            .hub
            .handle_outcome(Instant::from_micros(self.now), id, outcome);
    }

    fn answer(&mut self, request: &Request, variant: u8) -> Answer {
        if variant >= 240 {
            let codes = [
                -1, -4, -6, -7, -101, -102, -108, -110, -112, -115, -118, -127, 0, 7,
            ];
            return Answer::Error(codes[usize::from(variant) % codes.len()]);
        }
        match request.operation {
            Operation::Create => {
                self.numbers += 1;
                let mut path = request.path.clone();
                if request.flags == 1 {
                    path += &format!("{:010}", self.numbers);
                    let name = path.rsplit('/').next().unwrap().to_owned();
                    self.nodes.push(name);
                }
                Answer::Created {
                    path,
                    zxid: i64::from(self.numbers),
                }
            }
            Operation::Children => {
                let hide = usize::from(variant % 3);
                Answer::Children(
                    self.nodes
                        .iter()
                        .skip(hide * variant as usize / 8)
                        .cloned()
                        .collect(),
                )
            }
            Operation::Get if variant % 4 == 1 => Answer::Error(-101),
            Operation::Get => Answer::Data {
                data: Vec::new(),
                stat: Stat {
                    czxid: i64::from(variant),
                    ephemeral_owner: if variant % 4 == 2 { 99 } else { self.session },
                    version: 0,
                },
            },
            Operation::Delete => {
                let gone = request.path.rsplit('/').next().unwrap();
                self.nodes.retain(|node| node != gone);
                Answer::Done
            }
            _ => Answer::Done,
        }
    }

    fn babble(&self, variant: u8) -> Outcome {
        let answer = match variant % 9 {
            0 => Answer::Done,
            1 => Answer::Children(self.nodes.clone()),
            2 => Answer::Children(vec![
                String::new(),
                "/".into(),
                "lock-".into(),
                "lock--2147483648".into(),
            ]),
            3 => Answer::Created {
                path: "no path".into(),
                zxid: -1,
            },
            4 => Answer::Error(i32::from(variant) - 130),
            _ => return Outcome::Redis(redis_reply(variant)),
        };
        Outcome::ZooKeeper(zookeeper::Reply {
            session: SessionId(i64::from(variant % 4)),
            answer,
        })
    }

    fn vanish(&mut self) {
        let number = |node: &&String| {
            node.rsplit("lock-")
                .next()
                .and_then(|text| text.parse::<u32>().ok())
        };
        let Some(gone) = self
            .nodes
            .iter()
            .filter(|node| number(node).is_some())
            .min_by_key(number)
            .cloned()
        else {
            return;
        };
        self.nodes.retain(|node| *node != gone);
        let watches = self
            .commands
            .iter()
            .filter(|(_, request)| request.flags == 4 && request.path.ends_with(&gone));
        for id in watches.map(|(id, _)| *id).collect::<Vec<_>>() {
            let notice = self.notice(id, 1, 0);
            let _verdict = self.hub.handle_notice(Instant::from_micros(self.now), notice);
        }
    }

    fn notice(&self, id: CommandId, session: u8, event: u8) -> Notice {
        let zookeeper = (self.family == Family::ZooKeeper) != (event == u8::MAX);
        if !zookeeper {
            return Notice::Redis(if event.is_multiple_of(3) {
                redis::Notice::Gone { id }
            } else {
                redis::Notice::Message { id }
            });
        }
        let session = if session.is_multiple_of(8) {
            i64::from(session)
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

    fn session_is(&mut self, state: SessionState, session: i64, timeout: u64) {
        let notice = Notice::ZooKeeper(zookeeper::Notice::Session {
            state,
            session: SessionId(session),
            timeout: Duration::from_micros(timeout),
        });
        let _verdict = self.hub.handle_notice(Instant::from_micros(self.now), notice);
    }
}

fn redis_reply(variant: u8) -> redis::Reply {
    use redis::Reply::{Array, Bytes, Error, Int, Nil};
    match variant % 16 {
        0 | 1 => Array(vec![Int(1), Bytes(b"17".to_vec())]),
        2 => Array(vec![Int(0), Int(i64::from(variant))]),
        3 => Array(vec![Int(0), Int(-1)]),
        4 => Array(vec![Int(0), Int(i64::MAX)]),
        5 => Array(vec![Int(0), Bytes(b"x".to_vec())]),
        6 => Array(vec![Int(0), Nil]),
        7 => Array(vec![Int(2)]),
        8 => Int(1),
        9 => Nil,
        10 => Error("NOSCRIPT".into()),
        11 => Error("LOADING".into()),
        12 => Error("NOPERM".into()),
        13 => Error(String::new()),
        14 => Array(Vec::new()),
        _ => Bytes(vec![0xff, 0]),
    }
}

fn settings(family: Family) -> Settings {
    let name = String::from("stock");
    let raw = match family {
        Family::ZooKeeper => RawSettings::ZookeeperMutex {
            name,
            prefix: "shop".into(),
            answer_within: None,
            max_hold: Some(20_000_000),
        },
        Family::Redis => RawSettings::RedisString {
            name,
            ttl: Some(3_000_000),
            margin: None,
            renew: None,
            poll: None,
            answer_within: None,
            max_hold: Some(20_000_000),
        },
    };
    Settings::try_from(raw).unwrap()
}
