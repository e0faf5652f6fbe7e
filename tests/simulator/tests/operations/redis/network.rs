//! Pending messages: they arrive in any order, get lost, or arrive twice.

use core::time::Duration;

use fencepost_core::{
    CommandId, Failure, Outcome,
    lowered::Operation,
    redis::{Notice, Reply},
};

use super::{Broken, Content, Message, Mutant, World, accepted};

impl World<'_> {
    /// A message arrives, in any order; or is lost, or arrives twice.
    pub(super) fn move_message(&mut self) -> Result<(), Broken> {
        if self.messages.is_empty() {
            return Ok(());
        }
        let at = self
            .chance
            .below(u32::try_from(self.messages.len()).unwrap_or(u32::MAX)) as usize;
        let fate = self.chance.below(100);
        self.arrive(at, fate)
    }

    pub(super) fn arrive(&mut self, at: usize, fate: u32) -> Result<(), Broken> {
        let message = self.messages.remove(at);
        let is_alive = self.clients[message.client].crashes == message.crashes;
        match message.content {
            // The connection has ended with its process. The server may still execute the script.
            Content::Ask(Operation::Subscribe | Operation::Unsubscribe, _) if !is_alive => Ok(()),
            Content::Ask(_, _) if fate < 4 => self.fail(&message, Failure::Unknown),
            Content::Ask(_, _) if fate < 6 => self.fail(&message, Failure::NotSent),
            Content::Ask(operation, ref words) => {
                let reply = self.execute(message.client, message.id, operation, words);
                let twice = fate < 10 && operation == Operation::Call;
                self.log(format!("the server answers {}: {reply:?}", message.client));
                if twice {
                    let words = words.clone();
                    let _second = self.execute(message.client, message.id, operation, &words);
                }
                self.messages.push(Message {
                    content: Content::Reply(reply),
                    ..message
                });
                self.notify()
            }
            Content::Reply(_) if fate < 8 => self.fail(&message, Failure::Unknown),
            Content::Reply(reply) => {
                let own = &mut self.clients[message.client];
                if own.crashes != message.crashes || own.paused {
                    return Ok(());
                }
                accepted(
                    own.application
                        .hub
                        .handle_outcome(self.now, message.id, Outcome::Reply(reply)),
                )?;
                self.drain(message.client)
            }
        }
    }

    fn fail(&mut self, message: &Message, failure: Failure) -> Result<(), Broken> {
        let own = &mut self.clients[message.client];
        if own.crashes != message.crashes {
            return Ok(());
        }
        accepted(
            own.application
                .hub
                .handle_outcome(self.now, message.id, Outcome::Failed(failure)),
        )?;
        self.drain(message.client)
    }

    fn execute(&mut self, client: usize, id: CommandId, operation: Operation, words: &[Vec<u8>]) -> Reply {
        // No two scripts of a server begin in the same microsecond.
        self.now = self.now.plus(Duration::from_micros(1));
        let own = &mut self.clients[client];
        let words = match operation {
            Operation::Subscribe => {
                own.listening.push((words[0].clone(), id));
                vec![b"SUBSCRIBE".to_vec(), words[0].clone()]
            }
            Operation::Unsubscribe => {
                own.listening.retain(|(channel, _)| *channel != words[0]);
                vec![b"UNSUBSCRIBE".to_vec(), words[0].clone()]
            }
            _ => mutated(self.mutant, words),
        };
        self.server.call(self.now, own.connection, &words, self.lua)
    }

    /// Messages of channels arrive at once.
    fn notify(&mut self) -> Result<(), Broken> {
        for client in 0..self.clients.len() {
            let own = &mut self.clients[client];
            let messages = self.server.take_messages(own.connection);
            if messages.is_empty() || own.paused {
                continue;
            }
            for (channel, _) in messages {
                let listens = own.listening.iter().find(|(known, _)| *known == channel);
                if let Some((_, id)) = listens {
                    let notice = Notice::Message { id: *id };
                    accepted(own.application.hub.handle_notice(self.now, notice))?;
                }
            }
            self.drain(client)?;
        }
        Ok(())
    }
}

/// The request, with the mutant's script instead of the original one.
pub(crate) fn mutated(mutant: Option<&Mutant>, words: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut words = words.to_vec();
    let Some(mutant) = mutant else { return words };
    let text = mutant.script.text();
    let names = [mutant.script.sha().as_bytes(), text.as_bytes()];
    if words
        .get(1)
        .is_some_and(|source| names.contains(&source.as_slice()))
    {
        let wrong = text.replace(mutant.find, mutant.replace);
        assert!(wrong != text, "{:?} is not in the script", mutant.find);
        words[0] = b"EVAL".to_vec();
        words[1] = wrong.into_bytes();
    }
    words
}
