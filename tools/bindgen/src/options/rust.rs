//! The methods of Rust's `LockOptions` and `IdempotencyOptions`.

use fencepost_core::options::{Kind, OPTIONS, OptionSpec, Server, ValueType};

use super::{
    Files, Result,
    regions::wrap,
    words::{capitalized, range},
};

/// Options that have another form in Rust: a layout with its prefix is one value, and the others are
/// arguments of constructors.
const OTHERWISE: [&str; 4] = ["layout", "node_prefix", "permits", "names"];

pub(super) const FILES: Files = &[
    ("bindings-rs/src/client/options/generated.rs", of_locks),
    (
        "bindings-rs/src/client/idempotency/options/generated.rs",
        of_operations,
    ),
];

fn of_locks(_before: &str) -> Result<String> {
    Ok(methods(
        "use super::LockOptions;\n\nimpl LockOptions",
        &Kind::LOCKS,
    ))
}

/// A scope accepts the options of its claims, and makes the settings of all its requests.
fn of_operations(_before: &str) -> Result<String> {
    let head = "use super::IdempotencyOptions;\nuse crate::OnLeaseEnd;\n\nimpl IdempotencyOptions";
    Ok(methods(head, &[Kind::Claim]))
}

fn methods(head: &str, kinds: &[Kind]) -> String {
    let methods: Vec<String> = OPTIONS
        .iter()
        .filter(|option| is_option_of(option, Server::Memory, kinds) && !OTHERWISE.contains(&option.name()))
        .map(|option| method(option, kinds))
        .collect();
    format!(
        "//! Written by `make options` from the core's table.\n\nuse core::time::Duration;\n\n{head} {{\n{}}}\n",
        methods.join("\n")
    )
}

fn is_option_of(option: &OptionSpec, server: Server, kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| option.is_option_of(server, *kind))
}

fn method(option: &OptionSpec, kinds: &[Kind]) -> String {
    let name = option.name();
    let (given, value) = match option.value_type() {
        _ if name == "on_lease_end" => ("OnLeaseEnd", format!("{name}.name()")),
        ValueType::Duration => ("Duration", name.to_owned()),
        ValueType::Flag => ("bool", name.to_owned()),
        ValueType::Whole => ("u32", name.to_owned()),
        ValueType::Texts => ("Vec<String>", name.to_owned()),
        _ => ("impl Into<String>", format!("{name}.into()")),
    };
    let about = sentence(option, kinds);
    let docs = wrap(&about, 100, "    /// ", "    /// ").join("\n");
    format!(
        "{docs}\n    pub fn {name}(self, {name}: {given}) -> Self {{\n        self.with(\"{name}\", {value})\n    }}\n"
    )
}

/// The option in a sentence: servers, meaning, range and default.
fn sentence(option: &OptionSpec, kinds: &[Kind]) -> String {
    let about = option.about();
    let is_on = |server: Server| kinds.iter().any(|kind| server.has(*kind));
    let servers = match (
        is_option_of(option, Server::ZooKeeper, kinds),
        is_option_of(option, Server::Redis, kinds),
    ) {
        _ if !(is_on(Server::ZooKeeper) && is_on(Server::Redis)) => "",
        (true, true) => "",
        (true, false) => "ZooKeeper and `memory:`: ",
        (false, _) => "Redis (`memory:` checks and ignores it): ",
    };
    let range = range(about.range);
    let default = about.default.trim_matches('`');
    capitalized(&format!("{servers}{}.{range} Default: {default}.", about.meaning))
}
