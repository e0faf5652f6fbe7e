//! The arguments of earlier commands, which JavaScript already has. Two commands of one kind often differ
//! only in the attempt, and the previous command often had the changed argument.

use alloc::{string::String, vec::Vec};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../arguments.js")]
extern "C" {
    fn texts() -> JsValue;
    #[wasm_bindgen(js_name = replaceTexts)]
    fn replace(texts: &JsValue, changed: u32, joined: &str);
    #[wasm_bindgen(js_name = countText)]
    fn count(texts: &JsValue, index: u32, keep: u32, number: f64);
    #[wasm_bindgen(js_name = copyText)]
    fn copy(texts: &JsValue, index: u32, from: &JsValue, place: u32);
}

/// The number of kinds: as many as there are scripts that often follow each other.
const KINDS: usize = 4;

/// The largest number of arguments: the bits of a 32-bit number mark the changed ones.
const MOST: usize = 32;

/// The longest argument that is kept. Scripts are shorter; a longer argument, such as a result, is passed
/// each time.
const LONGEST: usize = 8192;

/// Numbers of so many digits are exact in JavaScript.
const EXACT: usize = 15;

/// The last command of each kind.
#[derive(Debug)]
pub(crate) struct Arguments {
    known: Vec<Known>,
    oldest: usize,
    /// The index of the previous command.
    last: usize,
}

#[derive(Debug)]
struct Known {
    arguments: Vec<Vec<u8>>,
    /// The same arguments as a JavaScript array of texts.
    mirror: JsValue,
}

impl Arguments {
    pub(crate) const fn new() -> Self {
        Self {
            known: Vec::new(),
            oldest: 0,
            last: 0,
        }
    }

    /// An array with these texts.
    ///
    /// # Errors
    /// The arguments, if they are not all texts without NUL, or too many or too long.
    pub(crate) fn mirrored(&mut self, arguments: Vec<Vec<u8>>) -> Result<&JsValue, Vec<Vec<u8>>> {
        if arguments.len() > MOST || arguments.iter().any(|one| one.len() > LONGEST) {
            return Err(arguments);
        }
        let same_kind = |known: &Known| {
            known.arguments.len() == arguments.len() && same(known.arguments.get(1), arguments.get(1))
        };
        let place = self.known.iter().position(same_kind);
        let place = place.unwrap_or_else(|| self.slot());
        let known = &self.known[place];
        let before = self.known.get(self.last).filter(|_| self.last != place);
        let mut joined = Vec::new();
        let mut changed = 0_u32;
        for (number, one) in (0..).zip(&arguments) {
            let old = known.arguments.get(number as usize);
            if same(old, Some(one)) {
                continue;
            }
            let there = before.and_then(|before| {
                let at = before
                    .arguments
                    .iter()
                    .position(|known| same(Some(known), Some(one)))?;
                Some((&before.mirror, at))
            });
            if let Some((mirror, at)) = there {
                #[expect(clippy::cast_possible_truncation, reason = "there are not that many")]
                copy(&known.mirror, number, mirror, at as u32);
                continue;
            }
            if let Some((keep, counted)) = old.and_then(|old| counted(old, one)) {
                count(&known.mirror, number, keep, counted);
                continue;
            }
            if changed != 0 {
                joined.push(0);
            }
            joined.extend_from_slice(one);
            changed |= 1 << number;
        }
        if changed != 0 {
            let nuls = joined.iter().filter(|byte| **byte == 0).count();
            match String::from_utf8(joined) {
                Ok(joined) if nuls + 1 == changed.count_ones() as usize => {
                    replace(&known.mirror, changed, &joined);
                }
                _ => {
                    // The mirror may be incomplete, so it must not be used again.
                    self.known[place].arguments = Vec::new();
                    return Err(arguments);
                }
            }
        }
        self.last = place;
        let known = &mut self.known[place];
        known.arguments = arguments;
        Ok(&known.mirror)
    }

    /// A slot for another kind.
    fn slot(&mut self) -> usize {
        let fresh = Known {
            arguments: Vec::new(),
            mirror: texts(),
        };
        if self.known.len() < KINDS {
            self.known.push(fresh);
            return self.known.len() - 1;
        }
        let place = self.oldest;
        self.oldest = (place + 1) % KINDS;
        self.known[place] = fresh;
        place
    }
}

/// Whether both exist and are equal. The general comparison compares each byte, which takes a tenth of the
/// time of a command.
fn same(one: Option<&Vec<u8>>, other: Option<&Vec<u8>>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    if one.len() != other.len() {
        return false;
    }
    let (ours, our_rest) = one.as_chunks::<8>();
    let (theirs, their_rest) = other.as_chunks::<8>();
    let pairs = || {
        ours.iter()
            .zip(theirs)
            .all(|(one, other)| u64::from_le_bytes(*one) == u64::from_le_bytes(*other))
    };
    our_rest == their_rest && pairs()
}

/// If the new argument is the old one with another number at its end, as with two attempts: how many bytes
/// stay the same, and the new number.
fn counted(old: &[u8], new: &[u8]) -> Option<(u32, f64)> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (kept, _) = new.split_at_checked(same)?;
    let digits = kept.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (kept, number) = new.split_at_checked(same - digits)?;
    // The number has JavaScript's notation, and each byte before it is one character.
    if number.is_empty() || number.len() > EXACT || number.first() == Some(&b'0') || !kept.is_ascii() {
        return None;
    }
    let mut value = 0.0;
    for digit in number {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10.0 + f64::from(digit - b'0');
    }
    Some((u32::try_from(kept.len()).ok()?, value))
}
