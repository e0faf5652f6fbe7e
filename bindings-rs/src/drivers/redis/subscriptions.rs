//! The connection for subscriptions. The driver makes it for the first subscription.
//!
//! It is a separate connection, because a server before 7.2 may mix messages into replies on a shared one.

use alloc::collections::BTreeMap;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use fencepost_core::{
    CommandId, Failure,
    lowered::{Notice, Outcome},
    redis::{Notice as RedisNotice, Reply},
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use redis::{
    Client, RedisError, Value,
    aio::{PubSub, PubSubSink, PubSubStream},
};
use tokio::sync::{Notify, mpsc, oneshot};

use super::{
    outcomes,
    server::{Server, limited},
};
use crate::engine::{driver::Completed, driver::Sink};

/// How long a connection may be silent before the driver sends PING.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A request to the task of the connection.
pub(super) enum Order {
    Subscribe { id: CommandId, channel: Vec<u8> },
    Unsubscribe { id: CommandId, channel: Vec<u8> },
}

type Slip = (Order, oneshot::Sender<Completed>);

/// The source of the connection for subscriptions.
pub(super) enum Source {
    /// The server of the address.
    Server(Server),
    /// The connection settings of the program.
    Library(Client),
}

impl Source {
    async fn connect(&self) -> Result<PubSub, RedisError> {
        match self {
            Self::Server(server) => server.subscribe().await,
            Self::Library(client) => client.get_async_pubsub().await,
        }
    }
}

/// Sends requests to that task.
pub(super) struct Orders {
    source: Source,
    give: mpsc::UnboundedSender<Slip>,
    take: Mutex<Option<mpsc::UnboundedReceiver<Slip>>>,
    left: Notify,
}

impl Orders {
    pub(super) fn new(source: Source) -> Self {
        let (give, take) = mpsc::unbounded_channel();
        Self {
            source,
            give,
            take: Mutex::new(Some(take)),
            left: Notify::new(),
        }
    }

    /// Ends the connection, if there is one. The next subscription resolves the address again.
    pub(super) fn leave(&self) {
        self.left.notify_one();
    }

    pub(super) fn give(&self, id: CommandId, order: Order) -> BoxFuture<'static, Completed> {
        let (done, doing) = oneshot::channel();
        // If the task has ended, this drops the sender, and the caller gets an error.
        let _kept = self.give.send((order, done));
        async move {
            let closed = || Completed::outcome(id, Outcome::Failed(Failure::Closed), None);
            doing.await.unwrap_or_else(|_gone| closed())
        }
        .boxed()
    }
}

/// Carries out requests and passes messages on, as long as this is polled.
pub(super) async fn run(orders: &Orders, sink: &dyn Sink) {
    let taken = orders.take.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut taken) = taken else { return };
    let mut listener = Listener {
        source: &orders.source,
        connection: None,
        channels: BTreeMap::new(),
    };
    loop {
        let listening = listener.connection.is_some() && !listener.channels.is_empty();
        tokio::select! {
            order = taken.recv() => match order {
                Some((order, done)) => {
                    let outcome = listener.obey(order, sink).await;
                    // The caller may have been dropped.
                    let _heard = done.send(outcome);
                }
                None => return,
            },
            channel = listener.next() => match channel {
                Some(channel) => listener.pass_on(&channel, sink),
                None => listener.lost(sink),
            },
            () = orders.left.notified() => listener.lost(sink),
            () = silence(listening) => listener.ask(sink).await,
        }
    }
}

struct Listener<'a> {
    source: &'a Source,
    connection: Option<(PubSubSink, PubSubStream)>,
    channels: BTreeMap<Vec<u8>, CommandId>,
}

impl Listener<'_> {
    async fn obey(&mut self, order: Order, sink: &dyn Sink) -> Completed {
        match order {
            Order::Subscribe { id, channel } => match self.subscribe(&channel).await {
                Ok(()) => {
                    self.channels.insert(channel, id);
                    Completed::outcome(id, Outcome::Redis(Reply::Nil), None)
                }
                Err(error) => {
                    if error.code().is_none() {
                        self.lost(sink);
                    }
                    match self.source {
                        // The library also returns this error for a server whose certificate is not trusted.
                        Source::Server(_) => {
                            let (outcome, native) = outcomes::of(Err(error));
                            Completed::outcome(id, outcome, native)
                        }
                        Source::Library(_) => outcomes::completed(id, Err(error)),
                    }
                }
            },
            Order::Unsubscribe { id, channel } => {
                self.channels.remove(&channel);
                if let Some((requests, _)) = &mut self.connection
                    && limited(requests.unsubscribe(channel.as_slice())).await.is_err()
                {
                    self.lost(sink);
                }
                Completed::outcome(id, Outcome::Redis(Reply::Nil), None)
            }
        }
    }

    async fn subscribe(&mut self, channel: &[u8]) -> Result<(), RedisError> {
        if self.connection.is_none() {
            let connection = limited(self.source.connect()).await?;
            self.connection = Some(connection.split());
        }
        match &mut self.connection {
            Some((requests, _)) => limited(requests.subscribe(channel)).await,
            None => Ok(()),
        }
    }

    /// A silent connection may be dead, so this sends PING.
    async fn ask(&mut self, sink: &dyn Sink) {
        if let Some((requests, _)) = &mut self.connection
            && limited(requests.ping::<Value>()).await.is_err()
        {
            self.lost(sink);
        }
    }

    /// The channel of the next message; `None` when the connection has ended.
    async fn next(&mut self) -> Option<Vec<u8>> {
        match &mut self.connection {
            Some((_, stream)) => {
                let message = stream.next().await?;
                Some(message.get_channel::<Vec<u8>>().unwrap_or_default())
            }
            None => core::future::pending().await,
        }
    }

    fn pass_on(&self, channel: &[u8], sink: &dyn Sink) {
        if let Some(id) = self.channels.get(channel) {
            sink.notice(Notice::Redis(RedisNotice::Message { id: *id }));
        }
    }

    /// Reports that messages may be lost: each subscriber has to subscribe again.
    fn lost(&mut self, sink: &dyn Sink) {
        self.connection = None;
        for id in core::mem::take(&mut self.channels).into_values() {
            sink.notice(Notice::Redis(RedisNotice::Gone { id }));
        }
    }
}

/// Completes when the connection was silent for so long that the driver has to act. Without a channel, it never
/// completes, because no message is expected.
async fn silence(listening: bool) {
    if listening {
        tokio::time::sleep(HEARTBEAT).await;
    } else {
        core::future::pending().await
    }
}
