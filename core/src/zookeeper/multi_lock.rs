//! Many locks or none: a place in every line at once.
//!
//! ```text
//!            acquire                 one node in every line         all are first
//!   Idle ──────────────▶ Enqueuing ─────────────────────▶ Waiting ───────────────▶ Held
//!    ▲                    ▲    ▲                             │                       │ release,
//!    │  outcome not known │    └───────── Restarting ◀───────┤ a place was lost      │ loss
//!    │                    └─────────────────────┘            ▼                       ▼
//!    └──────────────────────────────────────────────────── Leaving ◀─────────────────┘
//! ```
//!
//! The nodes are made in one transaction, so every line has the same order of those who share two of them: nobody who takes many at once can
//! wait for somebody who waits for it, whatever the order of the names. (Who takes one lock after the other, as Curator's `InterProcessMultiLock` does,
//! can still wait for one of ours that waits for it.) Each place is then a contender's like any other. If one is lost, all are given up and taken
//! anew, because a place of its own could have fallen behind in one line only.

use alloc::{string::String, vec::Vec};

use crate::{
    AttemptId, Cause, CommandId, Event, Failure, Fence, Grant, Instant, Intent, Machine, Misuse, Outcome,
    Output, OwnerId, Patience, Refusal, SessionId, Timer, io::sealed, jitter::Jitter, outbox::Outbox,
};

use super::{
    Contender, ContenderSettings, Verdict, judge,
    wire::{Answer, Notice, Reply, Request, SessionState, Write, code},
};

/// One contender for many locks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MultiLock {
    out: Outbox<Request>,
    jitter: Jitter,
    attempt: AttemptId,
    /// In the order of the names.
    places: Vec<Place>,
    phase: Phase,
    session: Option<SessionId>,
    ended: Option<Refusal>,
    /// The transaction under way, and the parents that are made before it.
    enqueuing: Option<CommandId>,
    parents: Vec<CommandId>,
    /// How many flights have found no directory in spite of making it.
    parents_made: u32,
    failures: u32,
    trying: bool,
    /// What is said of a release when all places are clear.
    farewell: Option<Event>,
    told: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    contender: Contender,
    grant: Option<Grant>,
    suspended: bool,
    ahead: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Enqueuing,
    Waiting,
    Restarting,
    Held { suspended: bool },
    Leaving { release: bool },
}

/// A directory that vanishes as often as this while it is being made is missing for good.
const MOST_PARENT_FLIGHTS: u32 = 4;

impl MultiLock {
    /// A contender that has not asked for anything yet.
    #[must_use]
    pub fn new(settings: Vec<ContenderSettings>, owner: OwnerId, seed: u64) -> Self {
        let places = settings.into_iter().map(|settings| Place {
            contender: Contender::new(settings, owner, seed),
            grant: None,
            suspended: false,
            ahead: 0,
        });
        Self {
            out: Outbox::new(),
            jitter: Jitter::new(seed),
            attempt: AttemptId { owner, number: 0 },
            places: places.collect(),
            phase: Phase::Idle,
            session: None,
            ended: None,
            enqueuing: None,
            parents: Vec::new(),
            parents_made: 0,
            failures: 0,
            trying: false,
            farewell: None,
            told: None,
        }
    }

    /// The application's intents.
    ///
    /// # Errors
    /// [`Misuse`] for one that makes no sense now; nothing has changed then.
    pub fn intent(&mut self, now: Instant, intent: Intent) -> Result<(), Misuse> {
        match (intent, self.phase) {
            (Intent::Acquire(patience), Phase::Idle) => self.acquire(now, patience),
            (Intent::Acquire(_), _) => return Err(Misuse::Busy),
            // The hub has asked the keeper: its confirmation extends all.
            (Intent::Extend, Phase::Held { .. }) => {}
            (Intent::Release, Phase::Held { .. }) => {
                self.phase = Phase::Leaving { release: true };
                self.farewell = Some(Event::Released);
                self.withdraw(now);
            }
            (Intent::Downgrade, Phase::Held { .. }) => return Err(Misuse::NotAWriter),
            (Intent::Extend | Intent::Release | Intent::Downgrade, _) => return Err(Misuse::NotHeld),
            (Intent::Cancel, Phase::Enqueuing | Phase::Waiting | Phase::Restarting) => {
                self.refuse(now, Refusal::Cancelled, Cause::none());
            }
            (Intent::Cancel, _) => return Err(Misuse::NotWaiting),
        }
        self.heed(now);
        Ok(())
    }

