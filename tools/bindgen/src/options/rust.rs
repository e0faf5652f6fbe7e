//! The methods of Rust's `LockOptions`.

use fencepost_core::options::{Kind, OptionSpec, Server, ValueType};

use super::{
    Files, Result,
    regions::wrap,
    words::{capitalized, options, range},
};

/// What Rust has in another form: a layout with its prefix is one value, and constructors take the rest.
const OTHERWISE: [&str; 4] = ["layout", "node_prefix", "permits", "names"];

const HEAD: &str = "//! Written by `make options` from the core's table.

use core::time::Duration;

use super::LockOptions;

impl LockOptions {
";

pub(super) const FILES: Files = &[("bindings-rs/src/client/options/generated.rs", methods)];

fn methods(_before: &str) -> Result<String> {
    let methods: Vec<String> = options()
        .filter(|option| !OTHERWISE.contains(&option.name()))
        .map(method)
        .collect();
    Ok([HEAD, &methods.join("\n"), "}\n"].concat())
}

fn method(option: &OptionSpec) -> String {
    let name = option.name();
    let (given, value) = match option.value_type() {
        ValueType::Duration => ("Duration", name.to_owned()),
        ValueType::Flag => ("bool", name.to_owned()),
        ValueType::Whole => ("u32", name.to_owned()),
        ValueType::Texts => ("Vec<String>", name.to_owned()),
        _ => ("impl Into<String>", format!("{name}.into()")),
    };
    let about = sentence(option);
    let docs = wrap(&about, 100, "    /// ", "    /// ").join("\n");
    format!(
        "{docs}\n    pub fn {name}(self, {name}: {given}) -> Self {{\n        self.with(\"{name}\", {value})\n    }}\n"
    )
}

/// The option in a sentence: servers, meaning, range and default.
fn sentence(option: &OptionSpec) -> String {
    let about = option.about();
    let lock = Kind::LOCKS.iter().copied();
    let has = |server| lock.clone().any(|kind| option.is_option_of(server, kind));
    let servers = match (has(Server::ZooKeeper), has(Server::Redis)) {
        (true, true) => "",
        (true, false) => "ZooKeeper and `memory:`: ",
        (false, _) => "Redis (`memory:` checks it, and has no use for it): ",
    };
    let range = range(about.range);
    let default = about.default.trim_matches('`');
    capitalized(&format!("{servers}{}.{range} Default: {default}.", about.meaning))
}
