//! Requests and answers in a few words, for stories: nodes have short names there.

use fencepost_core::zookeeper::Answer;
use fencepost_models::zookeeper::words;
pub(super) use fencepost_models::zookeeper::words::notice;

use super::Ask;

/// The number at the end of a node's name.
pub(super) fn number(name: &str) -> &str {
    let digits = name.len().saturating_sub(10);
    name.get(digits..).unwrap_or_default()
}

/// The end of a name: its number identifies the node.
fn short(path: &str) -> &str {
    match path.rsplit_once("-lock-") {
        Some((_, "")) => "-lock-",
        Some((_, number)) => number,
        // Another kind of node, without its attempt.
        None => path
            .rsplit_once("/_c_")
            .map_or(path, |(_, name)| name.get(36..).unwrap_or(name)),
    }
}

pub(super) fn ask(ask: &Ask) -> String {
    match ask {
        Ask::Request(request) => words::request(request, short),
        other => format!("{other:?}"),
    }
}

pub(super) fn answer(answer: &Answer) -> String {
    words::answer(answer, short)
}
