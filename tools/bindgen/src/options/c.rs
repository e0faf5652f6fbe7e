//! C's options: the members of `fencepost_options`, and the client's table of them.
//!
//! The order of members is part of the ABI. The tool reads it from the header: existing members stay at their
//! places, and new members come at the end, eight bytes each.

use fencepost_core::options::{Kind, OptionSpec, Server, ValueType};

use super::{
    Files, Result,
    regions::{replace, wrap},
    words::{capitalized, options, range},
};

pub(super) const FILES: Files = &[
    ("bindings-c/include/fencepost-options.h", header),
    ("bindings-c/client/members.h", table),
];

/// The line width of `clang-format`.
const WIDTH: usize = 120;

/// Flags of the first version, which share eight bytes with others or have reserved bytes of another name.
const FIRST_FLAGS: [&str; 3] = ["revocable", "renew", "fair"];

/// Reserved members of the first version. Later ones have the name of their flag.
const FIRST_RESERVED: [&str; 3] = ["reserved_kind", "reserved_switches", "reserved_end"];

/// The texts that C adds to the table.
const MORE: [(&str, &str); 8] = [
    ("permits", "All clients of a semaphore must use the same number."),
    ("names", "A multi-lock has no other name."),
    ("revocable", "See `fencepost_grant_revoke_requested`."),
    ("renew", "See `fencepost_lock_set_renew`."),
    ("ttl", "See `fencepost_lock_set_ttl`."),
    ("max_hold", "See `fencepost_lock_set_max_hold`."),
    (
        "owner",
        "While an owner holds a lock, it gets a further grant with the same fence for each acquire of the same name and kind on \
         this client, at once and without a request. The release of the last grant releases the lock. Settings and lease are \
         those of the first acquire. The owner of a writer may acquire the reader. If the owner of a reader acquires the \
         writer, the acquire returns `UPGRADE`. While an acquire of an owner waits, another one returns `BUSY`.",
    ),
    (
        "fair",
        "All waiters wake at a release, and the first one gets the lock. Its name is the node's name.",
    ),
];

/// Whether zero turns the option on: a member that is zero has its default.
fn is_inverted(option: &OptionSpec) -> bool {
    option.value_type() == ValueType::Flag && option.about().default == "yes"
}

/// The member's name.
fn member(option: &OptionSpec) -> String {
    match option.name() {
        "renew" => "without_renewal".to_owned(),
        "fair" => "unfair".to_owned(),
        "names" => "names".to_owned(),
        name if is_inverted(option) => format!("without_{name}"),
        name => name.to_owned(),
    }
}

/// The member with the number of texts.
fn count(option: &OptionSpec) -> String {
    match option.name() {
        "names" => "name_count".to_owned(),
        name => format!("{name}_count"),
    }
}

/// The reserved bytes behind a flag of a later version than the first.
fn reserved(option: &OptionSpec) -> Option<String> {
    let is_later = option.value_type() == ValueType::Flag && !FIRST_FLAGS.contains(&option.name());
    is_later.then(|| format!("reserved_{}", member(option)))
}

// ---- the header ----

fn header(before: &str) -> Result<String> {
    let mut lines = Vec::new();
    let mut written: Vec<&str> = Vec::new();
    for declaration in present(before) {
        let name = declared(declaration);
        if let Some(option) = options().find(|option| member(option) == name) {
            lines.extend(declare(option));
            written.push(option.name());
        } else if FIRST_RESERVED.contains(&name) {
            lines.extend(["    /** Zero. */".to_owned(), format!("    {declaration}")]);
        } else if !options().any(|option| count(option) == name || reserved(option).as_deref() == Some(name))
        {
            return Err(format!(
                "the member {name} is not an option of the core: make its bytes reserved"
            ));
        }
    }
    for option in options().filter(|option| !written.contains(&option.name())) {
        lines.extend(declare(option));
    }
    replace(before, "options", &lines)
}

/// The declarations that the region has now.
fn present(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .skip_while(|line| !line.contains("bindgen: options"))
        .take_while(|line| !line.contains("bindgen: end"))
        .map(str::trim)
        .filter(|line| line.ends_with(';') && !line.starts_with(['*', '/']))
}

/// The name in a declaration: `const char *layout;`, `uint8_t reserved_end[7];`.
fn declared(declaration: &str) -> &str {
    let name = declaration.rsplit([' ', '*']).next().unwrap_or_default();
    name.split(['[', ';']).next().unwrap_or_default()
}

