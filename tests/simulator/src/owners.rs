//! A client whose owner acquires twice: two holds of one grant, which the world sees as one.
//!
//! The second hold joins as soon as the first one is granted. The world gets the events of the first hold,
//! and the second hold must get the same ones. The grant ends when both holds have ended. The bits of the
//! seed choose the order in which the holds end, and whether the second one only reads.
//!
//! When the application extends the grant, the second hold is released and joins again. The grant stays held
//! for the world meanwhile.

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Event, Grant, Instant, Intent, Key, Misuse, Outcome, Output,
    hub::{Family, Hub},
    states::Observer,
};

use crate::{
    backend::{Backend, NoticeOf, ReplyOf, Subject},
    checker::Mode,
};

/// A hub with an owner's two keys for one lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner<F: Family> {
    hub: Hub<F>,
    keys: [Key; 2],
    held: [bool; 2],
    /// The events of the first hold that the second one has not got yet.
    owed: Vec<Event>,
    /// Which hold is released first.
    first_to_go: usize,
    /// Whether the other hold is released only after that release has ended.
    in_turn: bool,
    /// The hold to release next.
    next_to_go: Option<usize>,
    mode: Mode,
    /// Whether the second hold is also a writer.
    both_write: bool,
    /// Whether the grant has become a reader's.
    downgraded: bool,
    /// The grant as the first hold knows it.
    grant: Option<Grant>,
    suspended: bool,
    /// Whether the second hold is released to join again.
    rejoins: bool,
    now: Instant,
}

impl<F: Family> Owner<F> {
    /// Two keys, with settings of the same owner. The second key may have the settings of the reader of the
    /// same lock.
    ///
    /// # Panics
    /// Never: a new hub is open.
    #[must_use]
    pub fn new(now: Instant, settings: [F::Settings; 2], contender: ContenderId, seed: u64) -> Self {
        let mut hub = Hub::new(seed);
        let mut number = 0;
        let keys = settings.map(|settings| {
            number += 1;
            let mut contender = contender;
            contender.0[15] = number;
            hub.open(now, settings, contender, seed)
                .expect("a new hub is open")
        });
        Self {
            hub,
            keys,
            held: [false; 2],
            owed: Vec::new(),
            first_to_go: usize::from(seed & 2 != 0),
            in_turn: seed & 4 != 0,
            next_to_go: None,
            mode: Mode::Exclusive,
            both_write: false,
            downgraded: false,
            grant: None,
            suspended: false,
            rejoins: false,
            now,
        }
    }

    /// The same, whose grants have that mode.
    #[must_use]
    pub fn granting(self, mode: Mode, both_write: bool) -> Self {
        Self {
            mode,
            both_write,
            ..self
        }
    }

    fn release(&mut self) -> Result<(), Misuse> {
        if self.held != [true; 2] {
            let only = usize::from(self.held[1]);
            return self.hub.intent(self.now, self.keys[only], Intent::Release);
        }
        let (first, second) = (self.first_to_go, 1 - self.first_to_go);
        self.hub.intent(self.now, self.keys[first], Intent::Release)?;
        if self.in_turn {
            self.next_to_go = Some(second);
            return Ok(());
        }
        self.release_late(second);
        Ok(())
    }

    /// Releases the other hold. That hold may have ended already; then its own event reports the end.
    fn release_late(&mut self, hold: usize) {
        let released = self.hub.intent(self.now, self.keys[hold], Intent::Release);
        assert!(
            matches!(released, Ok(()) | Err(Misuse::NotHeld)),
            "the release of the other hold was refused: {released:?}"
        );
    }

    /// Both holds become readers. The machine sends the request when the last one does.
    fn downgrade(&mut self) -> Result<(), Misuse> {
        self.hub.intent(self.now, self.keys[0], Intent::Downgrade)?;
        self.downgraded = true;
        if self.held[1] && self.both_write {
            let second = self.hub.intent(self.now, self.keys[1], Intent::Downgrade);
            assert_eq!(second, Ok(()), "the second writer cannot be downgraded");
        }
        Ok(())
    }

    /// The second hold joins, unless the grant has ended by the clock or admits no second writer.
    fn join(&mut self) {
        let Some(grant) = self.grant.filter(|grant| grant.is_valid(self.now)) else {
            return;
        };
        let again = Intent::Acquire(AcquireTimeout::Try);
        let joined = self.hub.intent(self.now, self.keys[1], again);
        if self.downgraded && self.both_write {
            assert_eq!(joined, Err(Misuse::Upgrade), "a reader became a writer");
            return;
        }
        assert_eq!(joined, Ok(()), "an owner cannot acquire what it holds");
        self.owed.push(Event::Acquired { grant });
    }

