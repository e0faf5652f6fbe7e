//! A client, and its pending messages.

use std::collections::VecDeque;

use fencepost_core::{CommandId, Instant, hub::Family};
use fencepost_simulator::{
    backend::{Backend, NoticeOf, ReplyOf},
    step::Number,
};

use crate::application::{Application, Stage};

/// The settings of a claim.
pub(super) type SettingsOf<B> = <<B as Backend>::Family as Family>::Settings;

/// A pending request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent<B: Backend> {
    pub(super) id: CommandId,
    pub(super) connection: B::Connection,
    pub(super) ask: B::Ask,
    /// Whether the client still waits for the answer.
    pub(super) awaited: bool,
}

/// A pending answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Answer<B: Backend> {
    pub(super) id: CommandId,
    pub(super) reply: ReplyOf<B>,
    pub(super) mark: i64,
    /// Whether it answers a probe of the session.
    pub(super) routine: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client<B: Backend> {
    pub(super) application: Application<B::Family>,
    /// Whether it has the result, or may not run the operation.
    pub(super) done: bool,
    pub(super) connected: bool,
    pub(super) paused: bool,
    pub(super) requests: VecDeque<Sent<B>>,
    pub(super) answers: VecDeque<Answer<B>>,
    pub(super) notices: VecDeque<NoticeOf<B>>,
    /// Commands without an outcome.
    pub(super) open: Vec<CommandId>,
    /// When its hub has a timer.
    pub(super) wait: Option<Instant>,
    pub(super) crashes: u8,
}

impl<B: Backend> Client<B> {
    pub(super) fn new(now: Instant, number: Number, crashes: u8, settings: &SettingsOf<B>) -> Self {
        Self {
            application: Application::new(now, settings.clone(), b"", [number + 1, crashes]),
            done: false,
            connected: false,
            paused: false,
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            notices: VecDeque::new(),
            open: Vec::new(),
            wait: None,
            crashes,
        }
    }

    pub(super) fn can_act(&self) -> bool {
        match self.application.stage {
            Stage::Idle => !self.done,
            Stage::Runs(_) | Stage::Done(_) => true,
            Stage::Claims | Stage::Ends(_) => false,
        }
    }
}
