//! S5: only one's own attempts are touched.

use fencepost_core::Instant;

use crate::{
    backend::{Belongings, Owner},
    step::Number,
};

/// What one request of a client has changed that belongs to another: deleted, overwritten or prolonged. An inspection may delete
/// the one contender that it has to break.
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
