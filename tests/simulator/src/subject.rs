//! A machine of fencepost in its own hub, as the lock under test.

use fencepost_core::{
    CommandId, ContenderId, Event, Instant, Intent, Key, Misuse, Outcome, Output,
    hub::{Family, Hub},
    states::Observer,
};

use crate::{
    backend::{Backend, NoticeOf, ReplyOf, Subject},
    checker::Mode,
    step::Number,
};

/// Sixteen bytes for each process of each client.
#[must_use]
pub fn owner(client: Number, crashes: u8) -> ContenderId {
    let mut owner = [0; 16];
    owner[0] = client + 1;
    owner[1] = crashes;
    ContenderId(owner)
}

/// A hub with one machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fencepost<F: Family> {
    hub: Hub<F>,
    key: Key,
    mode: Mode,
}

impl<F: Family> Fencepost<F> {
    /// An idle machine.
    ///
    /// # Panics
    /// Never: a new hub is open.
    #[must_use]
    pub fn new(now: Instant, settings: F::Settings, owner: ContenderId, seed: u64) -> Self {
        let mut hub = Hub::new(seed);
        let key = hub.open(now, settings, owner, seed).expect("a new hub is open");
        Self {
            hub,
            key,
            mode: Mode::Exclusive,
        }
    }

    /// The same machine, whose grants have that mode.
    #[must_use]
    pub fn granting(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }
}

impl<B: Backend> Subject<B> for Fencepost<B::Family> {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        self.hub.intent(now, self.key, intent)
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse> {
        self.hub.handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse> {
        self.hub.handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.hub.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<B::Ask, Event> {
        self.hub.poll_output(None).1.with_request()
    }

    fn shutdown(&mut self, now: Instant) {
        self.hub.shutdown(now);
    }

    fn pending(&self) -> usize {
        self.hub.pending()
    }

    fn mode(&self) -> Mode {
        self.mode
    }

    fn observe(&self, observer: &mut impl Observer) {
        self.hub.observe(observer);
    }
}
