//! Carries out what the application asks of the holds of owners.

use crate::{Event, Instant, Intent, Key, Misuse};

use super::{Mode, Plan, Reentry};
use crate::hub::{Family, Hub};

impl<F: Family> Hub<F> {
    /// An intent for a key whose settings name an owner.
    ///
    /// # Errors
    /// [`Misuse`] if the state of the owner or of the machine does not allow the intent. Nothing changes then.
    pub(in crate::hub) fn intent_of_owner(
        &mut self,
        now: Instant,
        key: Key,
        reentry: &Reentry,
        intent: Intent,
    ) -> Result<(), Misuse> {
        match self.grants.plan(now, key, reentry, &intent)? {
            Plan::Contend => {
                self.machine_intent(now, key, intent)?;
                self.grants.contend(key, reentry);
            }
            Plan::Join(machine) => self.grants.join(key, machine, reentry.mode),
            Plan::Pass(machine) => self.machine_intent(now, machine, intent)?,
            Plan::Leave(machine) => {
                self.grants.leave(key, machine);
                self.grants.events.push_back((key, Event::Released));
            }
            Plan::End(machine) => {
                self.machine_intent(now, machine, intent)?;
                if let Some(grant) = self.grants.grants.get_mut(&machine) {
                    grant.begin_leaving();
                }
            }
            Plan::ReleaseWriter(machine) => {
                self.machine_intent(now, machine, Intent::Downgrade)?;
                if let Some(grant) = self.grants.leave(key, machine) {
                    grant.begin_downgrade(Some(key), true);
                }
            }
            Plan::Read(machine) => {
                if let Some(grant) = self.grants.grants.get_mut(&machine) {
                    grant.set_mode(key, Mode::Reader);
                }
                self.grants.events.push_back((key, Event::Downgraded));
            }
            Plan::Downgrade(machine) => {
                self.machine_intent(now, machine, Intent::Downgrade)?;
                if let Some(grant) = self.grants.grants.get_mut(&machine) {
                    grant.set_mode(key, Mode::Reader);
                    grant.begin_downgrade(Some(key), false);
                }
            }
        }
        Ok(())
    }

    /// The application closes a key whose settings name an owner. Returns whether the hub closes the key's machine, too.
    pub(in crate::hub) fn close_of_owner(&mut self, now: Instant, key: Key) -> bool {
        let machine = self.grants.machine(key);
        self.grants.machines.remove(&key);
        self.grants.events.retain(|(of, _)| *of != key);
        let Some(grant) = self.grants.grants.get_mut(&machine) else {
            return true;
        };
        grant.forget(key);
        grant.closed |= key == machine;
        let (count, hold) = (grant.holds.len(), grant.holds.iter().find(|hold| hold.key == key));
        let Some(hold) = hold.copied() else {
            // Its hold is over. The machine serves other holds, or is the key's own.
            return key != machine;
        };
        let lowers = grant.ends_writing(&hold);
        if count > 1 {
            if lowers && self.machine_intent(now, machine, Intent::Downgrade).is_ok() {
                if let Some(grant) = self.grants.leave(key, machine) {
                    grant.begin_downgrade(None, true);
                }
            } else {
                self.grants.leave(key, machine);
            }
            return key != machine;
        }
        if self.grants.is_closed(machine) {
            // Nothing needs the machine any more.
            self.grants.remove(machine);
            if key != machine {
                self.close_machine(now, machine);
            }
            return true;
        }
        // The application may use the machine's key again.
        let ended = [Intent::Release, Intent::Cancel]
            .into_iter()
            .any(|intent| self.machine_intent(now, machine, intent).is_ok());
        if let Some(grant) = self.grants.leave(key, machine)
            && ended
        {
            grant.begin_leaving();
        }
        true
    }
}
