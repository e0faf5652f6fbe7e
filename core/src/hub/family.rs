//! The interface between a hub and a family of machines: the machines of one kind of server.

use alloc::vec::Vec;
use core::{fmt::Debug, hash::Hash};

use crate::{
    Command, CommandId, ContenderId, Event, Instant, Intent, Machine, Misuse, Outcome, Output, io::sealed,
};

use super::{Key, Reentry};

/// Machines that share one set of commands: [`zookeeper::ZooKeeper`](crate::zookeeper::ZooKeeper) and
/// [`redis::Redis`](crate::redis::Redis). The trait is sealed.
pub trait Family: sealed::Sealed + Clone + Debug + Eq + Hash + Sized + 'static {
    /// A request to the server.
    type Request: Clone + Debug;
    /// An answer of the server.
    type Reply: Clone + Debug;
    /// A notice that the server or the connection sends without a request.
    type Notice: Clone + Debug;
    /// The settings of any machine of the family.
    type Settings: Clone + Debug;
    #[doc(hidden)]
    type Member: Member<Self>;
    #[doc(hidden)]
    type Shared: Shared<Self>;

    /// The name of the family in settings: `zookeeper` or `redis`.
    const NAME: &'static str;

    #[doc(hidden)]
    fn machine(settings: Self::Settings, contender: ContenderId, seed: u64) -> Self::Member;
    /// The lock and the mode that an owner acquires with these settings; `None` if the settings name no owner.
    #[doc(hidden)]
    fn reentry(settings: &Self::Settings) -> Option<Reentry>;
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
    /// Handles an intent of the application. Each machine documents the intents that it accepts.
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse>;
    /// Whether the machine holds no grant, waits for nothing and has nothing to clean up.
    fn is_idle(&self) -> bool;
    /// Whether the machine holds a grant, or may soon get one.
    fn contends(&self) -> bool {
        !self.is_idle()
    }
    /// The next command id. The hub sets it before an input and reads it afterwards.
    fn next_id(&mut self) -> &mut u64;
    /// Passes the record of the machine's transitions to the observer.
    #[cfg(feature = "states")]
    fn observe(&self, observer: &mut impl crate::states::Observer);
}

/// The part of a hub that all its machines share. It sends its own commands, answers some commands of the machines, and
/// delivers outcomes and notices to the machines.
pub trait Shared<F: Family>: Clone + Debug + Eq + Hash + Send {
    /// The state before any machine is open.
    fn new(seed: u64) -> Self;
    /// The next command id. The hub sets it before an input and reads it afterwards.
    fn next_id(&mut self) -> &mut u64;
    /// A machine was opened. Returns the notices that bring the machine up to date.
    fn opened(&mut self, now: Instant) -> [Option<F::Notice>; 3];
    /// A machine wants to extend its grant.
    fn extend(&mut self, now: Instant);
    /// The first machine began to contend, or the last one stopped: see [`Member::contends`].
    fn contended(&mut self, now: Instant, contended: bool);
    /// Passes a machine's command on to the driver, or handles it and returns `None`.
    fn intercept(
        &mut self,
        now: Instant,
        key: Key,
        command: Command<F::Request>,
        deliveries: &mut Vec<Delivery<F>>,
    ) -> Option<Command<F::Request>>;
    /// Handles the outcome of a command that the shared part sent.
    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<F::Reply>,
        deliveries: &mut Vec<Delivery<F>>,
    ) -> Result<(), Misuse>;
    /// Handles a notice that does not belong to a single machine.
    fn handle_notice(&mut self, now: Instant, notice: F::Notice, deliveries: &mut Vec<Delivery<F>>);
    /// Handles the passing of time.
    fn handle_timeout(&mut self, now: Instant);
    /// Passes the record of the shared part's transitions to the observer, if the part has a state table.
    #[cfg(feature = "states")]
    fn observe(&self, _observer: &mut impl crate::states::Observer) {}
    /// Takes the next command of the shared part, or returns how long to wait.
    fn poll_output(&mut self) -> Output<F::Request, Event>;
}

/// An outcome or a notice for one machine, or a notice for all.
#[derive(Debug)]
pub enum Delivery<F: Family> {
    /// An outcome for one machine.
    Outcome(Key, CommandId, Outcome<F::Reply>),
    /// A notice for one machine.
    Notice(Key, F::Notice),
    /// A notice for every machine.
    All(F::Notice),
}
