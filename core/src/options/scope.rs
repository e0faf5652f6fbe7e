//! A scope of idempotent operations: a set of keys, and the rules for all its operations.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::{
    ConfigError, RawSettings, Settings,
    claim::{Claim, Content, DEFAULT_LIFE, Issue, Name, Policy, Step, Update, UpdateId, name},
    lease,
    redis::{self, LeaseSettings},
    settings::duration,
    text::shown,
    time::millis_up,
    zookeeper,
};

use super::{Draft, Kind, Server, raw::elsewhere};

/// The default lease of a claim.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
/// The default retention of a record: a day.
pub const DEFAULT_RETENTION: Duration = Duration::from_secs(86_400);
/// The longest fingerprint or binding, in bytes. Both should be digests.
pub const MAX_DIGEST: usize = 1024;

/// The checked settings of all operations of a scope. A scope makes the settings of each request, and does not repeat
/// the checks of its own settings.
#[derive(Clone, Debug)]
pub struct Scope {
    scope: String,
    policy: Policy,
    retention: u64,
    place: Place,
    make: Make,
}

/// The part of the settings that depends on the server.
#[derive(Clone, Debug)]
enum Place {
    Redis(LeaseSettings),
    ZooKeeper { prefix: String, answer_within: Duration },
}

/// Makes the settings of one request. This is a function pointer, so that a program for one family does not contain the
/// code of the other.
type Make = fn(&Place, Asked<'_>) -> Result<Settings, ConfigError>;

enum Asked<'a> {
    Claim(Name, Claim),
    Step(Name, Step),
    Sweep { scope: &'a str },
}

impl TryFrom<RawSettings> for Scope {
    type Error = ConfigError;

    /// Converts the options of a claim; `scope` is required.
    fn try_from(raw: RawSettings) -> Result<Self, ConfigError> {
        match raw.kind()? {
            (Server::Redis, kind) => raw.draft(Server::Redis, kind)?.scope_on_redis(),
            (server, kind) => raw.draft(server, kind)?.scope_on_zookeeper(),
        }
    }
}

impl Scope {
    /// The scope, for a program that has only machines for Redis.
    ///
    /// # Errors
    /// The same as for `try_from`; also an error for settings of another server.
    pub fn for_redis(raw: RawSettings) -> Result<Self, ConfigError> {
        match raw.kind()? {
            (Server::Redis, kind) => raw.draft(Server::Redis, kind)?.scope_on_redis(),
            _ => Err(elsewhere(Server::Redis)),
        }
    }

    /// The scope, for a program that has only machines for ZooKeeper or `memory:`.
    ///
    /// # Errors
    /// The same as for `try_from`; also an error for settings of Redis.
    pub fn for_zookeeper(raw: RawSettings) -> Result<Self, ConfigError> {
        match raw.kind()? {
            (Server::Redis, _) => Err(elsewhere(Server::ZooKeeper)),
            (server, kind) => raw.draft(server, kind)?.scope_on_zookeeper(),
        }
    }

    /// A claim on the operation `key`. `fingerprint` is a digest of the operation's arguments.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a key or a fingerprint that is empty or too long.
    pub fn claim(&self, key: &str, fingerprint: &[u8]) -> Result<Settings, ConfigError> {
        self.claim_of(key, self.request(fingerprint)?)
    }

    /// A claim with an issued token. The token must have this binding.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`], as for a claim.
    pub fn consume(&self, token: &str, binding: &[u8], fingerprint: &[u8]) -> Result<Settings, ConfigError> {
        let token_binding = Some(digest("binding", binding)?);
        self.claim_of(
            token,
            Claim {
                token: token_binding,
                ..self.request(fingerprint)?
            },
        )
    }

    /// Makes a token, which a claim may consume within `life` (ten minutes by default).
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`], as for a claim.
    pub fn issue(
        &self,
        token: &str,
        binding: &[u8],
        life: Option<Duration>,
    ) -> Result<Settings, ConfigError> {
        let issue = Issue {
            binding: digest("binding", binding)?,
            life: life.map_or(DEFAULT_LIFE, millis_up).max(1),
            retention: self.retention,
        };
        self.step(token, Step::Issue(issue))
    }

    /// Claims and completes in one request: for a result that the program already knows. With the binding of an issued
    /// token, the request uses up the token.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`], as for a claim.
    pub fn register(
        &self,
        key: &str,
        binding: Option<&[u8]>,
        fingerprint: &[u8],
        content: Content,
    ) -> Result<Settings, ConfigError> {
        let claim = Claim {
            token: binding.map(|binding| digest("binding", binding)).transpose()?,
            ..self.request(fingerprint)?
        };
        self.step(key, Step::Register(claim, content))
    }

    /// Replaces the value at `key`, if it has the version `expected` (0: if there is no value). `operation` identifies
    /// the update: the server does not apply a repeated update again.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`], as for a claim.
    pub fn update(
        &self,
        key: &str,
        operation: &str,
        expected: u64,
        fingerprint: &[u8],
        content: Content,
    ) -> Result<Settings, ConfigError> {
        let update = Update {
            id: UpdateId::new(operation)?,
            expected,
            fingerprint: digest("fingerprint", fingerprint)?,
            retention: self.retention,
            content,
        };
        self.step(key, Step::Update(update))
    }

    /// Reads the record of an operation, or a value.
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a key that is empty or too long.
    pub fn look(&self, key: &str) -> Result<Settings, ConfigError> {
        self.step(key, Step::Look)
    }

    /// An operator stores a result of the operation. `guard` is the guard of the record that the operator has read: see
    /// [`Record::guard`](crate::claim::Record::guard).
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a key that is empty or too long.
    pub fn settle(&self, key: &str, guard: u64, content: Content) -> Result<Settings, ConfigError> {
        self.step(key, Step::Settle { guard, content })
    }

    /// An operator deletes the record. `guard` is as for [`settle`](Self::settle).
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a key that is empty or too long.
    pub fn forget(&self, key: &str, guard: u64) -> Result<Settings, ConfigError> {
        self.step(key, Step::Forget { guard })
    }

    /// Deletes the records of the scope that were freed or are past their retention. On Redis the server expires
    /// records without a sweep, so the machine reports at once that it has deleted none.
    ///
    /// # Errors
    /// None, because the scope is already checked.
    pub fn sweep(&self) -> Result<Settings, ConfigError> {
        (self.make)(&self.place, Asked::Sweep { scope: &self.scope })
    }

    /// A key for one step of an operation at another service: see [`Name::derive`].
    ///
    /// # Errors
    /// [`ConfigError::InvalidOption`] for a key that is empty or too long.
    pub fn derive(&self, key: &str, step: &str) -> Result<String, ConfigError> {
        Ok(Name::new(&self.scope, key)?.derive(step))
    }

    fn request(&self, fingerprint: &[u8]) -> Result<Claim, ConfigError> {
        let lease = match &self.place {
            Place::Redis(lease) => millis_up(lease.ttl),
            // A claim lasts as long as its session.
            Place::ZooKeeper { .. } => 0,
        };
        Ok(Claim {
            token: None,
            fingerprint: digest("fingerprint", fingerprint)?,
            policy: self.policy,
            lease,
            retention: self.retention,
        })
    }

    fn claim_of(&self, key: &str, claim: Claim) -> Result<Settings, ConfigError> {
        (self.make)(&self.place, Asked::Claim(Name::new(&self.scope, key)?, claim))
    }

    fn step(&self, key: &str, step: Step) -> Result<Settings, ConfigError> {
        (self.make)(&self.place, Asked::Step(Name::new(&self.scope, key)?, step))
    }
}

