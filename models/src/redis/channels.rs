//! The subscribers of each channel.

use alloc::{vec, vec::Vec};

use fencepost_core::sorted::SortedMap;

use super::{ConnectionId, Server, wire::Resp};

/// The subscribers by channel, in the order of their subscriptions. The server delivers messages in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Channels(SortedMap<Vec<u8>, Vec<ConnectionId>>);

impl Channels {
    pub(super) fn leave(&mut self, connection: ConnectionId) {
        self.0.retain(|_, subscribers| {
            subscribers.retain(|subscriber| *subscriber != connection);
            !subscribers.is_empty()
        });
    }

    fn join(&mut self, connection: ConnectionId, channel: &[u8]) {
        self.0.update(channel.into(), |subscribers| {
            if !subscribers.contains(&connection) {
                subscribers.push(connection);
            }
        });
    }

    fn leave_one(&mut self, connection: ConnectionId, channel: &[u8]) {
        if let Some(subscribers) = self.0.get_mut(channel) {
            subscribers.retain(|subscriber| *subscriber != connection);
            if subscribers.is_empty() {
                self.0.remove(channel);
            }
        }
    }

    fn of(&self, connection: ConnectionId) -> impl Iterator<Item = &Vec<u8>> {
        let own = self
            .0
            .iter()
            .filter(move |(_, subscribers)| subscribers.contains(&connection));
        own.map(|(channel, _)| channel)
    }
}

impl Server {
    pub(super) fn publish(&mut self, arguments: &[Vec<u8>]) -> Resp {
        let [_, channel, payload] = arguments else {
            return Resp::Int(0);
        };
        let subscribers = self.channels.0.get(channel).map_or(&[][..], Vec::as_slice);
        for subscriber in subscribers {
            if let Some(messages) = self.connections.get_mut(subscriber) {
                messages.push_back((channel.clone(), payload.clone()));
            }
        }
        Resp::Int(i64::try_from(subscribers.len()).unwrap_or(i64::MAX))
    }

    pub(super) fn subscribe(&mut self, connection: ConnectionId, arguments: &[Vec<u8>]) -> Resp {
        let confirm = |channel: &Vec<u8>| {
            self.channels.join(connection, channel);
            self.confirmation("subscribe", connection, Resp::Bulk(channel.clone()))
        };
        one_or_all(arguments.iter().skip(1).map(confirm).collect())
    }

    pub(super) fn unsubscribe(&mut self, connection: ConnectionId, arguments: &[Vec<u8>]) -> Resp {
        let mut channels: Vec<_> = arguments.iter().skip(1).cloned().collect();
        if channels.is_empty() {
            channels = self.channels.of(connection).cloned().collect();
        }
        if channels.is_empty() {
            return self.confirmation("unsubscribe", connection, Resp::Nil);
        }
        let confirm = |channel: Vec<u8>| {
            self.channels.leave_one(connection, &channel);
            self.confirmation("unsubscribe", connection, Resp::Bulk(channel))
        };
        one_or_all(channels.into_iter().map(confirm).collect())
    }

    fn confirmation(&self, what: &str, connection: ConnectionId, channel: Resp) -> Resp {
        let left = self.channels.of(connection).count();
        let left = Resp::Int(i64::try_from(left).unwrap_or(i64::MAX));
        Resp::Array(vec![Resp::bulk(what.as_bytes()), channel, left])
    }
}

fn one_or_all(mut confirmations: Vec<Resp>) -> Resp {
    match confirmations.pop() {
        Some(only) if confirmations.is_empty() => only,
        last => {
            confirmations.extend(last);
            Resp::Array(confirmations)
        }
    }
}
