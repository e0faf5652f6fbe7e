//! Python's options: the parameters of the constructors, and the lists in the docstrings of `lock()`.
//!
//! Such a list is below a line `Options:`, between two empty lines. It has no markers, because users read
//! docstrings.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server, ValueType, find};

use super::{
    Files, Result,
    regions::{replace, wrap},
    words::range,
};

const WIDTH: usize = 110;
const INDENT: &str = "        ";

pub(super) const FILES: Files = &[
    ("bindings-py/python/fencepost/_client/kinds.py", constructors),
    ("bindings-py/python/fencepost/asyncio/_kinds.py", constructors),
];

fn constructors(before: &str) -> Result<String> {
    let mut text = replace_list(before, &documentation())?;
    for kind in Kind::LOCKS.into_iter().chain([Kind::Claim]) {
        text = replace(&text, kind.constructor(), &parameters(kind.constructor()))?;
    }
    Ok(text)
}

/// The kinds that this method makes.
fn made_by(constructor: &str) -> impl Iterator<Item = Kind> {
    Kind::LOCKS
        .into_iter()
        .chain([Kind::Claim])
        .filter(move |kind| kind.constructor() == constructor)
}

/// Whether a method has this option as a keyword. Required options are arguments before the keywords.
fn is_keyword(option: &OptionSpec, constructor: &str) -> bool {
    let mut kinds = made_by(constructor);
    option.about().default != "required" && kinds.any(|kind| option.is_option_of(Server::Memory, kind))
}

fn parameters(constructor: &str) -> Vec<String> {
    OPTIONS
        .iter()
        .filter(|option| is_keyword(option, constructor))
        .map(|option| {
            let hint = hint(option, constructor);
            format!("{INDENT}{}: {hint} | None = None,", option.name())
        })
        .collect()
}

fn hint(option: &OptionSpec, constructor: &str) -> &'static str {
    match option.value_type() {
        // Kinds without a prefix do not have the layout that needs one.
        _ if option.name() == "layout" => {
            let has_prefix = find("node_prefix").is_some_and(|prefix| is_keyword(prefix, constructor));
            if has_prefix { "Layout" } else { "SharedLayout" }
        }
        _ if option.name() == "on_lease_end" => "OnLeaseEnd",
        ValueType::Duration => "Duration",
        ValueType::Whole => "int",
        ValueType::Flag => "bool",
        ValueType::Texts => "Iterable[str]",
        _ => "str",
    }
}

/// The list of the options of `lock()`.
fn documentation() -> Vec<String> {
    OPTIONS
        .iter()
        .filter(|option| is_keyword(option, "lock"))
        .flat_map(|option| {
            wrap(
                &sentences(option),
                WIDTH,
                &format!("{INDENT}- "),
                &format!("{INDENT}  "),
            )
        })
        .collect()
}

/// The option with its servers, meaning, range and default.
fn sentences(option: &OptionSpec) -> String {
    let about = option.about();
    let has = |server| made_by("lock").any(|kind| option.is_option_of(server, kind));
    let servers = match (has(Server::ZooKeeper), has(Server::Redis)) {
        (true, true) => "",
        (true, false) => " (ZooKeeper)",
        (false, _) => " (Redis)",
    };
    let range = range(&values(about.range));
    let default = match about.default {
        "yes" => "``True``".to_owned(),
        "no" => "``False``".to_owned(),
        other => values(other),
    };
    let meaning = values(about.meaning);
    format!(
        "``{}``{servers}: {meaning}.{range} Default: {default}.",
        option.name()
    )
}

/// Markdown as reStructuredText, with Python's values. A name in backquotes that is no option is a string.
fn values(markdown: &str) -> String {
    let mut parts = markdown.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(quoted) = parts.next() {
        text += &match quoted {
            "yes" => "``True``".to_owned(),
            "no" => "``False``".to_owned(),
            name if find(name).is_some() => format!("``{name}``"),
            other => format!("``\"{other}\"``"),
        };
        text += parts.next().unwrap_or_default();
    }
    text
}

/// The text with a new list below `Options:`.
fn replace_list(text: &str, list: &[String]) -> Result<String> {
    let head = format!("\n{INDENT}Options:\n\n");
    let (before, rest) = text.split_once(&head).ok_or("no docstring has `Options:`")?;
    let (_, after) = rest
        .split_once("\n\n")
        .ok_or("no empty line ends the list of options")?;
    Ok([before, &head, &list.join("\n"), "\n\n", after].concat())
}
