//! Faults.

use fencepost_simulator::{backend::Backend as _, step::ServerFault};

use super::World;
use crate::promises::Broken;

impl World<'_> {
    pub(super) fn fault(&mut self, number: u8) -> Result<(), Broken> {
        match self.chance.below(100) {
            0..15 => {
                let executed = self.chance.below(4);
                self.log(|| format!("the connection of {number} breaks"));
                self.disconnect(number, executed)
            }
            15..38 => self.reconnect(number),
            38..45 => {
                let own = &mut self.clients[usize::from(number)];
                own.stuck = !own.stuck;
                self.log(|| format!("requests of {number} are held up, or go on"));
                Ok(())
            }
            45..53 => {
                let own = &mut self.clients[usize::from(number)];
                own.paused = !own.paused;
                self.log(|| format!("{number} stands still, or goes on"));
                Ok(())
            }
            53..58 => self.crash(number),
            58..62 => self.give_up(number),
            62..69 => {
                self.swap(number);
                Ok(())
            }
            69..71 => {
                self.throttled = 1 + self.chance.below(3);
                Ok(())
            }
            71..73 => {
                // A notice is lost.
                self.clients[usize::from(number)].notices.pop_front();
                Ok(())
            }
            73..76 => {
                let pause = self.chance.pick(&[950_000, 2_000_000]);
                self.log(|| "nothing happens for longer than a session lasts".into());
                self.pass(pause.unwrap_or_default())
            }
            76..79 => {
                // The leader's clock is set.
                let by = self.chance.pick(&[-5_000, -100, 100, 5_000]).unwrap_or_default();
                self.truth.clock_was_set = true;
                self.ahead += by;
                self.set_clock();
                Ok(())
            }
            _ => self.server_fault(),
        }
    }

    fn reconnect(&mut self, number: u8) -> Result<(), Broken> {
        let own = &mut self.clients[usize::from(number)];
        if own.connected || own.paused {
            return Ok(());
        }
        if self.chance.percent(50) {
            own.notices.clear();
            self.servers.forget_connection(number);
        }
        let server = self.chance.below(self.theme.members.into());
        self.connect(number, u8::try_from(server).expect("few servers"))
    }

    fn server_fault(&mut self) -> Result<(), Broken> {
        let some = u8::try_from(self.chance.below(3)).expect("a small number");
        let fault = match self.chance.below(12) {
            0 => ServerFault::FailOver,
            1 => ServerFault::Restart,
            2 => ServerFault::Depose,
            3..6 => ServerFault::CutOff(some),
            6..9 => ServerFault::CatchUp(some),
            9 => ServerFault::Expire(some),
            _ => ServerFault::Operator(some),
        };
        if matches!(fault, ServerFault::FailOver | ServerFault::Restart) {
            self.pass(1000)?;
        }
        let before = self.servers.belongings(self.now);
        if self.servers.server_fault(self.now, fault).is_none() {
            return Ok(());
        }
        self.log(|| format!("{fault:?}"));
        let after = self.servers.belongings(self.now);
        for (path, ..) in before
            .iter()
            .filter(|(path, ..)| after.iter().all(|(left, ..)| left != path))
        {
            self.truth.ended_early(path, &mut self.account);
        }
        self.after_a_change()
    }

    /// A process ends, and another one replaces it, which knows nothing of it. Messages of the first one may
    /// still arrive.
    pub(super) fn crash(&mut self, number: u8) -> Result<(), Broken> {
        self.seen.crashes += 1;
        self.log(|| format!("{number} crashes"));
        while self.chance.percent(40) && !self.clients[usize::from(number)].requests.is_empty() {
            self.execute(number)?;
        }
        let own = &mut self.clients[usize::from(number)];
        own.application.crash(&mut self.account);
        self.account.in_doubt |= own.application.hub.pending() > 0 || own.application.waits();
        own.application.hub.observe(&mut self.transitions);
        let (crashes, drift) = (own.crashes + 1, own.drift);
        if own.connected {
            let _undelivered = self.servers.disconnect(self.now, number);
        }
        self.servers.forget(number);
        self.clients[usize::from(number)] = self.client(number, crashes, drift);
        let server = self.chance.below(self.theme.members.into());
        self.connect(number, u8::try_from(server).expect("few servers"))?;
        self.after_a_change()
    }
}
