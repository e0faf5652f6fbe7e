//! Carries out the application's intents for the holds of owners.

use crate::{Event, Instant, Intent, Key, Misuse};

use super::{Mode, Plan, Reentry};
use crate::hub::{Family, Hub};

impl<F: Family> Hub<F> {
    /// An intent for a key whose settings name an owner.
    ///
    /// # Errors
    /// [`Misuse`] if the state of the owner or of the machine does not allow the intent. The call then changes nothing.
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

    /// The application closes a key whose settings name an owner. Closes the machines that no open key uses any more.
    /// Returns the machine that served this key, if it is one of them.
    pub(in crate::hub) fn close_of_owner(&mut self, now: Instant, key: Key) -> Option<Key> {
        let machine = self.grants.machine(key);
        let unused = self.close_hold(now, key, machine);
        if unused || key != machine {
            self.close_machine(now, key);
        }
        if unused && key != machine {
            self.close_machine(now, machine);
        }
        unused.then_some(machine)
    }

    /// Ends the hold of a closed key, if there is one. Returns whether no open key uses the machine any more.
    fn close_hold(&mut self, now: Instant, key: Key, machine: Key) -> bool {
        self.grants.machines.remove(&key);
        self.grants.events.retain(|(of, _)| *of != key);
        let Some(grant) = self.grants.grants.get_mut(&machine) else {
            return key == machine || self.grants.ended.remove(&machine);
        };
        grant.forget(key);
        grant.closed |= key == machine;
        let hold = grant.holds.iter().find(|hold| hold.key == key).copied();
        let others = grant.holds.iter().any(|hold| hold.key != key);
        if !others && grant.closed {
            self.grants.remove(machine);
            return true;
        }
        let Some(hold) = hold else {
            return false;
        };
        if others {
            if grant.ends_writing(&hold) && self.machine_intent(now, machine, Intent::Downgrade).is_ok() {
                if let Some(grant) = self.grants.leave(key, machine) {
                    grant.begin_downgrade(None, true);
                }
            } else {
                self.grants.leave(key, machine);
            }
            return false;
        }
        // The application may still use the machine's key for a new acquire.
        let ended = [Intent::Release, Intent::Cancel]
            .into_iter()
            .any(|intent| self.machine_intent(now, machine, intent).is_ok());
        if let Some(grant) = self.grants.leave(key, machine)
            && ended
        {
            grant.begin_leaving();
        }
        false
    }
}