/// A member with its documentation, and those that belong to it.
fn declare(option: &OptionSpec) -> Vec<String> {
    let name = member(option);
    let mut lines = wrap(&documentation(option), WIDTH, "    /** ", "     * ");
    match lines.last_mut() {
        Some(last) if last.chars().count() + 3 <= WIDTH => last.push_str(" */"),
        _ => lines.push("     */".to_owned()),
    }
    lines.push(match option.value_type() {
        ValueType::Duration | ValueType::Whole => format!("    int64_t {name};"),
        ValueType::Flag => format!("    bool {name};"),
        ValueType::Texts => format!("    const char *const *{name};"),
        _ => format!("    const char *{name};"),
    });
    if option.value_type() == ValueType::Texts {
        lines.push(format!("    size_t {};", count(option)));
    }
    if let Some(reserved) = reserved(option) {
        lines.extend([
            "    /** Zero. */".to_owned(),
            format!("    uint8_t {reserved}[7];"),
        ]);
    }
    lines
}

/// Servers, meaning, range, default and unit.
fn documentation(option: &OptionSpec) -> String {
    let about = option.about();
    let has = |server| Kind::LOCKS.iter().any(|kind| option.is_option_of(server, *kind));
    let servers = match (has(Server::ZooKeeper), has(Server::Redis)) {
        (true, true) => "",
        (true, false) => "ZooKeeper and `memory:`: ",
        (false, _) => "Redis (`memory:` checks and ignores it): ",
    };
    let meaning = if is_inverted(option) {
        format!("turns off `{}`: {}", option.name(), about.meaning)
    } else {
        about.meaning.to_owned()
    };
    let mut text = capitalized(&format!("{servers}{meaning}."));
    text += &range(about.range);
    if option.value_type() != ValueType::Flag {
        text += &format!(" Default: {}.", about.default);
    }
    if option.value_type() == ValueType::Duration {
        text += " In milliseconds.";
    }
    if let Some((_, more)) = MORE.iter().find(|(name, _)| *name == option.name()) {
        text += &format!(" {more}");
    }
    text
}

// ---- the client's table ----

fn table(_before: &str) -> Result<String> {
    let mut text =
        "/* Written by `make options` from the core's table. */\n/* clang-format off */\n".to_owned();

    text += "\n/* The kinds' names in settings. */\n";
    text += "static const char *const kinds[] = {\n";
    for kind in Kind::LOCKS.into_iter().filter(|kind| *kind != Kind::Single) {
        text += &format!("    [{}] = \"{}\",\n", constant(kind), kind.name());
    }

    text += "};\n\n/* The members that are options. */\nstatic const struct member members[] = {\n";
    for option in options() {
        let name = option.name();
        let value = match option.value_type() {
            ValueType::Duration => "MILLIS",
            ValueType::Whole => "WHOLE",
            ValueType::Flag if is_inverted(option) => "INVERTED",
            ValueType::Flag => "FLAG",
            ValueType::Texts => "TEXTS",
            _ => "TEXT",
        };
        let required = required(option);
        let member = member(option);
        text += &format!("    {{\"{name}\", {value}, offsetof(fencepost_options, {member}), {required}}},\n");
    }

    let later: Vec<String> = options().filter_map(reserved).collect();
    let all = FIRST_RESERVED.into_iter().chain(later.iter().map(String::as_str));
    text += "};\n\n/* The members that have to be zero. */\nstatic const struct gap gaps[] = {\n";
    for name in all {
        text += &format!("    GAP({name}),\n");
    }
    text += &format!(
        "}};\n\n/* All members together. */\n#define MEMBERS_SIZE {}\n",
        size()
    );
    Ok(text)
}

/// The kinds that require an option, as bits.
fn required(option: &OptionSpec) -> String {
    if option.about().default != "required" {
        return "0".to_owned();
    }
    let kinds = Kind::LOCKS
        .into_iter()
        .filter(|kind| option.is_option_of(Server::Memory, *kind));
    let bits: Vec<String> = kinds.map(|kind| format!("1 << {}", constant(kind))).collect();
    bits.join(" | ")
}

fn constant(kind: Kind) -> String {
    let name = match kind {
        Kind::Mutex => "mutex",
        other => other.name(),
    };
    format!("FENCEPOST_KIND_{}", name.to_uppercase().replace('-', "_"))
}

/// The size of the structure, with pointers of eight bytes.
fn size() -> usize {
    let places = options().map(|option| match (option.value_type(), option.name()) {
        (ValueType::Texts, _) => 2,
        // It shares eight bytes with `revocable`.
        (_, "renew") => 0,
        _ => 1,
    });
    // The size and the kind come first.
    8 * (2 + places.sum::<usize>())
}
