//! Texts about an option that all languages share.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server};

/// The options that some lock has. `memory:` has those of all servers.
pub(super) fn options() -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(|option| {
        Kind::LOCKS
            .iter()
            .any(|kind| option.is_option_of(Server::Memory, *kind))
    })
}

/// The sentence about the range, after a space; empty if any value of the type is allowed.
pub(super) fn range(range: &str) -> String {
    if range.is_empty() {
        String::new()
    } else {
        format!(" Range: {range}.")
    }
}

/// The text with a capital letter at its beginning.
pub(super) fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
