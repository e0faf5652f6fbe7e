//! Connections: a session lasts longer than a connection.

use fencepost_core::Failure;
use fencepost_simulator::{backend::Backend as _, zookeeper::Servers};

use super::World;
use crate::promises::Broken;

impl World<'_> {
    pub(super) fn connect(&mut self, number: u8, server: u8) -> Result<(), Broken> {
        if self.clients[usize::from(number)].connected {
            return Ok(());
        }
        let Some(notices) = self.servers.connect(self.now, number, server) else {
            return Ok(());
        };
        self.log(|| {
            format!(
                "{number} connects: {}",
                notices
                    .iter()
                    .map(Servers::describe_notice)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        });
        // The last notice reports the connection. Before it, the driver reports the outcomes of all earlier requests.
        let last = notices.len().saturating_sub(1);
        for (at, notice) in notices.into_iter().enumerate() {
            if at == last {
                self.settle_open(number)?;
                self.clients[usize::from(number)].connected = true;
            }
            self.notify(number, notice)?;
        }
        Ok(())
    }

    /// The connection of a client breaks. The server has executed `executed` of the pending requests.
    pub(super) fn disconnect(&mut self, number: u8, executed: u32) -> Result<(), Broken> {
        if !self.clients[usize::from(number)].connected {
            return Ok(());
        }
        for _ in 0..executed {
            self.execute(number)?;
        }
        let own = &mut self.clients[usize::from(number)];
        if !core::mem::replace(&mut own.connected, false) {
            return Ok(());
        }
        own.requests.clear();
        own.stuck = false;
        let left = core::mem::take(&mut own.answers).into_iter();
        own.orphaned = left
            .filter_map(|answer| Some((answer.write?, answer.reply)))
            .collect();
        own.swaps = false;
        let late = own.settles_late();
        for notice in self.servers.disconnect(self.now, number) {
            self.notify(number, notice)?;
        }
        if late { Ok(()) } else { self.settle_open(number) }
    }

    /// The requests that were pending when the connection broke get no answer, and the driver reports that to
    /// the client.
    fn settle_open(&mut self, number: u8) -> Result<(), Broken> {
        let open = core::mem::take(&mut self.clients[usize::from(number)].open);
        for id in open {
            self.fail(number, id, Failure::Unknown)?;
            self.drain(number)?;
        }
        Ok(())
    }

    /// Sends the notices of the servers. The servers may have closed connections.
    pub(super) fn spread(&mut self) -> Result<(), Broken> {
        for number in (0..).take(self.clients.len()) {
            let notices = self.servers.take_notices(number);
            self.clients[usize::from(number)].notices.extend(notices);
        }
        for number in self.servers.broken() {
            self.disconnect(number, 0)?;
        }
        Ok(())
    }
}
