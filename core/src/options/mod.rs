//! The options of locks, in one table: the kinds and servers that have an option, the type of its value, and its texts
//! in the reference.
//!
//! A binding passes a map of options and gets checked [`Settings`](crate::Settings), or the error for the user. It does
//! not have its own list of options. It calls [`find`] for the type of a value, and converts the value from its
//! language.
//!
//! A new option needs an entry in [`OPTIONS`], a field of `Draft`, and a line that copies the field to the settings. A
//! new kind needs a variant of [`Kind`].
//!
//! A [`Scope`] has the options of idempotent operations. It makes the settings of each request.

mod draft;
mod kind;
mod raw;
#[cfg(feature = "serde")]
mod read;
mod redis;
mod scope;
mod table;
mod unknown;
mod value;
mod zookeeper;

pub use kind::{Kind, Server};
pub use raw::RawSettings;
pub use scope::{DEFAULT_LEASE, DEFAULT_RETENTION, MAX_DIGEST, Scope};
pub use table::{About, OPTIONS, OptionSpec, find};
pub use value::{Value, ValueType};

use draft::Draft;
