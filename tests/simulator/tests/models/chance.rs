//! Random numbers by seed.

use std::{
    fmt::Debug,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// SplitMix64.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64, case: u64) -> Self {
        let mut chance = Self(seed ^ case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The address of a real server. Without an address, the test fails, because it cannot compare.
pub(crate) fn address(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable}: run me under tests/servers"))
}

/// Runs one test at a time, because the tests use the same servers, and empty them.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that fails does not disturb the next one, which empties the servers.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs sequences by seed. On a panic, prints the sequence up to the panic.
pub(crate) fn sequences<S: Debug>(cases: u64, mut sequence: impl FnMut(Chance, &mut Vec<S>)) {
    let seed = setting("FENCEPOST_SEED", 20_260_701);
    let cases = setting("FENCEPOST_CASES", cases);
    println!("FENCEPOST_SEED={seed} FENCEPOST_CASES={cases}");
    for case in 0..cases {
        let mut steps = Vec::new();
        let run = std::panic::AssertUnwindSafe(|| sequence(Chance::new(seed, case), &mut steps));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("sequence {case} of seed {seed}:");
            for step in &steps {
                eprintln!("  {step:?}");
            }
            std::panic::resume_unwind(panic);
        }
    }
}
