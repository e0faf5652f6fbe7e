//! One step of a story, read from bytes.

use core::time::Duration;

use arbitrary::{Result, Unstructured};
use fencepost_core::{
    AcquireTimeout, CommandId, Failure, Intent, RawSettings, claim::Content, lowered::Outcome,
    zookeeper::SessionState,
};

use crate::values;

/// One input. Small numbers choose machines and commands: the n-th one, or one that never existed.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Open,
    OpenWith(Box<RawSettings>, u64),
    Intent(u8, Intent),
    /// A fitting answer to one of the pending commands; mostly the answer of a healthy server.
    Answer(u8, u8),
    /// Any outcome, for any command, mostly a pending one.
    Babble(u8, Outcome),
    /// An outcome for a command that already has one.
    Again(u8, Outcome),
    NeverIssued(CommandId, Outcome),
    Fail(u8, Failure),
    Session(SessionState, NewSession, Duration),
    /// The first node of the queue is deleted, and the watches on it fire.
    Vanish,
    /// A watch, a message, a lost subscription: the command, the session, the kind.
    Notice(u8, u8, u8),
    /// A notice for a command that never existed.
    NoticeOfNothing(CommandId, u8),
    Advance(u64),
    GoBack(u64),
    UntilWait,
    Close(u8),
    PollOnly(u8),
    /// No polls follow this many of the next inputs.
    Hold(u8),
    Shutdown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NewSession {
    Same,
    New,
    Odd(i64),
}

impl Step {
    /// The kind of this step.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::OpenWith(..) => "open with",
            Self::Intent(..) => "intent",
            Self::Answer(..) => "answer",
            Self::Babble(..) => "babble",
            Self::Again(..) => "again",
            Self::NeverIssued(..) => "never issued",
            Self::Fail(..) => "fail",
            Self::Session(..) => "session",
            Self::Vanish => "vanish",
            Self::Notice(..) => "notice",
            Self::NoticeOfNothing(..) => "notice of nothing",
            Self::Advance(..) => "advance",
            Self::GoBack(..) => "go back",
            Self::UntilWait => "until wait",
            Self::Close(..) => "close",
            Self::PollOnly(..) => "poll only",
            Self::Hold(..) => "hold",
            Self::Shutdown => "shutdown",
        }
    }

    /// Any step; sensible ones are more frequent, so that machines make progress.
    pub(crate) fn read(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match u.arbitrary::<u8>()? {
            0..8 => Self::Open,
            8..12 => Self::OpenWith(Box::new(values::settings(u)?), u.arbitrary()?),
            12..52 => Self::Intent(u.arbitrary()?, intent(u)?),
            52..150 => Self::Answer(u.arbitrary()?, 0),
            150..166 => Self::Answer(u.arbitrary()?, u.arbitrary()?),
            166..178 => Self::Babble(u.arbitrary()?, values::outcome(u)?),
            178..181 => Self::Again(u.arbitrary()?, values::outcome(u)?),
            181..183 => Self::NeverIssued(values::never_issued(u)?, values::outcome(u)?),
            183..190 => Self::Fail(u.arbitrary()?, values::failure(u)?),
            190..202 => session(u)?,
            202..210 => Self::Vanish,
            210..220 => Self::Notice(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            220 => Self::NoticeOfNothing(values::never_issued(u)?, u.arbitrary()?),
            221..225 => Self::Advance(u64::from(u.arbitrary::<u16>()?) * 50),
            225 => Self::Advance(values::number(u)?.unsigned_abs()),
            226..228 => Self::GoBack(u.arbitrary::<u32>()?.into()),
            228..242 => Self::UntilWait,
            242..245 => Self::Close(u.arbitrary()?),
            245..250 => Self::PollOnly(u.arbitrary()?),
            250..255 => Self::Hold(u.arbitrary::<u8>()? % 8),
            255 if u.arbitrary::<u8>()? < 64 => Self::Shutdown,
            255 => Self::UntilWait,
        })
    }
}

fn intent(u: &mut Unstructured<'_>) -> Result<Intent> {
    Ok(match u.arbitrary::<u8>()? {
        0..90 => Intent::Acquire(AcquireTimeout::Forever),
        90..110 => Intent::Acquire(AcquireTimeout::Try),
        110..120 => Intent::Acquire(AcquireTimeout::For(Duration::from_millis(
            u.arbitrary::<u16>()?.into(),
        ))),
        120..126 => Intent::Acquire(AcquireTimeout::For(Duration::from_micros(u.arbitrary()?))),
        126..130 => Intent::Acquire(AcquireTimeout::For(Duration::MAX)),
        130..200 => Intent::Release,
        200..220 => Intent::Extend,
        220..226 => Intent::Downgrade,
        226 => Intent::Leave,
        227..230 => Intent::Complete(Content::new("json", b"[]".into()).unwrap_or_default()),
        230.. => Intent::Cancel,
    })
}

fn session(u: &mut Unstructured<'_>) -> Result<Step> {
    let state = match u.arbitrary::<u8>()? {
        0..150 => SessionState::Connected,
        150..225 => SessionState::Suspended,
        225..245 => SessionState::Expired,
        245..250 => SessionState::AuthFailed,
        250.. => SessionState::Closed,
    };
    let session = match u.arbitrary::<u8>()? {
        0..220 => NewSession::Same,
        220..250 => NewSession::New,
        250.. => NewSession::Odd(values::number(u)?),
    };
    let timeout = match u.arbitrary::<u8>()? {
        0..220 => Duration::from_secs(9),
        220..230 => Duration::ZERO,
        230..240 => Duration::MAX,
        240.. => Duration::from_micros(values::number(u)?.unsigned_abs()),
    };
    Ok(Step::Session(state, session, timeout))
}

/// The name of an intent.
pub(crate) const fn intent_name(intent: &Intent) -> &'static str {
    match intent {
        Intent::Acquire(AcquireTimeout::Forever) => "for ever",
        Intent::Acquire(AcquireTimeout::For(_)) => "for a while",
        Intent::Acquire(AcquireTimeout::Try) => "try",
        Intent::Release => "release",
        Intent::Extend => "extend",
        Intent::Cancel => "cancel",
        Intent::Downgrade => "downgrade",
        Intent::Complete(_) => "complete",
        Intent::Leave => "leave",
        _ => "something new",
    }
}
