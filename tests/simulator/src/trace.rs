//! The trace of a run, for stories and for transcripts. Without a trace, nothing is recorded.

use fencepost_core::{CommandId, Instant, Intent, Outcome};

use crate::{
    backend::{Backend, NoticeOf, ReplyOf},
    step::Number,
};

/// A participant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A client.
    Client(Number),
    /// The server.
    Server,
    /// The resource that the lock protects.
    Resource,
}

/// An event of one actor, or of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message from one actor to another.
    Arrow(Actor, Actor),
    /// An event of one actor.
    Point(Actor),
    /// A pending message is lost.
    Lost(Actor),
    /// Time passes.
    Pause,
}

/// An input of a client's machine.
#[derive(Clone, Debug)]
pub enum Input<B: Backend> {
    /// An intent.
    Intent(Intent),
    /// An outcome.
    Outcome(CommandId, Outcome<ReplyOf<B>>),
    /// A notice.
    Notice(NoticeOf<B>),
    /// A look at the clock.
    Timeout,
    /// The shutdown.
    Shutdown,
}

/// Records a run.
pub trait Trace<B: Backend> {
    /// Something has happened.
    fn act(&mut self, _now: Instant, _act: Act, _text: impl FnOnce() -> String) {}
    /// A client's machine got an input, at its own time.
    fn input(&mut self, _client: Number, _local: Instant, _input: impl FnOnce() -> Input<B>) {}
    /// A client's process has ended, and another one has started.
    fn anew(&mut self, _client: Number) {}
}

/// No trace.
impl<B: Backend> Trace<B> for () {}
