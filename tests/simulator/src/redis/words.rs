//! Requests, answers and notices in a few words, for stories.

use fencepost_core::redis::{Notice, Reply, Script};

use super::Ask;

pub(super) fn ask(ask: &Ask) -> String {
    match ask {
        Ask::Call(arguments) => call(arguments),
        Ask::Subscribe(channel) => format!("subscribe {}", String::from_utf8_lossy(channel)),
        Ask::Unsubscribe(channel) => format!("unsubscribe {}", String::from_utf8_lossy(channel)),
    }
}

/// A command, with the names of our scripts.
fn call(arguments: &[Vec<u8>]) -> String {
    let mut words: Vec<String> = arguments
        .iter()
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    if let Some(script) = words.get_mut(1)
        && arguments[0].starts_with(b"EVAL")
    {
        *script = script_of(arguments).map_or_else(|| "a script".into(), |known| format!("{known:?}"));
    }
    words.join(" ")
}

/// Which of our scripts a command runs.
fn script_of(arguments: &[Vec<u8>]) -> Option<Script> {
    let [command, script, ..] = arguments else {
        return None;
    };
    let is_it = |known: &Script| match command.as_slice() {
        b"EVALSHA" => known.sha().as_bytes() == script,
        b"EVAL" => known.text().as_bytes() == script,
        _ => false,
    };
    Script::ALL.iter().copied().find(is_it)
}

/// The token of the holder from which a request takes the lock.
pub(super) fn broken(ask: &Ask) -> Option<&str> {
    let Ask::Call(arguments) = ask else {
        return None;
    };
    let [_, _, keys, rest @ ..] = arguments.as_slice() else {
        return None;
    };
    if script_of(arguments) != Some(Script::Break) {
        return None;
    }
    let keys: usize = str::from_utf8(keys).ok()?.parse().ok()?;
    str::from_utf8(rest.get(keys)?).ok()
}

pub(super) fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Nil => "nil".into(),
        Reply::Int(number) => number.to_string(),
        Reply::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Reply::Array(items) => {
            let items: Vec<String> = items.iter().map(self::reply).collect();
            format!("[{}]", items.join(", "))
        }
        Reply::Error(error) => format!("error {error}"),
        other => format!("{other:?}"),
    }
}

pub(super) fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Message { .. } => "a message: the lock was released".into(),
        Notice::Gone { .. } => "the subscription is gone".into(),
        other => format!("{other:?}"),
    }
}
