//! Redis replies. JavaScript passes their parts, with one call for each part: a read of a JavaScript value
//! from this side would also be a call. Bytes are copied once, into this module's memory.

use alloc::vec::Vec;

use fencepost_core::redis::Reply;

/// The parts of the next reply: an array comes after its items.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Reply>);

impl Parts {
    pub(crate) fn push(&mut self, part: Reply) {
        self.0.push(part);
    }

    /// Replaces the last `count` parts by an array of them.
    pub(crate) fn gather(&mut self, count: usize) {
        let items = self.0.split_off(self.0.len().saturating_sub(count));
        self.0.push(Reply::Array(items));
    }

    /// Takes the complete reply.
    pub(crate) fn take(&mut self) -> Reply {
        let whole = self.0.pop().unwrap_or(Reply::Nil);
        self.clear();
        whole
    }

    /// Drops the parts of the reply.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
