//! Random numbers from a seed (splitmix64): the same on every computer.

/// A source of random numbers. The simulator chooses the next step by it; a machine never sees it.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The random numbers of one run.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of the numbers below `end`; 0 if there is none.
    pub const fn below(&mut self, end: u32) -> u32 {
        // The upper half of a product: as even as a remainder, without a division.
        (((self.bits() >> 32) * end as u64) >> 32) as u32
    }

    /// Returns true in `so_many` of a hundred calls.
    pub fn percent(&mut self, so_many: u32) -> bool {
        self.below(100) < so_many
    }

    /// One of a slice's items.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let at = self.below(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.get(at as usize).copied()
    }
}
