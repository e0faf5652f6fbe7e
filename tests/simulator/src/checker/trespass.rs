//! S5: only one's own attempts are touched.

use fencepost_core::Instant;

use crate::{
    backend::{Belongings, Owner},
    step::Number,
};

/// What a client has done to somebody else's belongings by one request: deleted, overwritten or prolonged them. One thing may be its to
/// delete: what an inspection was told to break.
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
            && *owner != Owner::Nobody
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
