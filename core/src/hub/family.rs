//! What a family of machines brings to a hub.

use alloc::vec::Vec;
use core::{fmt::Debug, hash::Hash};

use crate::{
    Command, CommandId, Event, Instant, Intent, Machine, Misuse, Outcome, Output, OwnerId, io::sealed,
};

use super::Key;

/// Machines that share one command set: [`zookeeper::ZooKeeper`](crate::zookeeper::ZooKeeper), [`redis::Redis`](crate::redis::Redis). Sealed.
pub trait Family: sealed::Sealed + Clone + Debug + Eq + Hash + Sized + 'static {
    /// What a machine asks of its server.
    type Request: Clone + Debug;
    /// What the server answers.
    type Reply: Clone + Debug;
    /// What the server or connection says unasked.
    type Notice: Clone + Debug;
    /// The settings of any machine of the family.
    type Settings: Clone + Debug;
    #[doc(hidden)]
    type Member: Member<Self>;
    #[doc(hidden)]
    type Shared: Shared<Self>;

    /// The name, as in settings: `zookeeper`, `redis`.
    const NAME: &'static str;

    #[doc(hidden)]
    fn machine(settings: Self::Settings, owner: OwnerId, seed: u64) -> Self::Member;
    #[doc(hidden)]
    fn is_standing(request: &Self::Request) -> bool;
    #[doc(hidden)]
    fn subject(notice: &Self::Notice) -> Option<CommandId>;
}

/// A machine as a hub drives it.
pub trait Member<F: Family>:
    Machine<Request = F::Request, Reply = F::Reply, Notice = F::Notice, Event = Event>
    + Clone
    + Debug
    + Eq
    + Hash
    + Send
{
    /// See the machines.
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse>;
    /// See the machines.
    fn is_idle(&self) -> bool;
    /// Whether it holds something, or may be granted something soon.
    fn contends(&self) -> bool {
        !self.is_idle()
    }
    /// The hub's command ids, lent for an input.
    fn next_id(&mut self) -> &mut u64;
}

/// What the machines of a hub share: it sends commands of its own, answers some of theirs, and tells them things.
pub trait Shared<F: Family>: Clone + Debug + Eq + Hash + Send {
    /// Nothing shared yet.
    fn new(seed: u64) -> Self;
    /// The hub's command ids, lent for an input.
    fn next_id(&mut self) -> &mut u64;
    /// A machine was opened: what it has to know.
    fn opened(&mut self, now: Instant) -> [Option<F::Notice>; 2];
    /// A machine wants its grant to last.
    fn extend(&mut self, now: Instant);
    /// Some machine contends now, or none does any more: see [`Member::contends`].
    fn contended(&mut self, now: Instant, contended: bool);
    /// A machine's command: passed on, or taken over.
    fn intercept(
        &mut self,
        now: Instant,
        key: Key,
        command: Command<F::Request>,
        deliveries: &mut Vec<Delivery<F>>,
    ) -> Option<Command<F::Request>>;
    /// The outcome of a command of its own.
    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<F::Reply>,
        deliveries: &mut Vec<Delivery<F>>,
    ) -> Result<(), Misuse>;
    /// A notice that belongs to no machine alone.
    fn handle_notice(&mut self, now: Instant, notice: F::Notice, deliveries: &mut Vec<Delivery<F>>);
    /// Time has passed.
    fn handle_timeout(&mut self, now: Instant);
    /// Its own commands.
    fn poll_output(&mut self) -> Output<F::Request, Event>;
}

/// Something for one machine or for all.
#[derive(Debug)]
pub enum Delivery<F: Family> {
    /// An outcome that the hub itself knows.
    Outcome(Key, CommandId, Outcome<F::Reply>),
    /// A notice for one machine.
    Notice(Key, F::Notice),
    /// A notice for every machine.
    All(F::Notice),
}
