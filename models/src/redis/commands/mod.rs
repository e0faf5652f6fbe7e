//! The commands: their names, numbers of words, effects and implementations.

mod hashes;
mod keys;
mod strings;

use alloc::{format, string::String, vec::Vec};

use super::{
    keyspace::{Keyspace, Moment},
    wire::{Answer, Fault},
};

/// The implementation of a command.
#[derive(Debug)]
pub(super) enum Run {
    /// A command that only uses the keyspace. Scripts may call only such commands and [`Run::Publish`].
    Keys(fn(&mut Keyspace, Moment, &[Vec<u8>]) -> Answer),
    Publish,
    Subscribe,
    Unsubscribe,
    Eval,
    EvalSha,
    Script,
}

/// The effect of a command on the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The command writes nothing.
    Reads,
    /// The command writes, and needs no memory for it.
    Frees,
    /// The command writes, and may need memory.
    Grows,
}

/// A command: its name, its number of words (a negative number is a minimum), its effect and its implementation.
type Command = (&'static str, isize, Effect, Run);

/// All commands, sorted by name.
const COMMANDS: &[Command] = &[
    ("decr", 2, Effect::Grows, Run::Keys(strings::decr)),
    ("decrby", 3, Effect::Grows, Run::Keys(strings::decr_by)),
    ("del", -2, Effect::Frees, Run::Keys(keys::del)),
    ("eval", -3, Effect::Reads, Run::Eval),
    ("evalsha", -3, Effect::Reads, Run::EvalSha),
    ("exists", -2, Effect::Reads, Run::Keys(keys::exists)),
    ("expire", -3, Effect::Frees, Run::Keys(keys::expire)),
    ("flushall", -1, Effect::Frees, Run::Keys(keys::flush_all)),
    ("get", 2, Effect::Reads, Run::Keys(strings::get)),
    ("getdel", 2, Effect::Frees, Run::Keys(strings::get_del)),
    ("getset", 3, Effect::Grows, Run::Keys(strings::get_set)),
    ("hdel", -3, Effect::Frees, Run::Keys(hashes::del)),
    ("hexists", 3, Effect::Reads, Run::Keys(hashes::exists)),
    ("hget", 3, Effect::Reads, Run::Keys(hashes::get)),
    ("hgetall", 2, Effect::Reads, Run::Keys(hashes::get_all)),
    ("hincrby", 4, Effect::Grows, Run::Keys(hashes::incr_by)),
    ("hlen", 2, Effect::Reads, Run::Keys(hashes::len)),
    ("hmget", -3, Effect::Reads, Run::Keys(hashes::get_many)),
    ("hset", -4, Effect::Grows, Run::Keys(hashes::set)),
    ("hsetnx", 4, Effect::Grows, Run::Keys(hashes::set_nx)),
    ("incr", 2, Effect::Grows, Run::Keys(strings::incr)),
    ("incrby", 3, Effect::Grows, Run::Keys(strings::incr_by)),
    ("lpush", -3, Effect::Grows, Run::Keys(keys::lpush)),
    ("persist", 2, Effect::Frees, Run::Keys(keys::persist)),
    ("pexpire", -3, Effect::Frees, Run::Keys(keys::pexpire)),
    ("ping", -1, Effect::Reads, Run::Keys(keys::ping)),
    ("psetex", 4, Effect::Grows, Run::Keys(strings::pset_ex)),
    ("pttl", 2, Effect::Reads, Run::Keys(keys::pttl)),
    ("publish", 3, Effect::Reads, Run::Publish),
    ("script", -2, Effect::Reads, Run::Script),
    ("set", -3, Effect::Grows, Run::Keys(strings::set)),
    ("setex", 4, Effect::Grows, Run::Keys(strings::set_ex)),
    ("setnx", 3, Effect::Grows, Run::Keys(strings::set_nx)),
    ("subscribe", -2, Effect::Reads, Run::Subscribe),
    ("time", 1, Effect::Reads, Run::Keys(keys::time)),
    ("ttl", 2, Effect::Reads, Run::Keys(keys::ttl)),
    ("type", 2, Effect::Reads, Run::Keys(keys::type_of)),
    ("unlink", -2, Effect::Frees, Run::Keys(keys::del)),
    ("unsubscribe", -1, Effect::Reads, Run::Unsubscribe),
];

/// A command, and whether the number of words is right.
fn look_up(arguments: &[Vec<u8>]) -> Option<(&'static Command, bool)> {
    let mut name = [0_u8; 16];
    let name = name.get_mut(..arguments.first()?.len())?;
    name.copy_from_slice(&arguments[0]);
    name.make_ascii_lowercase();
    let at = COMMANDS
        .binary_search_by(|(known, ..)| known.as_bytes().cmp(name))
        .ok()?;
    let command = &COMMANDS[at];
    let fits = if command.1 < 0 {
        arguments.len() >= command.1.unsigned_abs()
    } else {
        arguments.len() == command.1.unsigned_abs()
    };
    Some((command, fits))
}

/// The command that a client sent.
pub(super) fn find(arguments: &[Vec<u8>]) -> Result<(Effect, &'static Run), Fault> {
    match look_up(arguments) {
        Some(((_, _, effect, run), true)) => Ok((*effect, run)),
        Some(((name, ..), false)) => Err(Fault::arity(name)),
        None => Err(unknown(arguments)),
    }
}

/// The command that a script calls.
pub(super) fn find_in_script(arguments: &[Vec<u8>]) -> Result<(Effect, &'static Run), Fault> {
    match look_up(arguments) {
        Some(((_, _, effect, run), true)) => Ok((*effect, run)),
        Some((_, false)) => Err(Fault::of(
            "ERR Wrong number of args calling Redis command from script",
        )),
        None => Err(Fault::of("ERR Unknown Redis command called from script")),
    }
}

fn unknown(arguments: &[Vec<u8>]) -> Fault {
    let mut words = arguments.iter().map(|word| String::from_utf8_lossy(word));
    let name = words.next().unwrap_or_default();
    let mut text = format!("ERR unknown command '{name}', with args beginning with: ");
    for word in words {
        text += &format!("'{word}' ");
    }
    Fault(text.into())
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;

    #[test]
    fn commands_are_in_the_order_of_their_names() {
        assert!(COMMANDS.is_sorted_by(|(one, ..), (next, ..)| one < next));
    }
}
