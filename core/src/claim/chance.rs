//! Random values from a seed, for this module's tests.

use alloc::{string::String, vec::Vec};

use super::record::{MAX_NUMBER, Policy, Record, State, Token};
use crate::{AttemptId, ContenderId, Fence};

/// SplitMix64.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    pub(super) fn bytes(&mut self, limit: usize) -> Vec<u8> {
        let length = self.below(limit);
        let bytes = (0..length).map(|_| u8::try_from(self.below(256)).unwrap());
        bytes.collect()
    }

    /// A text of characters that have a special meaning, or that are easy to confuse.
    pub(super) fn text(&mut self, limit: usize) -> String {
        let letters = ['a', 'b', '/', '%', '2', 'F', '}', '{', ':', '.', ' ', 'ü', '🔒'];
        let length = self.below(limit);
        (0..length).map(|_| self.pick(&letters)).collect()
    }

    fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => 0,
            1 => 1 + self.next() % 9,
            2 => MAX_NUMBER,
            _ => self.next() % MAX_NUMBER,
        }
    }

    pub(super) fn attempt(&mut self) -> AttemptId {
        let contender = [self.next().to_be_bytes(), self.next().to_be_bytes()].concat();
        AttemptId {
            contender: ContenderId(contender.try_into().unwrap()),
            number: self.pick(&[1, 9, 10, u32::MAX]),
        }
    }

    /// A random record: every record of the table is possible, and many others.
    pub(super) fn record(&mut self) -> Record {
        let state = self.pick(&[State::Issued, State::Running, State::Done, State::Value]);
        let mut record = Record::new(state, self.attempt());
        record.fence = Fence(self.number());
        record.takeovers = self.number();
        record.fingerprint = self.bytes(40);
        record.policy = self.pick(&[Policy::Retake, Policy::Block, Policy::Indeterminate]);
        record.lease_end = self.number();
        record.retention = self.number().max(1);
        record.kept_until = self.number();
        record.version = self.number();
        record.tag = self.text(9);
        record.result = self.bytes(300);
        if state == State::Value {
            record.version = record.version.max(1);
        }
        if state == State::Issued || self.one_in(3) {
            let binding = self.bytes(20);
            let life = self.number().max(1);
            record.token = Some(Token { binding, life });
        }
        record
    }

    /// Damages the bytes: changes, removes, repeats or adds a few of them.
    pub(super) fn damage(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len().max(1));
            let byte = self.pick(b"0123456789:\nabz\0\xff");
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                3 => {
                    let end = at + self.below(bytes.len() + 1 - at);
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    }
}
