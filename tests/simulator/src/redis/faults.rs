//! Faults of the model server.

use fencepost_models::redis::Condition;

use crate::{backend::Aftermath, shared::Shared, step::ServerFault};

use super::{KEY, RECORD, Servers};

impl Servers {
    pub(super) fn apply_fault(&mut self, fault: ServerFault) -> Option<Aftermath> {
        let loss = Aftermath { two_may_hold: true };
        match fault {
            ServerFault::Operator(_) => {
                let deleted = [KEY, RECORD].map(|key| self.server.delete(key.as_bytes()));
                deleted.contains(&true).then_some(loss)
            }
            ServerFault::Forget => {
                self.server.flush_scripts();
                Some(Aftermath::default())
            }
            ServerFault::CatchUp(_) => {
                self.server.replicate();
                if let Some(demoted) = &mut self.demoted {
                    demoted.follow(&self.server);
                }
                Some(Aftermath::default())
            }
            ServerFault::Depose => {
                self.demoted = Some(Shared::new(self.server.hand_over()));
                Some(Aftermath::default())
            }
            ServerFault::FailOver => {
                self.demoted = None;
                self.server.fail_over();
                Some(loss)
            }
            ServerFault::Restart => {
                self.demoted = None;
                self.server.restart_empty();
                Some(loss)
            }
            ServerFault::Full => Some(self.turn(Condition::Full)),
            ServerFault::NoDisk => Some(self.turn(Condition::NoDisk)),
            ServerFault::FewReplicas => Some(self.turn(Condition::FewReplicas)),
            ServerFault::NoChannels => Some(self.turn(Condition::NoChannels)),
            ServerFault::Older => Some(self.turn(Condition::Older)),
            ServerFault::Expire(_)
            | ServerFault::Throttle(_)
            | ServerFault::CutOff(_)
            | ServerFault::Timeouts => None,
        }
    }

    /// Begins or ends a condition of the server.
    fn turn(&mut self, condition: Condition) -> Aftermath {
        let has = self.server.has(condition);
        self.server.set(condition, !has);
        Aftermath::default()
    }
}
