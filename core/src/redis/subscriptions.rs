//! The subscriptions of one client: one per channel for all its machines. The client keeps an unused subscription for
//! one second.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    Command, CommandId, Event, Instant, Key, Misuse, Outcome, Output, Timer,
    hub::{Delivery, Shared},
    outbox::Outbox,
    sorted::SortedMap,
};

use super::{
    Redis,
    wire::{Notice, Reply, Request},
};

/// How long the client keeps an unused subscription. Machines often wait for the same lock again soon.
const LINGER: Duration = Duration::from_secs(1);

/// The subscriptions by channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscriptions {
    out: Outbox<Request>,
    channels: SortedMap<Vec<u8>, Channel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Channel {
    id: CommandId,
    live: bool,
    listeners: Vec<(Key, CommandId)>,
    unused_since: Option<Instant>,
}

impl Subscriptions {
    fn subscribe(
        &mut self,
        listener: (Key, CommandId),
        channel: Vec<u8>,
        deliveries: &mut Vec<Delivery<Redis>>,
    ) {
        if let Some(known) = self.channels.get_mut(&channel) {
            known.listeners.push(listener);
            known.unused_since = None;
            if known.live {
                let (key, id) = listener;
                deliveries.push(Delivery::Outcome(key, id, Outcome::Reply(Reply::Nil)));
            }
            return;
        }
        let id = self.out.command(
            Request::Subscribe {
                channel: channel.clone(),
            },
            None,
        );
        let listeners = Vec::from([listener]);
        self.channels.insert(
            channel,
            Channel {
                id,
                live: false,
                listeners,
                unused_since: None,
            },
        );
    }

    fn unsubscribe(&mut self, now: Instant, key: Key, channel: &[u8]) {
        let Some(known) = self.channels.get_mut(channel) else {
            return;
        };
        known.listeners.retain(|(listener, _)| *listener != key);
        if known.listeners.is_empty() {
            known.unused_since = Some(now);
            self.watch_the_clock();
        }
    }

    fn watch_the_clock(&mut self) {
        match self
            .channels
            .values()
            .filter_map(|channel| channel.unused_since)
            .min()
        {
            Some(since) => self.out.set(Timer::Linger, since.plus(LINGER)),
            None => self.out.stop(Timer::Linger),
        }
    }

    /// Removes a subscription that has failed or ended, and returns its listeners. The caller notifies them, and they
    /// subscribe again.
    fn drop_channel(&mut self, id: CommandId) -> Vec<(Key, CommandId)> {
        let name = self
            .channels
            .iter()
            .find(|(_, channel)| channel.id == id)
            .map(|(name, _)| name.clone());
        name.and_then(|name| self.channels.remove(&name))
            .map(|channel| channel.listeners)
            .unwrap_or_default()
    }
}

impl Shared<Redis> for Subscriptions {
    fn new(_seed: u64) -> Self {
        Self {
            out: Outbox::new(),
            channels: SortedMap::new(),
        }
    }

    fn next_id(&mut self) -> &mut u64 {
        self.out.next_id()
    }

    fn opened(&mut self, _now: Instant) -> [Option<Notice>; 3] {
        [None, None, None]
    }

    fn extend(&mut self, _now: Instant) {}

    fn contended(&mut self, _now: Instant, _contended: bool) {}

    fn intercept(
        &mut self,
        now: Instant,
        key: Key,
        command: Command<Request>,
        deliveries: &mut Vec<Delivery<Redis>>,
    ) -> Option<Command<Request>> {
        match command.request {
            Request::Subscribe { channel } => self.subscribe((key, command.id), channel, deliveries),
            Request::Unsubscribe { channel } => self.unsubscribe(now, key, &channel),
            Request::Script { .. } => return Some(command),
        }
        None
    }

    fn handle_outcome(
        &mut self,
        _now: Instant,
        id: CommandId,
        outcome: Outcome<Reply>,
        deliveries: &mut Vec<Delivery<Redis>>,
    ) -> Result<(), Misuse> {
        let asked = |channel: &&mut Channel| channel.id == id && !channel.live;
        let Some(channel) = self.channels.values_mut().find(asked) else {
            return Ok(());
        };
        let listeners = if matches!(outcome, Outcome::Reply(Reply::Error(_)) | Outcome::Failed(_)) {
            self.drop_channel(id)
        } else {
            channel.live = true;
            channel.listeners.clone()
        };
        deliveries.extend(
            listeners
                .into_iter()
                .map(|(key, own)| Delivery::Outcome(key, own, outcome.clone())),
        );
        Ok(())
    }

    fn handle_notice(&mut self, _now: Instant, notice: Notice, deliveries: &mut Vec<Delivery<Redis>>) {
        let (Notice::Message { id } | Notice::Gone { id }) = notice;
        let gone = matches!(notice, Notice::Gone { .. });
        let listeners = if gone {
            self.drop_channel(id)
        } else {
            let found = self.channels.values().find(|channel| channel.id == id);
            found.map(|channel| channel.listeners.clone()).unwrap_or_default()
        };
        deliveries.extend(listeners.into_iter().map(|(key, id)| {
            Delivery::Notice(
                key,
                if gone {
                    Notice::Gone { id }
                } else {
                    Notice::Message { id }
                },
            )
        }));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if !self.out.expired(Timer::Linger, now) {
            return;
        }
        let out = &mut self.out;
        self.channels.retain(|name, channel| {
            let over = channel
                .unused_since
                .is_some_and(|since| since.plus(LINGER) <= now);
            if over {
                out.command(
                    Request::Unsubscribe {
                        channel: name.clone(),
                    },
                    None,
                );
            }
            !over
        });
        self.watch_the_clock();
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        self.out.poll()
    }
}
