//! One hub type for any family.

use crate::{
    CommandId, ConfigError, ContenderId, Event, Failure, Instant, Intent, Key, Misuse, Output, Settings, hub,
    redis, zookeeper,
};

use super::request::Request;

/// What [`Hub::poll_output`] returns: the machine's key and its output.
pub type HubOutput = (Key, Output<Request, Event>);

/// The outcome of a command, in the typed form of its family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A ZooKeeper server answered.
    ZooKeeper(zookeeper::Reply),
    /// A Redis server answered.
    Redis(redis::Reply),
    /// No server answered.
    Failed(Failure),
}

/// A notice that a server or connection sends without a request, in the typed form of its family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A notice of ZooKeeper.
    ZooKeeper(zookeeper::Notice),
    /// A notice of Redis.
    Redis(redis::Notice),
}

/// A hub for the machines of one family.
#[derive(Debug)]
pub struct Hub(Inner);

#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a client has one; the lint sees it on 32 bits only"
)]
enum Inner {
    ZooKeeper(hub::Hub<zookeeper::ZooKeeper>),
    Redis(hub::Hub<redis::Redis>),
}

macro_rules! each {
    ($self:expr, $hub:ident => $body:expr) => {
        match $self {
            Inner::ZooKeeper($hub) => $body,
            Inner::Redis($hub) => $body,
        }
    };
}

impl Hub {
    /// A hub for `family`: `zookeeper` or `redis`.
    ///
    /// # Errors
    /// [`ConfigError::UnknownOption`] for any other name.
    pub fn new(family: &str, seed: u64) -> Result<Self, ConfigError> {
        match family {
            "zookeeper" => Ok(Self(Inner::ZooKeeper(hub::Hub::new(seed)))),
            "redis" => Ok(Self(Inner::Redis(hub::Hub::new(seed)))),
            _ => Err(ConfigError::UnknownOption {
                option: family.into(),
                known: "the families are zookeeper and redis".into(),
            }),
        }
    }

