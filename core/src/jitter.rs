//! Random delays that keep clients from acting at the same time. No decision depends on them. The generator is
//! PCG-XSH-RR (O'Neill, 2014), seeded by the caller.

use core::time::Duration;

use crate::time::micros;

/// A small random number generator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Jitter(u64);

impl Jitter {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let folded = ((state >> 18) ^ state) >> 27;
        #[expect(clippy::cast_possible_truncation, reason = "PCG takes the low 32 bits")]
        let word = folded as u32;
        let turn = (state >> 59) as u32;
        word.rotate_right(turn)
    }

    /// A random duration between half of `about` and one and a half times `about`.
    pub(crate) fn spread(&mut self, about: Duration) -> Duration {
        let about = micros(about);
        let offset = u64::from(self.next()).wrapping_mul(about.min(u64::from(u32::MAX))) >> 32;
        Duration::from_micros((about / 2).saturating_add(offset))
    }

    /// How long to wait before the n-th retry in a row (from 0): doubling from 10 ms to 1 s, then randomized.
    pub(crate) fn backoff(&mut self, tries: u32) -> Duration {
        self.spread(Duration::from_millis(
            10_u64.saturating_mul(1 << tries.min(7)).min(1000),
        ))
    }
}
