//! Arguments of commands that were handed over before: from one command of a kind to the next, hardly more than the attempt changes.

use alloc::{string::String, vec::Vec};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "../outputs.js")]
extern "C" {
    fn texts() -> JsValue;
}

/// As many as there are scripts that follow each other closely.
const KINDS: usize = 4;

/// What changes has to fit the bits of a number.
const MOST: usize = 32;

/// The last command of each kind.
#[derive(Debug)]
pub(crate) struct Arguments {
    known: Vec<Known>,
    oldest: usize,
}

#[derive(Debug)]
struct Known {
    arguments: Vec<Vec<u8>>,
    /// The same as an array of texts, kept up to date by JavaScript.
    mirror: JsValue,
}

impl Arguments {
    pub(crate) const fn new() -> Self {
        Self {
            known: Vec::new(),
            oldest: 0,
        }
    }

    /// The array that is known, which places in it change (as bits), and their new texts with NULs between them.
    ///
    /// # Errors
    /// The arguments, if they are not all texts without NUL, or too many.
    pub(crate) fn changes(
        &mut self,
        arguments: Vec<Vec<u8>>,
    ) -> Result<(&JsValue, u32, String), Vec<Vec<u8>>> {
        let same_kind = |known: &Known| {
            known.arguments.len() == arguments.len() && known.arguments.get(1) == arguments.get(1)
        };
        let place = self.known.iter().position(same_kind);
        let before = place.map_or(&[][..], |place| &self.known[place].arguments);
        let mut joined = Vec::new();
        let mut changed = 0;
        for (index, one) in arguments.iter().enumerate() {
            if before.get(index) == Some(one) {
                continue;
            }
            if one.contains(&0) || index >= MOST {
                return Err(arguments);
            }
            if changed != 0 {
                joined.push(0);
            }
            joined.extend_from_slice(one);
            changed |= 1 << index;
        }
        let Ok(joined) = String::from_utf8(joined) else {
            return Err(arguments);
        };
        let place = place.unwrap_or_else(|| self.room());
        let known = &mut self.known[place];
        known.arguments = arguments;
        Ok((&known.mirror, changed, joined))
    }

    /// A place for another kind.
    fn room(&mut self) -> usize {
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
