//! The settings of one request that is not an acquire.

use alloc::string::String;
use core::time::Duration;

use crate::{
    Fence,
    claim::{Name, Step},
};

use super::StringSettings;

/// The request of a single step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::redis) enum Question {
    /// A request about one operation or value.
    Operation(Name, Step),
    /// Find the holder of a lock.
    Holder(StringSettings),
    /// Take a lock from its holder.
    Break {
        lock: StringSettings,
        /// The value of the lock's key.
        token: String,
        fence: Fence,
    },
    /// No request: the server expires records without a sweep, so a sweep has nothing to do.
    Nothing,
}

/// The checked settings of one request: about an operation or a value, or an inspection of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepSettings {
    pub(in crate::redis) question: Question,
    /// How long a reply may take. After this time the machine sends the request again.
    pub answer_within: Duration,
}

impl StepSettings {
    /// One step about the operation or value with this name.
    #[must_use]
    pub const fn new(name: Name, step: Step, answer_within: Duration) -> Self {
        Self {
            question: Question::Operation(name, step),
            answer_within,
        }
    }

    /// A sweep. It sends no request, because the server expires records without it.
    #[must_use]
    pub const fn sweep(answer_within: Duration) -> Self {
        Self {
            question: Question::Nothing,
            answer_within,
        }
    }

    /// Finds the holder of a lock.
    #[must_use]
    pub const fn list(lock: StringSettings) -> Self {
        let answer_within = lock.lease.answer_within;
        Self {
            question: Question::Holder(lock),
            answer_within,
        }
    }

    /// Takes a lock from the holder that an inspection found.
    #[must_use]
    pub const fn break_holder(lock: StringSettings, token: String, fence: Fence) -> Self {
        let answer_within = lock.lease.answer_within;
        Self {
            question: Question::Break { lock, token, fence },
            answer_within,
        }
    }
}
