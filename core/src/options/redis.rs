//! The settings of a lock on Redis.

use crate::{
    ConfigError, Owner, lease,
    redis::{LeaseSettings, LockSettings, StepSettings, StringSettings},
    settings::duration,
};

use super::{Draft, draft::unknown_action, unknown};

impl Draft {
    /// Whether an option of Redis was given.
    pub(super) const fn has_lease(&self) -> bool {
        self.ttl.is_some() || self.renew.is_some() || self.margin.is_some() || self.poll.is_some()
    }

    /// The settings of a contender for a lock, or of an inspection of the lock.
    pub(super) fn redis_lock(&self) -> Result<LockSettings, ConfigError> {
        let lock = self.redis(self.name())?;
        Ok(LockSettings::Step(match self.action.as_deref() {
            None => return Ok(LockSettings::String(lock)),
            Some("list") => StepSettings::list(lock),
            Some("break") => {
                let (token, fence) = self.named_contender()?;
                StepSettings::break_holder(lock, token, fence)
            }
            Some("revoke") => return Err(unknown::revocation()),
            Some(other) => return unknown_action(other),
        }))
    }

    pub(super) fn redis(&self, name: &str) -> Result<StringSettings, ConfigError> {
        let ttl = duration("ttl", self.ttl)?.unwrap_or(lease::DEFAULT_TTL);
        let margin = duration("margin", self.margin)?.unwrap_or(lease::DEFAULT_MARGIN);
        let mut settings = StringSettings::new(name, ttl, margin)?;
        self.keep(&mut settings.lease)?;
        settings.max_hold = duration("max_hold", self.max_hold)?;
        settings.owner = self.owner.as_deref().map(Owner::new).transpose()?;
        Ok(settings)
    }

    /// Sets the options for the renewal, the polling and the timeouts of a lease.
    pub(super) fn keep(&self, lease: &mut LeaseSettings) -> Result<(), ConfigError> {
        lease.renew = self.renew.unwrap_or(true);
        if let Some(poll) = duration("poll", self.poll)? {
            lease.poll = poll;
        }
        if let Some(limit) = duration("answer_within", self.answer_within)? {
            lease.answer_within = limit;
        }
        Ok(())
    }
}
