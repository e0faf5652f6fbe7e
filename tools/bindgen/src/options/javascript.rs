//! JavaScript's interfaces of options, and the names that differ from the core's.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server, ValueType};

use super::{
    Files, Result,
    regions::wrap,
    words::{capitalized, range},
};

pub(super) const FILES: Files = &[("bindings-wasm/js/hub/lock-options.ts", interfaces)];

const HEAD: &str = "/**
 * The options of locks. Written by `make options` from the core's table.
 *
 * @module
 */
";

/// Options that are separate arguments.
const ARGUMENTS: [&str; 2] = ["permits", "names"];

/// The width of prettier's lines.
const WIDTH: usize = 120;

fn interfaces(_before: &str) -> Result<String> {
    let mut text = HEAD.to_owned();
    // A scope accepts the options of its claims, and makes the settings of all its requests.
    let kinds = [Kind::LOCKS.as_slice(), &[Kind::Claim]].concat();
    for kinds in kinds.chunk_by(|one, next| one.constructor() == next.constructor()) {
        let name = capitalized(&camel(kinds[0].constructor())) + "Options";
        let shown = kinds[0].made();
        let has = |option: &OptionSpec, server| kinds.iter().any(|kind| option.is_option_of(server, *kind));
        let is_on_both = Server::Redis.has(kinds[0]) && Server::ZooKeeper.has(kinds[0]);
        text += &format!(
            "\n/** The options of {shown}. Durations are numbers of ms. */\nexport interface {name} {{\n"
        );
        for option in &OPTIONS {
            if !has(option, Server::Memory) || ARGUMENTS.contains(&option.name()) {
                continue;
            }
            let servers = match (has(option, Server::ZooKeeper), has(option, Server::Redis)) {
                _ if !is_on_both => "",
                (true, true) => "",
                (true, false) => "ZooKeeper and `memory:`: ",
                (false, _) => "Redis (`memory:` checks and ignores it): ",
            };
            text += &comment(&sentence(option, servers));
            text += &format!(
                "  readonly {}?: {} | undefined;\n",
                camel(option.name()),
                given(option)
            );
        }
        text += "}\n";
    }
    text += "\n/** The core's names of options and methods that JavaScript writes otherwise. */\n";
    text += "export const WRITTEN: ReadonlyMap<string, string> = new Map([\n";
    let constructors = Kind::LOCKS.iter().map(|kind| kind.constructor());
    let mut names: Vec<&str> = OPTIONS.iter().map(OptionSpec::name).chain(constructors).collect();
    names.retain(|name| name.contains('_'));
    names.sort_unstable();
    names.dedup();
    for name in names {
        text += &format!("  [\"{name}\", \"{}\"],\n", camel(name));
    }
    text += "]);\n";
    Ok(text)
}

fn comment(about: &str) -> String {
    let line = format!("  /** {about} */\n");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let lines = wrap(about, WIDTH, "   * ", "   * ").join("\n");
    format!("  /**\n{lines}\n   */\n")
}

/// The type of the value. If the range lists texts, the type is their union.
fn given(option: &OptionSpec) -> String {
    match option.value_type() {
        ValueType::Duration | ValueType::Whole => "number".into(),
        ValueType::Flag => "boolean".into(),
        ValueType::Texts => "readonly string[]".into(),
        _ => {
            let listed = option.about().range.split(';').next().unwrap_or_default();
            let texts: Vec<String> = listed
                .split(", ")
                .filter_map(|text| text.strip_prefix('`')?.strip_suffix('`'))
                .map(|text| format!("\"{text}\""))
                .collect();
            if texts.is_empty() {
                "string".into()
            } else {
                texts.join(" | ")
            }
        }
    }
}

/// The option in a sentence: servers, meaning, unit, range and default.
fn sentence(option: &OptionSpec, servers: &str) -> String {
    let about = option.about();
    let unit = match option.value_type() {
        ValueType::Duration => " In ms.",
        _ => "",
    };
    let range = range(about.range);
    let default = match about.default {
        "yes" => "`true`",
        "no" => "`false`",
        other => other,
    };
    let text = format!("{servers}{}.{unit}{range} Default: {default}.", about.meaning);
    words(&capitalized(&text))
}

/// The text, with the names in backquotes in JavaScript's form.
fn words(text: &str) -> String {
    let word = |(index, part): (usize, &str)| match part {
        _ if index % 2 == 0 => part.to_owned(),
        "yes" => "true".to_owned(),
        "no" => "false".to_owned(),
        name if OPTIONS.iter().any(|option| option.name() == name) => camel(name),
        other => other.to_owned(),
    };
    let parts: Vec<String> = text.split('`').enumerate().map(word).collect();
    parts.join("`")
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        camel += &capitalized(part);
    }
    camel
}
