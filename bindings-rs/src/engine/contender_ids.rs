//! The ids of contenders: sixteen bytes each, unique for every contender.

use fencepost_core::ContenderId;

use crate::Error;

/// Ids from the operating system's random source. They are fetched several at a time, because a system call costs more
/// than a step of a machine.
pub(crate) struct ContenderIds {
    bytes: [u8; Self::BATCH],
    used: usize,
}

impl ContenderIds {
    const BATCH: usize = 256;

    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; Self::BATCH],
            used: Self::BATCH,
        }
    }

    /// The next id.
    pub(crate) fn next(&mut self) -> Result<ContenderId, Error> {
        if self.used == Self::BATCH {
            getrandom::fill(&mut self.bytes).map_err(|_error| Error::NoRandomness)?;
            self.used = 0;
        }
        let mut id = [0; 16];
        id.copy_from_slice(&self.bytes[self.used..self.used + 16]);
        self.used += 16;
        Ok(ContenderId(id))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_owner_comes_twice() {
        let mut ids = ContenderIds::new();
        let drawn: BTreeSet<_> = (0..1000).map(|_| ids.next().unwrap()).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
