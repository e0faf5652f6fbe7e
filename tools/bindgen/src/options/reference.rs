//! The tables of the reference.

use fencepost_core::options::{Kind, OPTIONS, Server, ValueType};

use super::{Files, Result, regions::replace, words::options};

pub(super) const FILES: Files = &[("docs/reference/options.md", tables)];

fn tables(before: &str) -> Result<String> {
    let text = replace(before, "kinds", &kinds())?;
    replace(&text, "options", &rows())
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

fn rows() -> Vec<String> {
    let mut lines = vec![
        "| option | unit | range | default | meaning |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    for option in options() {
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