    /// The hub's family.
    #[must_use]
    pub const fn family(&self) -> &'static str {
        match self.0 {
            Inner::ZooKeeper(_) => "zookeeper",
            Inner::Redis(_) => "redis",
        }
    }

    /// See [`hub::Hub::open`].
    ///
    /// # Errors
    /// [`Misuse::WrongFamily`] for settings of another family; [`Misuse::Closed`] after a shutdown.
    pub fn open(
        &mut self,
        now: Instant,
        settings: &Settings,
        contender: ContenderId,
        seed: u64,
    ) -> Result<Key, Misuse> {
        match (&mut self.0, settings) {
            (Inner::ZooKeeper(hub), Settings::ZooKeeper(machine)) => {
                hub.open(now, machine.clone(), contender, seed)
            }
            (Inner::Redis(hub), Settings::Redis(machine)) => hub.open(now, machine.clone(), contender, seed),
            _ => Err(self.wrong_family()),
        }
    }

    /// See [`hub::Hub::intent`].
    ///
    /// # Errors
    /// [`Misuse`] for an unknown key, or for an intent that the machine's state does not allow.
    pub fn intent(&mut self, now: Instant, key: Key, intent: Intent) -> Result<(), Misuse> {
        each!(&mut self.0, hub => hub.intent(now, key, intent))
    }

    /// See [`hub::Hub::handle_outcome`].
    ///
    /// # Errors
    /// [`Misuse`] for an id that was never issued, or a reply of the wrong shape.
    pub fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome) -> Result<(), Misuse> {
        match (&mut self.0, outcome) {
            (Inner::ZooKeeper(hub), Outcome::ZooKeeper(reply)) => {
                hub.handle_outcome(now, id, crate::Outcome::Reply(reply))
            }
            (Inner::Redis(hub), Outcome::Redis(reply)) => {
                hub.handle_outcome(now, id, crate::Outcome::Reply(reply))
            }
            (inner, Outcome::Failed(failure)) => {
                each!(inner, hub => hub.handle_outcome(now, id, crate::Outcome::Failed(failure)))
            }
            _ => Err(self.wrong_family()),
        }
    }

    /// See [`hub::Hub::handle_notice`].
    ///
    /// # Errors
    /// [`Misuse`] for a command that was never issued, or a notice of another family.
    pub fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        match (&mut self.0, notice) {
            (Inner::ZooKeeper(hub), Notice::ZooKeeper(notice)) => hub.handle_notice(now, notice),
            (Inner::Redis(hub), Notice::Redis(notice)) => hub.handle_notice(now, notice),
            _ => Err(self.wrong_family()),
        }
    }

    /// See [`hub::Hub::handle_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        each!(&mut self.0, hub => hub.handle_timeout(now));
    }

    /// See [`hub::Hub::poll_output`].
    #[must_use]
    pub fn poll_output(&mut self, only: Option<Key>) -> HubOutput {
        each!(&mut self.0, hub => {
            let (key, output) = hub.poll_output(only);
            (key, output.with_request())
        })
    }

    /// See [`hub::Hub::close`].
    pub fn close(&mut self, now: Instant, key: Key) -> Option<Key> {
        each!(&mut self.0, hub => hub.close(now, key))
    }

    /// See [`hub::Hub::serves`].
    #[must_use]
    pub fn serves(&self, key: Key) -> bool {
        each!(&self.0, hub => hub.serves(key))
    }

    /// See [`hub::Hub::shutdown`].
    pub fn shutdown(&mut self, now: Instant) {
        each!(&mut self.0, hub => hub.shutdown(now));
    }

    /// See [`hub::Hub::pending`].
    #[must_use]
    pub fn pending(&self) -> usize {
        each!(&self.0, hub => hub.pending())
    }

    /// See [`hub::Hub::unreleased`].
    #[must_use]
    pub fn unreleased(&self) -> usize {
        each!(&self.0, hub => hub.unreleased())
    }

    const fn wrong_family(&self) -> Misuse {
        Misuse::WrongFamily {
            expected: self.family(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AcquireTimeout, RawSettings};

    const NOW: Instant = Instant::from_micros(1_000_000);

    /// Reports this outcome for all commands.
    fn answer(hub: &mut Hub, outcome: &Outcome) {
        loop {
            match hub.poll_output(None) {
                (_, Output::Command(command)) => {
                    hub.handle_outcome(NOW, command.id, outcome.clone()).unwrap()
                }
                (_, Output::Event(_)) => {}
                (_, Output::Wait(_)) => break,
            }
        }
    }

    fn open(hub: &mut Hub, name: &str) -> Key {
        let settings = RawSettings::machine("redis-string").with("name", name);
        let settings = Settings::try_from(settings).unwrap();
        hub.open(NOW, &settings, ContenderId([1; 16]), 3).unwrap()
    }

    #[test]
    fn a_key_is_served_until_it_is_closed() {
        let mut hub = Hub::new("redis", 7).unwrap();
        let key = open(&mut hub, "stock");
        assert!(hub.serves(key));
        assert_eq!(hub.close(NOW, key), Some(key));
        assert!(!hub.serves(key));
    }

    #[test]
    fn the_grants_that_a_shutdown_leaves_are_counted() {
        let mut hub = Hub::new("redis", 7).unwrap();
        for name in ["stock", "till"] {
            let key = open(&mut hub, name);
            hub.intent(NOW, key, Intent::Acquire(AcquireTimeout::Forever))
                .unwrap();
        }
        let granted = [redis::Reply::Int(1), redis::Reply::Bytes(b"9".to_vec())];
        answer(&mut hub, &Outcome::Redis(redis::Reply::Array(granted.into())));
        hub.shutdown(NOW);
        assert_eq!((hub.pending(), hub.unreleased()), (2, 0));
        answer(&mut hub, &Outcome::Failed(Failure::Closed));
        assert_eq!((hub.pending(), hub.unreleased()), (0, 2));
    }
}
