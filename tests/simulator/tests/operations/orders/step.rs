//! The steps of a search.

use fencepost_simulator::step::Number;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The application of a client claims, has the effect, or completes.
    Act(Number),
    /// The server executes a request.
    Execute(Number, u8),
    /// An answer arrives.
    Answer(Number, u8),
    /// A notice arrives.
    Notice(Number),
    /// A client connects again.
    Connect(Number),
    /// A paused client continues.
    Wake(Number),
    /// Time passes until the next timer.
    Time,
    /// A process ends, and another one takes its place. The server has executed so many of its requests.
    Crash(Number, u8),
    /// A client pauses.
    Pause(Number),
    /// A connection breaks. The server has executed so many of the pending requests.
    Disconnect(Number, u8),
    /// An answer comes too late.
    LoseAnswer(Number, u8),
}

impl Step {
    pub(super) const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::Crash(..) | Self::Pause(_) | Self::Disconnect(..) | Self::LoseAnswer(..)
        )
    }
}
