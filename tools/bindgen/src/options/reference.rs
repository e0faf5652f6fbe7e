//! The tables of the reference.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server, ValueType};

use super::{Files, Result, regions::replace};

pub(super) const FILES: Files = &[("docs/reference/options.md", tables)];

fn tables(before: &str) -> Result<String> {
    let text = replace(before, "kinds", &kinds())?;
    replace(&text, "options", &options())
}

const KINDS: [(&str, Kind); 6] = [
    ("mutex", Kind::Mutex),
    ("unfair lock (`fair` = no)", Kind::Single),
    ("reader, writer", Kind::Reader),
    ("semaphore", Kind::Semaphore),
    ("election", Kind::Election),
    ("multi-lock", Kind::MultiLock),
];

fn kinds() -> Vec<String> {
    let mut lines = vec![
        "| kind | options on ZooKeeper and `memory:` | on Redis |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for (shown, kind) in KINDS {
        let [zookeeper, redis] = [Server::ZooKeeper, Server::Redis].map(|server| {
            let names: Vec<String> = OPTIONS
                .iter()
                .filter(|option| server.has(kind) && option.is_option_of(server, kind))
                .map(|option| format!("`{}`", option.name()))
                .collect();
            if names.is_empty() {
                "–".to_owned()
            } else {
                names.join(", ")
            }
        });
        lines.push(format!("| {shown} | {zookeeper} | {redis} |"));
    }
    lines
}

fn options() -> Vec<String> {
    let mut lines = vec![
        "| option | unit | range | default | meaning |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    let is_option = |option: &&OptionSpec| {
        Kind::LOCKS
            .iter()
            .any(|kind| option.is_option_of(Server::Memory, *kind))
    };
    for option in OPTIONS.iter().filter(is_option) {
        let unit = match option.value_type() {
            ValueType::Duration => "duration",
            ValueType::Whole => "number",
            ValueType::Flag => "yes or no",
            ValueType::Texts => "list of texts",
            _ => "text",
        };
        let about = option.about();
        lines.push(format!(
            "| `{}` | {unit} | {} | {} | {} |",
            option.name(),
            about.range,
            about.default,
            about.meaning
        ));
    }
    lines
}