    /// The second hold is released, while the first one stays.
    fn leave(&mut self) {
        if self.held == [true; 2]
            && self.owed.is_empty()
            && self.grant.is_some_and(|grant| grant.is_valid(self.now))
        {
            let left = self.hub.intent(self.now, self.keys[1], Intent::Release);
            assert_eq!(left, Ok(()), "a hold that is not the last one cannot be released");
            self.rejoins = true;
        }
    }

    /// Handles an event of a hold, and returns the event for the world.
    fn on_event(&mut self, hold: usize, event: Event) -> Option<Event> {
        match &event {
            Event::Acquired { grant } if hold == 0 => {
                self.held[0] = true;
                self.downgraded = false;
                self.suspended = false;
                self.grant = Some(*grant);
                self.join();
                Some(event)
            }
            Event::Acquired { .. } => {
                assert_eq!(self.owed, [event], "a further hold of another grant");
                self.owed.clear();
                self.held[1] = true;
                self.suspended.then(|| self.owed.push(Event::Suspended));
                None
            }
            Event::Downgraded => (hold == usize::from(self.held[1] && self.both_write)).then_some(event),
            Event::Released if self.rejoins && hold == 1 => {
                (self.rejoins, self.held[1]) = (false, false);
                self.join();
                None
            }
            Event::Released | Event::Lost { .. } => self.ends(hold, event),
            Event::Refused { .. } if self.held == [false; 2] || self.next_to_go.is_some() => {
                self.ends(hold, event)
            }
            // The server has refused the downgrade. Only the hold that asked for it gets the event.
            Event::Refused { .. } => {
                self.downgraded = false;
                Some(event)
            }
            // The other events come to both holds, in turn. `MixedLayouts` and `Queued` may come before there are two.
            _ if hold == 0 => {
                self.knows(&event);
                if self.held[1] {
                    self.owed.push(event.clone());
                }
                Some(event)
            }
            _ => {
                assert_eq!(
                    Some(&event),
                    self.owed.first(),
                    "the holds learn different things"
                );
                self.owed.remove(0);
                None
            }
        }
    }

    fn knows(&mut self, event: &Event) {
        let Some(grant) = &mut self.grant else { return };
        match event {
            Event::Extended { valid_until } => grant.valid_until = *valid_until,
            Event::Resumed { valid_until } => {
                grant.valid_until = *valid_until;
                self.suspended = false;
            }
            Event::Suspended => self.suspended = true,
            _ => {}
        }
    }

    fn ends(&mut self, hold: usize, event: Event) -> Option<Event> {
        self.held[hold] = false;
        if let Some(next) = self.next_to_go.take_if(|next| *next != hold)
            && self.held[next]
        {
            self.release_late(next);
        }
        (self.held == [false; 2]).then(|| {
            self.owed.clear();
            event
        })
    }
}

impl<B: Backend> Subject<B> for Owner<B::Family> {
    fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        self.now = now;
        match intent {
            Intent::Release => self.release(),
            Intent::Downgrade => self.downgrade(),
            Intent::Extend => {
                self.leave();
                self.hub.intent(now, self.keys[0], intent)
            }
            _ => self.hub.intent(now, self.keys[0], intent),
        }
    }

    fn handle_outcome(
        &mut self,
        now: Instant,
        id: CommandId,
        outcome: Outcome<ReplyOf<B>>,
    ) -> Result<(), Misuse> {
        self.now = now;
        self.hub.handle_outcome(now, id, outcome)
    }

    fn handle_notice(&mut self, now: Instant, notice: NoticeOf<B>) -> Result<(), Misuse> {
        self.now = now;
        self.hub.handle_notice(now, notice)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.hub.handle_timeout(now);
    }

    fn poll_output(&mut self) -> Output<B::Ask, Event> {
        loop {
            let (key, output) = self.hub.poll_output(None);
            match output.with_request() {
                Output::Event(event) => {
                    let hold = usize::from(key == self.keys[1]);
                    if let Some(event) = self.on_event(hold, event) {
                        return Output::Event(event);
                    }
                }
                other => return other,
            }
        }
    }

    fn shutdown(&mut self, now: Instant) {
        self.owed.clear();
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
