//! The tables of the reference.

use fencepost_core::{
    options::{Kind, OPTIONS, OptionSpec, Server, ValueType},
    reference::ERRORS,
};

use super::{Files, Result, regions::replace, words::options};

pub(super) const FILES: Files = &[
    ("docs/reference/options.md", tables),
    ("docs/reference/errors.md", errors),
];

/// The regions of the page of errors, each with the first digit of its error numbers.
const ERRORS_BY: [(&str, u16); 4] = [("settings", 1), ("calls", 2), ("refusals", 3), ("losses", 4)];

fn errors(before: &str) -> Result<String> {
    ERRORS_BY
        .iter()
        .try_fold(before.to_owned(), |text, (region, hundred)| {
            let mut lines = vec![
                "| code | name | meaning | remedy |".to_owned(),
                "|---|---|---|---|".to_owned(),
            ];
            let these = ERRORS.iter().filter(|error| error.code / 100 == *hundred);
            lines.extend(these.map(|error| {
                let (code, name) = (error.code, error.name);
                format!("| {code} | `{name}` | {} | {} |", error.meaning, error.remedy)
            }));
            replace(&text, region, &lines)
        })
}

fn tables(before: &str) -> Result<String> {
    let text = replace(before, "kinds", &kinds())?;
    let text = replace(&text, "matrix", &matrix())?;
    let text = replace(&text, "options", &rows(&options().collect::<Vec<_>>()))?;
    let of_claims = |option: &&OptionSpec| option.is_option_of(Server::Redis, Kind::Claim);
    replace(
        &text,
        "claims",
        &rows(&OPTIONS.iter().filter(of_claims).collect::<Vec<_>>()),
    )
}

/// Whether the table has one row for both kinds: reader and writer have the same options.
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

/// Every option with every kind: Z on ZooKeeper and `memory:`, R on Redis.
fn matrix() -> Vec<String> {
    let groups: Vec<&[Kind]> = Kind::LOCKS.chunk_by(share_a_row).collect();
    let labels = groups.iter().map(|kinds| {
        kinds
            .iter()
            .map(|kind| kind.label())
            .collect::<Vec<_>>()
            .join(", ")
    });
    let head: Vec<String> = labels.chain(["operation".to_owned()]).collect();
    let mut lines = vec![
        format!("| option | {} |", head.join(" | ")),
        format!("|---|{}", "---|".repeat(head.len())),
    ];
    let kinds: Vec<Kind> = groups.iter().map(|kinds| kinds[0]).chain([Kind::Claim]).collect();
    for option in &OPTIONS {
        let cells: Vec<String> = kinds
            .iter()
            .map(|kind| {
                [(Server::ZooKeeper, "Z"), (Server::Redis, "R")]
                    .into_iter()
                    .filter(|(server, _)| server.has(*kind) && option.is_option_of(*server, *kind))
                    .map(|(_, letter)| letter)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            lines.push(format!("| `{}` | {} |", option.name(), cells.join(" | ")));
        }
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
