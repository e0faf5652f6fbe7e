//! The true history of the record on the servers, which no client knows.

use fencepost_core::{
    AttemptId, Event, Refusal,
    claim::{State, form},
};
use fencepost_simulator::zookeeper::RECORD;

use super::{World, operator::Task};
use crate::promises::{Account, Broken};

#[derive(Debug, Default)]
pub(super) struct Truth {
    /// The task of the operator.
    pub(super) task: Task,
    /// Whether the operation has run without a lease.
    lapsed: bool,
    /// Whether the issuer knows that the token exists.
    pub(super) issued: bool,
    /// Which clients have begun a claim since then.
    asks_since: [bool; 4],
    /// The end of the first token's life, and the end of the present token's life, by the leader's clock.
    claimable_first: Option<i64>,
    claimable_until: Option<i64>,
    /// Attempts that have claimed a token too late.
    late: Vec<AttemptId>,
    pub(super) clock_was_set: bool,
    last: i64,
}

impl Truth {
    /// A client may begin to claim.
    pub(super) fn begins(&mut self, number: u8, what: &str) {
        if what == "claims" {
            self.asks_since[usize::from(number)] = self.issued;
        }
    }

    /// A lease ends before its time.
    pub(super) fn ended_early(&self, path: &str, account: &mut Account) {
        if let Some((RECORD, name)) = path.rsplit_once('/') {
            account.ended_early.push(name.into());
        }
    }
}

impl World<'_> {
    /// Checks the record after every change.
    pub(super) fn after_a_change(&mut self) -> Result<(), Broken> {
        self.look();
        self.spread()
    }

    fn look(&mut self) {
        let truth = &mut self.truth;
        let server = self.servers.server();
        let Some((bytes, stat)) = server.node(RECORD) else {
            return;
        };
        let Ok(Some(record)) = form::decode(bytes) else {
            return;
        };
        match (record.state, &record.token) {
            (State::Issued, Some(token)) => {
                let until = stat.modified + i64::try_from(token.life).expect("a short life");
                truth.claimable_first.get_or_insert(until);
                truth.claimable_until = Some(until);
            }
            // A claim has consumed the token, for the first time or again.
            (State::Running | State::Done, Some(_)) if record.takeovers == 0 && stat.mzxid > truth.last => {
                let first = truth.claimable_until.take();
                if first.is_some_and(|until| stat.modified > until) {
                    truth.late.push(record.attempt);
                    self.seen.late_tokens += 1;
                }
            }
            _ => {}
        }
        truth.last = stat.mzxid;
        if record.state == State::Running && !truth.lapsed {
            let lease = format!("{RECORD}/{}", record.attempt.text());
            truth.lapsed = server.node(&lease).is_none();
        }
    }

    /// Checks that the answer of a server to a client is true.
    pub(super) fn believe(&self, number: u8, event: &Event) -> Result<(), Broken> {
        let late = |attempt: &AttemptId| self.truth.late.contains(attempt);
        match event {
            Event::Acquired { grant } if late(&grant.attempt) => Err(Broken::ExpiredToken),
            Event::Completed { record } if self.truth.task == Task::Registers && late(&record.attempt) => {
                Err(Broken::ExpiredToken)
            }
            Event::Refused {
                reason: Refusal::Indeterminate,
                ..
            } if !self.truth.lapsed => Err(Broken::FalselyIndeterminate),
            Event::Refused {
                reason: Refusal::UnknownToken,
                ..
            } => self.token_may_be_unknown(number),
            _ => Ok(()),
        }
    }

    fn token_may_be_unknown(&self, number: u8) -> Result<(), Broken> {
        let truth = &self.truth;
        let first = truth
            .claimable_first
            .is_some_and(|until| self.wall_clock() <= until);
        let asks_since = truth.asks_since[usize::from(number)];
        if first && asks_since && !truth.clock_was_set && !self.account.forgotten {
            return Err(Broken::TokenDenied);
        }
        Ok(())
    }
}