fn on_redis(place: &Place, asked: Asked<'_>) -> Result<Settings, ConfigError> {
    let Place::Redis(lease) = place else {
        return Err(elsewhere(Server::Redis));
    };
    Ok(Settings::Redis(match asked {
        Asked::Claim(name, claim) => {
            redis::LockSettings::Claim(redis::ClaimSettings::new(name, claim, lease.clone()))
        }
        Asked::Step(name, step) => {
            redis::LockSettings::Step(redis::StepSettings::new(name, step, lease.answer_within))
        }
        Asked::Sweep { .. } => redis::LockSettings::Step(redis::StepSettings::sweep(lease.answer_within)),
    }))
}

fn on_zookeeper(place: &Place, asked: Asked<'_>) -> Result<Settings, ConfigError> {
    let Place::ZooKeeper {
        prefix,
        answer_within,
    } = place
    else {
        return Err(elsewhere(Server::ZooKeeper));
    };
    let within = *answer_within;
    Ok(Settings::ZooKeeper(match asked {
        Asked::Claim(name, claim) => {
            zookeeper::LockSettings::Claim(zookeeper::ClaimSettings::new(prefix, &name, claim, within)?)
        }
        Asked::Step(name, step) => {
            zookeeper::LockSettings::Step(zookeeper::StepSettings::new(prefix, &name, step, within)?)
        }
        Asked::Sweep { scope } => {
            zookeeper::LockSettings::Sweep(zookeeper::SweepSettings::new(prefix, scope, within)?)
        }
    }))
}

