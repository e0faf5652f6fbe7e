//! Replaces `trace` without the feature `tracing`: it reports nothing.

use fencepost_core::Event;

use super::end::End;
use crate::{Lost, Refused, Shown};

#[derive(Debug, Default)]
pub(crate) struct Trace(());

impl Trace {
    pub(crate) const fn begin(&self, _subject: &Shown) {}
    pub(super) const fn event(&self, _event: &Event) {}
    pub(super) const fn lost(&self, _lost: &Lost) {}
    pub(super) const fn refused(&self, _refused: &Refused) {}
    pub(super) const fn end(&self, _end: &End) {}
    pub(super) const fn report(&self, _subject: &Shown) {}
}