    /// Whether nothing is held, wanted or left to clean up.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(crate) const fn outbox(&mut self) -> &mut Outbox<Request> {
        &mut self.out
    }

    fn acquire(&mut self, now: Instant, patience: Patience) {
        self.trying = patience == Patience::Try;
        self.failures = 0;
        self.told = None;
        let limit = match (patience, self.places.first()) {
            (Patience::For(limit), _) => Some(limit),
            (Patience::Try, Some(place)) => Some(place.contender.answer_within()),
            (Patience::Try | Patience::Forever, _) => None,
        };
        if let Some(limit) = limit {
            self.out.set_after(Timer::Patience, now, limit);
        }
        self.phase = Phase::Enqueuing;
        self.parents_made = 0;
        match self.ended {
            Some(reason) => self.refuse(now, reason, Cause::none()),
            None => self.enqueue(false),
        }
    }

    /// A node in every line, all of them or none; before it, if they are missing, the directories.
    fn enqueue(&mut self, parents: bool) {
        if self.session.is_none() {
            return;
        }
        self.attempt.number = self.attempt.number.saturating_add(1);
        if parents {
            for place in &self.places {
                for (path, mode) in place.contender.parents() {
                    let data = Vec::new();
                    let request = Request::Create { path, data, mode };
                    self.parents.push(self.out.command(request, None));
                }
            }
        }
        let attempt = &self.attempt;
        let writes = self
            .places
            .iter()
            .map(|place| {
                let (path, data, mode) = place.contender.node_of(attempt);
                Write::Create { path, data, mode }
            })
            .collect();
        let deadline = self.out.at(Timer::Patience);
        self.enqueuing = Some(self.out.command(Request::Multi { writes }, deadline));
    }

    fn enqueued(
        &mut self,
        now: Instant,
        id: CommandId,
        result: Result<Answer, Failure>,
    ) -> Result<(), Misuse> {
        self.enqueuing = None;
        let waited = self.phase == Phase::Enqueuing;
        match result {
            Ok(Answer::Children(names)) if self.are_ours(&names) => {
                for (place, name) in self.places.iter_mut().zip(names) {
                    let (attempt, trying) = (self.attempt, self.trying);
                    place
                        .contender
                        .lent(&mut self.out, |contender| contender.seat(attempt, name, trying));
                }
                if waited {
                    self.failures = 0;
                    self.phase = Phase::Waiting;
                } else {
                    self.withdraw(now);
                }
            }
            Ok(Answer::Error(code::NO_NODE)) if waited => {
                self.parents_made = self.parents_made.saturating_add(1);
                if self.parents_made > MOST_PARENT_FLIGHTS {
                    let detail = "a lock's directory cannot be made".into();
                    self.refuse(now, Refusal::NoParent, Cause::answer(id, detail));
                } else {
                    self.enqueue(true);
                }
            }
            Ok(Answer::Error(error)) if waited => match judge(error, id, "queueing for all locks") {
                Verdict::Transient => self.retry_later(now),
                Verdict::Final(reason, cause) => self.refuse(now, reason, cause),
            },
            Ok(Answer::Error(_)) => {}
            Err(Failure::NotSent) if waited => self.retry_later(now),
            Err(Failure::Closed) if waited => self.refuse(now, Refusal::ConnectionClosed, Cause::command(id)),
            Err(Failure::NotSent | Failure::Closed) => {}
            // Nobody knows whether the nodes are there: they are searched for and deleted before new ones are made.
            Ok(_) | Err(Failure::Unknown) => {
                let attempt = self.attempt;
                for place in &mut self.places {
                    place
                        .contender
                        .lent(&mut self.out, |contender| contender.search_for(attempt));
                }
                if waited {
                    self.phase = Phase::Restarting;
                }
                if let Ok(_odd) = result {
                    let expected = "children, the names of the nodes in the order of the writes";
                    return Err(Misuse::WrongReply { id: id.0, expected });
                }
            }
        }
        Ok(())
    }

    fn are_ours(&self, names: &[String]) -> bool {
        let mut pairs = self.places.iter().zip(names);
        names.len() == self.places.len()
            && pairs.all(|(place, name)| place.contender.could_be_of(&self.attempt, name))
    }

    fn retry_later(&mut self, now: Instant) {
        if self.session.is_some() {
            let wait = self.jitter.backoff(self.failures);
            self.out.set_after(Timer::Retry, now, wait);
        }
        self.failures = self.failures.saturating_add(1);
    }

    fn refuse(&mut self, now: Instant, reason: Refusal, cause: Cause) {
        self.out.event(Event::Refused { reason, cause });
        self.leave(now);
    }

    fn leave(&mut self, now: Instant) {
        self.out.stop_all();
        self.phase = Phase::Leaving { release: false };
        self.withdraw(now);
    }

    /// Gives back every place, held or waited in.
    fn withdraw(&mut self, now: Instant) {
        for place in &mut self.places {
            place.grant = None;
            place.suspended = false;
            place
                .contender
                .lent(&mut self.out, |contender| contender.give_up(now));
        }
    }

    /// Hears what the places have to say, until they have said all.
    fn heed(&mut self, now: Instant) {
        loop {
            let mut said = self.places.iter_mut().enumerate().filter_map(|(index, place)| {
                let event = place.contender.outbox().take_event()?;
                Some((index, event))
            });
            let Some((index, event)) = said.next() else { break };
            self.place_says(now, index, event);
        }
        let at_rest = self.enqueuing.is_none() && self.places.iter().all(|place| place.contender.is_idle());
        match self.phase {
            Phase::Restarting if at_rest && self.out.at(Timer::Retry).is_none() => {
                self.phase = Phase::Enqueuing;
                self.enqueue(false);
            }
            Phase::Leaving { .. } if at_rest => {
                self.phase = Phase::Idle;
                self.out.stop_all();
                if let Some(event) = self.farewell.take() {
                    self.out.event(event);
                }
            }
            _ => {}
        }
    }

    fn place_says(&mut self, now: Instant, index: usize, event: Event) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        match (self.phase, event) {
            (Phase::Waiting, Event::Acquired { grant }) => {
                place.grant = Some(grant);
                self.grant_if_all();
            }
            (Phase::Waiting, Event::Queued { ahead }) => {
                place.ahead = ahead.unwrap_or_default();
                let most = self.places.iter().map(|place| place.ahead).max();
                if self.told != most {
                    self.told = most;
                    self.out.event(Event::Queued { ahead: most });
                }
            }
            (Phase::Waiting, Event::Refused { reason, cause }) => self.refuse(now, reason, cause),
            (Phase::Waiting, Event::Extended { valid_until }) => {
                if let Some(grant) = &mut place.grant {
                    grant.valid_until = valid_until;
                }
            }
            (Phase::Waiting, Event::Suspended) => place.suspended = true,
            (Phase::Waiting, Event::Resumed { valid_until }) => {
                place.suspended = false;
                if let Some(grant) = &mut place.grant {
                    grant.valid_until = valid_until;
                }
                self.grant_if_all();
            }
            (Phase::Waiting, Event::Lost { .. }) => {
                self.phase = Phase::Restarting;
                self.withdraw(now);
            }
            (Phase::Held { .. }, event @ Event::Lost { .. }) => {
                self.out.event(event);
                self.leave(now);
            }
            (Phase::Held { suspended }, Event::Suspended) => {
                place.suspended = true;
                if !suspended {
                    self.phase = Phase::Held { suspended: true };
                    self.out.event(Event::Suspended);
                }
            }
            (Phase::Held { .. }, Event::Resumed { valid_until }) => {
                place.suspended = false;
                if self.places.iter().all(|place| !place.suspended) {
                    self.phase = Phase::Held { suspended: false };
                    self.out.event(Event::Resumed { valid_until });
                }
            }
            // One session confirms all.
            (Phase::Held { suspended: false }, event @ Event::Extended { .. }) if index == 0 => {
                self.out.event(event);
            }
            (Phase::Waiting, event @ Event::MixedLayouts { .. })
            | (Phase::Held { .. }, event @ Event::RevokeRequested) => self.out.event(event),
            (Phase::Leaving { release: true }, event @ Event::Refused { .. }) => self.farewell = Some(event),
            _ => {}
        }
    }

    /// All or none: the transaction's number is the fence of all.
    fn grant_if_all(&mut self) {
        let grants: Option<Vec<Grant>> = self
            .places
            .iter()
            .map(|place| place.grant.filter(|_| !place.suspended))
            .collect();
        let Some(grants) = grants else { return };
        let fence: Option<Fence> = grants.iter().filter_map(|grant| grant.fence).max();
        let valid_until = grants.iter().filter_map(|grant| grant.valid_until).min();
        self.phase = Phase::Held { suspended: false };
        self.out.stop_all();
        let attempt = self.attempt;
        let grant = Grant {
            attempt,
            fence,
            valid_until,
        };
        self.out.event(Event::Acquired { grant });
    }

    fn read(&self, outcome: Outcome<Reply>) -> Result<Answer, Failure> {
        match outcome {
            Outcome::Failed(failure) => Err(failure),
            // Commands known here are of this session: the compare is the second line.
            Outcome::Reply(reply) if self.session.is_some_and(|session| session != reply.session) => {
                Err(Failure::Unknown)
            }
            Outcome::Reply(reply) if reply.is_made_up() => Err(Failure::Unknown),
            Outcome::Reply(reply) => Ok(reply.answer),
        }
    }

    fn session_changed(&mut self, state: SessionState, session: SessionId) {
        match state {
            SessionState::Connected => {
                self.session = Some(session);
                self.ended = None;
            }
            SessionState::Connecting | SessionState::Suspended => self.session = None,
            SessionState::Expired | SessionState::AuthFailed | SessionState::Closed => {
                self.session = None;
                // What was made went with the session.
                self.enqueuing = None;
                self.ended = match state {
                    SessionState::AuthFailed => Some(Refusal::AuthFailed),
                    SessionState::Closed => Some(Refusal::ConnectionClosed),
                    _ => None,
                };
            }
        }
        self.parents.clear();
    }
}

