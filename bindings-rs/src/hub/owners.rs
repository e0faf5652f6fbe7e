//! Who contends: sixteen bytes for every contender that nobody else has.

use fencepost_core::OwnerId;

use crate::Error;

/// Owners from the operating system's random source, fetched a few at a time: asking costs more than a step of a machine.
pub(crate) struct Owners {
    bytes: [u8; Self::BATCH],
    used: usize,
}

impl Owners {
    const BATCH: usize = 256;

    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; Self::BATCH],
            used: Self::BATCH,
        }
    }

    /// The next owner.
    pub(crate) fn next(&mut self) -> Result<OwnerId, Error> {
        if self.used == Self::BATCH {
            getrandom::fill(&mut self.bytes).map_err(|_error| Error::NoRandomness)?;
            self.used = 0;
        }
        let mut owner = [0; 16];
        owner.copy_from_slice(&self.bytes[self.used..self.used + 16]);
        self.used += 16;
        Ok(OwnerId(owner))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_owner_comes_twice() {
        let mut owners = Owners::new();
        let drawn: BTreeSet<_> = (0..1000).map(|_| owners.next().unwrap()).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
