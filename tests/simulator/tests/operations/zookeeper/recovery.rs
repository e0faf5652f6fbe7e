//! The end of a run: faults end, and a new client claims.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, Intent, claim::Policy};
use fencepost_simulator::{backend::Backend as _, zookeeper::TIMEOUT};

use super::{CLAIMANTS, World, accepted};
use crate::{application::Stage, promises::Broken};

impl World<'_> {
    /// Faults end. A new client claims, and must get its result or its refusal within a session timeout.
    pub(super) fn recover(&mut self) -> Result<(), Broken> {
        self.log(|| "faults end".into());
        (self.throttled, self.recovering) = (0, true);
        self.servers.heal(self.now);
        for client in &mut self.clients {
            (client.paused, client.stuck) = (false, false);
        }
        self.settle()?;
        self.nothing_is_left()?;
        for number in 0..CLAIMANTS - 1 {
            self.crash(number)?;
        }
        let effects = self.account.runs.iter().filter(|run| run.has_effect).count();
        self.seen.repeated += u64::from(effects > 1);
        self.settle()?;
        let within = TIMEOUT.saturating_mul(4);
        let fresh = &mut self.clients[0];
        let claims = Intent::Acquire(AcquireTimeout::For(within));
        let (local, key) = (fresh.local(self.now), fresh.application.key);
        accepted(fresh.application.hub.intent(local, key, claims))?;
        fresh.application.stage = Stage::Claims;
        self.drain(0)?;
        // This takes a session timeout, and the confirmation of the new session.
        let limit = self
            .now
            .plus(TIMEOUT)
            .plus(TIMEOUT / 2)
            .plus(Duration::from_millis(250));
        loop {
            self.settle()?;
            if self.clients[0].application.stage != Stage::Claims {
                break;
            }
            if self.now > limit {
                let open = self.account.policy() == Policy::Retake || self.account.is_untouched();
                if open {
                    return Err(Broken::Wedged);
                }
                break;
            }
            self.pass(10_000)?;
        }
        for _ in 0..300 {
            self.settle()?;
            self.pass(10_000)?;
        }
        self.settle()?;
        self.nothing_is_left()
    }

    /// A client whose application has no claim must have no lease.
    fn nothing_is_left(&mut self) -> Result<(), Broken> {
        for (path, owner, _) in self.servers.belongings(self.now) {
            for client in &self.clients {
                let application = &client.application;
                let wants_nothing = application.stage == Stage::Idle && application.hub.pending() == 0;
                if client.owns(owner) && wants_nothing {
                    self.story.push(format!("{path} is left"));
                    return Err(Broken::LeftLease);
                }
            }
        }
        Ok(())
    }

    /// All pending messages arrive.
    fn settle(&mut self) -> Result<(), Broken> {
        for _ in 0..200 {
            let mut moved = false;
            for number in 0..=CLAIMANTS {
                if !self.clients[usize::from(number)].connected {
                    self.connect(number, 0)?;
                }
                self.drain(number)?;
                let own = &self.clients[usize::from(number)];
                moved |= !own.is_quiet();
                self.execute(number)?;
                self.answer(number)?;
                self.notice(number)?;
            }
            if !moved {
                return Ok(());
            }
        }
        Ok(())
    }
}
