//! The parts of the simulator for a family of machines: its servers, and the connections of its clients.

use core::{fmt::Debug, hash::Hash, time::Duration};

use fencepost_core::{
    AttemptId, CommandId, Event, Instant, Intent, Misuse, Outcome, Output, hub::Family, states::Observer,
};

use crate::{
    checker::{ContenderNode, Mode, Shown, Task},
    step::{Number, ServerFault},
};

/// A server's answer.
pub type ReplyOf<B> = <<B as Backend>::Family as Family>::Reply;
/// A message that a server sends without a request.
pub type NoticeOf<B> = <<B as Backend>::Family as Family>::Notice;

/// Servers of one family, and the connections of all clients.
pub trait Backend: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// The family of the core.
    type Family: Family<Reply: Eq + Hash + Send + Sync, Notice: Eq + Hash + Send + Sync>;
    /// A request: one of the family's machines, or one that only the mutants send.
    type Ask: Clone + Debug + Eq + Hash + Send + Sync + From<<Self::Family as Family>::Request>;
    /// Which connection or session a request belongs to.
    type Connection: Clone + Copy + Debug + Eq + Hash + Send + Sync;

    /// Whether requests and answers of one client keep their order.
    const ORDERED: bool;

    /// How long an acquire may continue after its deadline while the client deletes its nodes.
    const CLEANUP_LIMIT: Duration;

    /// Whether the server itself compares the contender to break with the present one. Then the client reads
    /// nothing before a break.
    const COMPARES: bool = false;

    /// How long after its deadline a client may still be granted a free lock.
    fn grace(&self, _client: Number) -> Duration {
        Duration::ZERO
    }

    /// Servers with `clients` clients, none of them connected.
    fn new(clients: Number, servers: u8) -> Self;

    /// The connection that a client's requests are sent on now.
    fn connection(&self, client: Number) -> Self::Connection;

    /// Connects a client, for the first time or again. Returns the notices of its library. None if it cannot
    /// connect now.
    fn connect(&mut self, now: Instant, client: Number, server: u8) -> Option<Vec<NoticeOf<Self>>>;

    /// A client's connection has broken. Returns the notices of its library.
    fn disconnect(&mut self, now: Instant, client: Number) -> Vec<NoticeOf<Self>>;

    /// The clients of which the server has closed the connection.
    fn broken(&self) -> Vec<Number>;

    /// A client's library has forgotten its watches, and the last transaction that it has seen.
    fn forget_connection(&mut self, client: Number);

    /// A client's process has ended. The next process knows nothing of it.
    fn forget(&mut self, client: Number);

    /// A client's library has sent a ping to its server.
    fn alive(&mut self, now: Instant, client: Number);

    /// Whether a request must wait because its server waits for other servers.
    fn stalls(&self, connection: Self::Connection, ask: &Self::Ask) -> bool;

    /// Executes a request; `None` if there will be no answer.
    fn execute(
        &mut self,
        now: Instant,
        client: Number,
        connection: Self::Connection,
        id: CommandId,
        ask: Self::Ask,
    ) -> Option<Answered<Self>>;

    /// An answer has reached its client. Returns whether the server has refused the request in a way that makes the client leave the server.
    fn delivered(&mut self, client: Number, mark: i64) -> bool;

    /// How many transactions the server of a connection has not applied yet.
    fn behind(&self, _line: Self::Connection) -> usize {
        0
    }

    /// The error of a request that the server throttles, if it throttles such requests.
    fn throttled(&self, connection: Self::Connection, ask: &Self::Ask) -> Option<ReplyOf<Self>>;

    /// The notices for a client since the last call.
    fn take_notices(&mut self, client: Number) -> Vec<NoticeOf<Self>>;

    /// Time has passed.
    fn pass(&mut self, now: Instant);

    /// Applies a fault of the server, if it is possible now.
    fn server_fault(&mut self, now: Instant, fault: ServerFault) -> Option<Aftermath>;

    /// Whether a client holds the lock on the server: the lock exists and belongs to this attempt.
    fn holds(&self, now: Instant, client: Number, attempt: &AttemptId) -> bool;

    /// The last fence that the server has issued, if it stores one.
    fn last_fence(&self, now: Instant) -> Option<u64>;

    /// The objects on the server with their owners, to see which client changes them.
    fn belongings(&self, now: Instant) -> Belongings;

    /// The clients that wait, the first one first; nothing if the server has no queue.
    fn queue(&self) -> Option<Vec<Number>>;

    /// Objects that remain on the server but should have been deleted.
    fn left_behind(&self, now: Instant) -> Vec<String>;

    /// All faults of the servers end: the servers are connected, replicas have all data, and no condition
    /// remains.
    fn heal(&mut self, now: Instant);

    /// Whether a request is routine: a confirmation of a session, which no contender has caused.
    fn is_routine(ask: &Self::Ask) -> bool;

    /// Whether the driver executes a request: another connection in the same session.
    fn is_reconnect(_ask: &Self::Ask) -> bool {
        false
    }

    /// The server that a client's driver then connects to; `None` if the program made the connection, or
    /// there is no other server.
    fn next_server(&self, _client: Number) -> Option<u8> {
        None
    }

    /// Whether a request reads other clients' objects, if servers notify waiters.
    fn is_of_others(&self, _client: Number, _ask: &Self::Ask) -> bool {
        false
    }

    /// Whether a request only reads, and changes no client's objects on the server.
    fn reads(ask: &Self::Ask) -> bool;

    /// Whether a request is executed by a transaction, whose answer a server can confuse with that of another
    /// request of the same session.
    fn is_committed(_ask: &Self::Ask) -> bool {
        false
    }

    /// The answer to the write `before`, as a client library decodes it when it arrives instead of the answer
    /// to `ask`; `None` if it cannot decode it.
    fn instead(
        _ask: &Self::Ask,
        _reply: &ReplyOf<Self>,
        _before: &Self::Ask,
        _theirs: ReplyOf<Self>,
    ) -> Option<ReplyOf<Self>> {
        None
    }

    /// Whether a request could delete another client's objects.
    fn harms(ask: &Self::Ask) -> bool;

    /// The contenders on the server that a client is connected to, if there are inspections.
    fn shown(&self, _now: Instant, _client: Number) -> Vec<Shown> {
        Vec::new()
    }

    /// The node at a path now.
    fn node(&self, _now: Instant, _path: &str) -> Option<ContenderNode> {
        None
    }

    /// Whether the server refuses valid requests, because it cannot write now.
    fn refuses_writes(&self) -> bool {
        false
    }

    /// Whether another client has requested the revocation of the lock that an attempt holds.
    fn is_revocation_requested(&self, _client: Number, _attempt: &AttemptId) -> bool {
        false
    }

    /// The path of the contender that a request would delete or write to.
    fn aims_at(_ask: &Self::Ask) -> Option<&str> {
        None
    }

    /// Whether the request would delete that node.
    fn deletes(_ask: &Self::Ask) -> bool {
        false
    }

    /// A request in a few words, for stories.
    fn describe_ask(ask: &Self::Ask) -> String;
    /// An answer in a few words.
    fn describe_reply(reply: &ReplyOf<Self>) -> String;
    /// A notice in a few words.
    fn describe_notice(notice: &NoticeOf<Self>) -> String;
}

