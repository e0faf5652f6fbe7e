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

/// A command, our scripts by their names.
fn call(arguments: &[Vec<u8>]) -> String {
    let mut words: Vec<String> = arguments
        .iter()
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    if let [command, script, ..] = words.as_mut_slice()
        && command.starts_with("EVAL")
    {
        let known = Script::ALL
            .iter()
            .copied()
            .find(|known| known.sha() == script || known.text() == *script);
        *script = known.map_or_else(|| "a script".into(), |known| format!("{known:?}"));
    }
    words.join(" ")
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