impl Draft {
    pub(super) fn scope_on_redis(&self) -> Result<Scope, ConfigError> {
        let lease = self.lease_of_claims()?;
        self.scope(Place::Redis(lease), on_redis)
    }

    pub(super) fn scope_on_zookeeper(&self) -> Result<Scope, ConfigError> {
        // Only `memory:` accepts the options of a lease together with ZooKeeper's. It checks them as Redis does, and
        // then ignores them.
        let lease = self.lease_of_claims()?;
        let place = Place::ZooKeeper {
            prefix: self.prefix.clone().unwrap_or_default(),
            answer_within: lease.answer_within,
        };
        self.scope(place, on_zookeeper)
    }

    fn lease_of_claims(&self) -> Result<LeaseSettings, ConfigError> {
        let ttl = duration("lease", self.lease)?.unwrap_or(DEFAULT_LEASE);
        let margin = duration("margin", self.margin)?.unwrap_or(lease::DEFAULT_MARGIN);
        let mut lease = LeaseSettings::new("lease", ttl, margin)?;
        self.keep(&mut lease)?;
        Ok(lease)
    }

    fn scope(&self, place: Place, make: Make) -> Result<Scope, ConfigError> {
        let scope: String = self.scope.clone().unwrap_or_default();
        name::scope_path(&scope)?;
        // This checks the path of the scope. Each request checks the path of its key.
        make(&place, Asked::Sweep { scope: &scope })?;
        let policy = match self.on_lease_end.as_deref() {
            None => Policy::default(),
            Some(name) => Policy::named(name).ok_or_else(|| ConfigError::InvalidOption {
                option: "on_lease_end",
                value: shown(name),
                why: "it is retake, block or indeterminate",
            })?,
        };
        let retention = duration("retention", self.retention)?.unwrap_or(DEFAULT_RETENTION);
        Ok(Scope {
            scope,
            policy,
            retention: millis_up(retention),
            place,
            make,
        })
    }

    /// The settings of one request whose arguments are all in this draft.
    pub(super) fn operation(&self, kind: Kind, scope: &Scope) -> Result<Settings, ConfigError> {
        if self.step.as_deref() == Some("sweep") {
            return match &self.key {
                None => scope.sweep(),
                Some(key) => Err(ConfigError::InvalidOption {
                    option: "key",
                    value: shown(key),
                    why: "a sweep is of all keys of a scope: leave it out",
                }),
            };
        }
        let key = self.key.as_deref().unwrap_or_default();
        let fingerprint = self.fingerprint.as_deref().unwrap_or_default().as_bytes();
        let binding = self.binding.as_deref().map(str::as_bytes);
        if kind == Kind::Claim {
            return match binding {
                None => scope.claim(key, fingerprint),
                Some(binding) => scope.consume(key, binding, fingerprint),
            };
        }
        let guard = || {
            let version = self.version.unwrap_or_default();
            u64::try_from(version).map_err(|_negative| ConfigError::InvalidOption {
                option: "version",
                value: crate::text::signed(version),
                why: "it is negative",
            })
        };
        let tag = self.tag.as_deref().unwrap_or_default();
        let result = Vec::from(self.result.as_deref().unwrap_or_default());
        let content = Content::new(tag, result)?;
        let step = self.step.as_deref().unwrap_or_default();
        match step {
            "issue" => {
                let life = duration("life", self.life)?;
                scope.issue(key, binding.unwrap_or_default(), life)
            }
            "register" => scope.register(key, binding, fingerprint, content),
            "update" => {
                let operation = self.operation.as_deref().unwrap_or_default();
                scope.update(key, operation, guard()?, fingerprint, content)
            }
            "look" => scope.look(key),
            "settle" => scope.settle(key, guard()?, content),
            "forget" => scope.forget(key, guard()?),
            _ => Err(ConfigError::InvalidOption {
                option: "step",
                value: shown(step),
                why: "it is issue, register, update, look, settle, forget or sweep",
            }),
        }
    }
}

/// A fingerprint or a binding. It may be empty.
fn digest(option: &'static str, given: &[u8]) -> Result<Vec<u8>, ConfigError> {
    if given.len() > MAX_DIGEST {
        return Err(ConfigError::InvalidOption {
            option,
            value: "…".into(),
            why: "it is longer than 1024 bytes: give a digest",
        });
    }
    Ok(given.into())
}