/// An answer, and a mark of its server's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answered<B: Backend> {
    /// The answer.
    pub reply: ReplyOf<B>,
    /// For [`Backend::delivered`].
    pub mark: i64,
}

/// The consequences of a server's fault for the clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// From now on two clients may hold at once: an operator has deleted a lock, or a server has lost data.
    pub two_may_hold: bool,
}

/// The objects on the server: each contender's object with its owner and, if it has one, its end.
pub type Belongings = Vec<(String, Owner, Option<Instant>)>;

/// The owner of an object on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// One of the clients.
    Client(Number),
    /// No owner: its process or session has ended.
    Ended,
}

/// A lock under test: a machine of fencepost in its hub, or a small lock written for the gallery.
pub trait Subject<B: Backend>: Clone + Debug + Eq + Hash {
    /// See `Hub::intent`.
    ///
    /// # Errors
    /// As there.
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse>;
    /// See `Hub::handle_outcome`.
    ///
    /// # Errors
    /// As there.
    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse>;
    /// See `Hub::handle_notice`.
    ///
    /// # Errors
    /// As there.
    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse>;
    /// See `Hub::handle_timeout`.
    fn handle_timeout(&mut self, now: Instant);
    /// See `Hub::poll_output`.
    fn poll_output(&mut self) -> Output<B::Ask, Event>;
    /// See `Hub::shutdown`.
    fn shutdown(&mut self, now: Instant);
    /// See `Hub::pending`.
    fn pending(&self) -> usize;
    /// The grants that may be held together with its grant, or with the grant that it waits for.
    fn mode(&self) -> Mode {
        Mode::Exclusive
    }
    /// Its last task, if it inspects and does not contend.
    fn inspects(&self) -> Option<&Task> {
        None
    }
    /// Whether it is done after its answer: a contender acquires once, but an inspection may have to list
    /// first.
    fn is_satisfied(&self) -> bool {
        true
    }
    /// Reports the transitions of its machines, if they have state tables.
    fn observe(&self, _observer: &mut impl Observer) {}
}
