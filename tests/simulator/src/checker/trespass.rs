//! S5: a client changes only its own attempts.

use fencepost_core::Instant;

use crate::{
    backend::{Belongings, Owner},
    step::Number,
};

/// Another client's objects that a client's request has deleted, overwritten or extended. An inspection may
/// delete the one contender of its break.
#[must_use]
pub fn trespass(
    before: &Belongings,
    after: &Belongings,
    by: Number,
    now: Instant,
    to_break: Option<&str>,
) -> Option<String> {
    let harmed = before.iter().find(|(thing, owner, end)| {
        *owner != Owner::Client(by)
            && *owner != Owner::Ended
            && to_break != Some(thing)
            && end.is_none_or(|end| end > now)
            && !after.iter().any(|(left, _, ends)| left == thing && ends == end)
    });
    harmed.map(|(thing, owner, _)| {
        format!(
            "client {} touched {thing}, which belongs to {owner:?}",
            super::name(by)
        )
    })
}
