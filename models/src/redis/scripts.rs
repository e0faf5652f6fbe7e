//! Scripts: the server's cache of scripts, and their execution.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};
use core::hash::{Hash, Hasher};

use super::{
    Condition, Server,
    conditions::wrapped,
    keyspace::Moment,
    number,
    wire::{Answer, Fault, Lua, Resp, sha1_hex},
};

/// The scripts in the server's cache, by their SHA-1.
#[derive(Clone, Debug, Default)]
pub(super) struct Scripts(BTreeMap<[u8; 40], Arc<[u8]>>);

impl Scripts {
    pub(super) fn flush(&mut self) {
        self.0.clear();
    }

    fn get(&self, sha: &[u8]) -> Option<([u8; 40], Arc<[u8]>)> {
        let mut name: [u8; 40] = sha.try_into().ok()?;
        name.make_ascii_lowercase();
        Some((name, self.0.get(&name)?.clone()))
    }

    /// Adds a script to the cache, if it compiles.
    fn load(&mut self, text: &[u8], lua: &mut dyn Lua) -> Result<([u8; 40], Arc<[u8]>), Fault> {
        let sha = sha1_hex(text);
        if let Some(known) = self.0.get(&sha) {
            return Ok((sha, known.clone()));
        }
        lua.check(text)
            .map_err(|error| Fault(format!("ERR Error compiling script (new function): {error}").into()))?;
        let text: Arc<[u8]> = text.into();
        self.0.insert(sha, text.clone());
        Ok((sha, text))
    }
}

// The SHA-1 identifies a script, so there is no need to compare and hash the texts.
impl PartialEq for Scripts {
    fn eq(&self, other: &Self) -> bool {
        self.0.keys().eq(other.0.keys())
    }
}

impl Eq for Scripts {}

impl Hash for Scripts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
        for name in self.0.keys() {
            name.hash(state);
        }
    }
}

impl Server {
    pub(super) fn eval(&mut self, now: Moment, arguments: &[Vec<u8>], lua: &mut dyn Lua) -> Answer {
        let (keys, rest) = split(arguments)?;
        let (sha, text) = self.scripts.load(&arguments[1], lua)?;
        Ok(self.run(now, (&sha, &text), keys, rest, lua))
    }

    pub(super) fn eval_sha(&mut self, now: Moment, arguments: &[Vec<u8>], lua: &mut dyn Lua) -> Answer {
        if arguments[1].len() != 40 {
            return Err(Fault::NO_SCRIPT);
        }
        let (keys, rest) = split(arguments)?;
        let (sha, text) = self.scripts.get(&arguments[1]).ok_or(Fault::NO_SCRIPT)?;
        Ok(self.run(now, (&sha, &text), keys, rest, lua))
    }

    pub(super) fn script(&mut self, arguments: &[Vec<u8>], lua: &mut dyn Lua) -> Answer {
        let name = arguments[1].to_ascii_lowercase();
        match (name.as_slice(), &arguments[2..]) {
            (b"load", [text]) => {
                let (sha, _) = self.scripts.load(text, lua)?;
                Ok(Resp::bulk(&sha))
            }
            (b"exists", names @ [_, ..]) => {
                let known = |name: &Vec<u8>| Resp::Int(i64::from(self.scripts.get(name).is_some()));
                Ok(Resp::Array(names.iter().map(known).collect()))
            }
            (b"flush", []) => {
                self.scripts.flush();
                Ok(Resp::ok())
            }
            (b"flush", [how]) if how.eq_ignore_ascii_case(b"sync") || how.eq_ignore_ascii_case(b"async") => {
                self.scripts.flush();
                Ok(Resp::ok())
            }
            (b"flush", _) => Err(Fault::of("ERR SCRIPT FLUSH only support SYNC|ASYNC option")),
            (b"load", _) => Err(Fault::arity("script|load")),
            (b"exists", _) => Err(Fault::arity("script|exists")),
            _ => {
                let name = String::from_utf8_lossy(&arguments[1]);
                Err(Fault(
                    format!("ERR unknown subcommand '{name}'. Try SCRIPT HELP.").into(),
                ))
            }
        }
    }

    fn run(
        &mut self,
        now: Moment,
        (sha, text): (&[u8; 40], &[u8]),
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
        lua: &mut dyn Lua,
    ) -> Resp {
        let mut progress = Progress::default();
        let reply = lua.eval(text, keys, arguments, &mut |command| {
            self.execute_in_script(now, command, &mut progress)
                .unwrap_or_else(Resp::from)
        });
        if self.has(Condition::Older) {
            wrapped(reply, sha, progress.refused)
        } else {
            reply
        }
    }
}

/// The progress of a script.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Whether the script has executed a command that writes, even if the command changed nothing.
    pub(super) has_written: bool,
    /// Whether the server refused to execute the script's last command.
    pub(super) refused: bool,
}

type Words<'a> = &'a [Vec<u8>];

/// The keys and the other arguments of a script.
fn split(arguments: &[Vec<u8>]) -> Result<(Words<'_>, Words<'_>), Fault> {
    let keys = number::argument(&arguments[2])?;
    let rest = &arguments[3..];
    let keys = usize::try_from(keys).map_err(|_| Fault::of("ERR Number of keys can't be negative"))?;
    rest.split_at_checked(keys).ok_or(Fault::of(
        "ERR Number of keys can't be greater than number of args",
    ))
}
