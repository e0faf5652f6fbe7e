//! Python's options.

use super::Files;

pub(super) const FILES: Files = &[];
