//! The tables of the reference.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server, ValueType};

use super::{Files, Result, regions::replace, words::options};

pub(super) const FILES: Files = &[("docs/reference/options.md", tables)];

fn tables(before: &str) -> Result<String> {
    let text = replace(before, "kinds", &kinds())?;
    let text = replace(&text, "options", &rows(&options().collect::<Vec<_>>()))?;
    let of_claims = |option: &&OptionSpec| option.is_option_of(Server::Redis, Kind::Claim);
    replace(
        &text,
        "claims",
        &rows(&OPTIONS.iter().filter(of_claims).collect::<Vec<_>>()),
    )
}

/// Whether the table has one row for both: the sides of one lock have the same options.
fn share_a_row(one: &Kind, next: &Kind) -> bool {
    one.constructor() == next.constructor() && one.name() != next.name()
}

fn kinds() -> Vec<String> {
    let mut lines = vec![
        "| kind | options on ZooKeeper and `memory:` | on Redis |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for kinds in Kind::LOCKS.chunk_by(share_a_row) {
        let kind = kinds[0];
        let shown: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
        let shown = shown.join(", ");
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

fn rows(options: &[&OptionSpec]) -> Vec<String> {
    let mut lines = vec![
        "| option | unit | range | default | meaning |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    for option in options {
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