impl sealed::Sealed for MultiLock {}

impl Machine for MultiLock {
    type Request = Request;
    type Reply = Reply;
    type Notice = Notice;
    type Event = Event;

    fn handle_outcome(&mut self, now: Instant, id: CommandId, outcome: Outcome<Reply>) -> Result<(), Misuse> {
        let verdict = if self.enqueuing == Some(id) {
            let result = self.read(outcome);
            self.enqueued(now, id, result)
        } else if self.parents.contains(&id) {
            // Made, or there, or not ours to make: the transaction behind it tells.
            self.parents.retain(|parent| *parent != id);
            if matches!(self.read(outcome), Ok(Answer::Error(code::UNIMPLEMENTED))) {
                for place in &mut self.places {
                    place.contender.do_without_containers();
                }
            }
            Ok(())
        } else {
            // Each knows its own commands, and takes no notice of the others'.
            let mut verdict = Ok(());
            for place in &mut self.places {
                let outcome = outcome.clone();
                let put = |contender: &mut Contender| contender.handle_outcome(now, id, outcome);
                verdict = verdict.and(place.contender.lent(&mut self.out, put));
            }
            verdict
        };
        self.heed(now);
        verdict
    }

    fn handle_notice(&mut self, now: Instant, notice: Notice) -> Result<(), Misuse> {
        if let Notice::Session { state, session, .. } = notice {
            self.session_changed(state, session);
        }
        for place in &mut self.places {
            let notice = notice.clone();
            place
                .contender
                .lent(&mut self.out, |contender| contender.handle_notice(now, notice))?;
        }
        if let Notice::Session { .. } = notice {
            self.out.stop(Timer::Retry);
            if let (Some(reason), Phase::Enqueuing | Phase::Waiting | Phase::Restarting) =
                (self.ended, self.phase)
            {
                self.refuse(now, reason, Cause::none());
            } else if self.phase == Phase::Enqueuing && self.enqueuing.is_none() {
                self.enqueue(false);
            }
        }
        self.heed(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        let waiting = matches!(self.phase, Phase::Enqueuing | Phase::Waiting | Phase::Restarting);
        if self.out.expired(Timer::Patience, now) && waiting {
            let reason = if self.told.is_some() {
                Refusal::Timeout
            } else {
                Refusal::Unreachable
            };
            self.refuse(now, reason, Cause::none());
        }
        if self.out.expired(Timer::Retry, now) && self.phase == Phase::Enqueuing && self.enqueuing.is_none() {
            self.enqueue(self.parents_made > 0);
        }
        for place in &mut self.places {
            place
                .contender
                .lent(&mut self.out, |contender| contender.handle_timeout(now));
        }
        self.heed(now);
    }

    fn poll_output(&mut self) -> Output<Request, Event> {
        let mut earliest = match self.out.poll() {
            Output::Wait(wait) => wait,
            output => return output,
        };
        for place in &mut self.places {
            match place.contender.poll_output() {
                Output::Wait(wait) => earliest = earliest.or_earlier(wait),
                output => return output,
            }
        }
        Output::Wait(earliest)
    }
}
