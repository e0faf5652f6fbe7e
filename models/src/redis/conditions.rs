//! Conditions in which a server refuses commands: it is a replica, its memory is full, it cannot save, it has too few
//! replicas, or its users have no right to channels. The checks are in the order of the real server, for commands and
//! for scripts.

use alloc::format;

use super::{
    commands::{Effect, Run},
    wire::{Fault, Resp},
};

/// A condition of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The server is a replica: it refuses writes, and its data may be out of date.
    Replica,
    /// The server has reached `maxmemory`, and does not evict keys.
    Full,
    /// The server could not write its last snapshot to disk.
    NoDisk,
    /// The server has fewer replicas than `min-replicas-to-write` requires.
    FewReplicas,
    /// The users have no right to any channel, as is the default for new users since 7.0.
    NoChannels,
    /// The server is older than 7.0: it wraps the error that stops a script into another error. (On a real server, an
    /// error returned by `redis.pcall` then begins with its position in the script. The model leaves the position out.)
    Older,
}

/// A server's conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Conditions(u8);

impl Conditions {
    const fn bit(condition: Condition) -> u8 {
        1 << condition as u8
    }

    pub(super) const fn has(self, condition: Condition) -> bool {
        self.0 & Self::bit(condition) != 0
    }

    pub(super) const fn set(&mut self, condition: Condition, on: bool) {
        if on {
            self.0 |= Self::bit(condition);
        } else {
            self.0 &= !Self::bit(condition);
        }
    }

    const fn no_disk(self) -> Fault {
        if self.has(Condition::Older) {
            Fault::NO_DISK_BEFORE_7
        } else {
            Fault::NO_DISK
        }
    }

    /// Whether the server executes a client's command.
    pub(super) fn check(self, effect: Effect, run: &Run, name: &[u8]) -> Result<(), Fault> {
        if self.has(Condition::NoChannels) && matches!(run, Run::Publish | Run::Subscribe) {
            return Err(Fault::NO_CHANNEL);
        }
        if self.has(Condition::Full) && effect == Effect::Grows {
            return Err(Fault::FULL);
        }
        let writes = effect != Effect::Reads;
        if self.has(Condition::NoDisk) && (writes || name.eq_ignore_ascii_case(b"ping")) {
            return Err(self.no_disk());
        }
        if self.has(Condition::FewReplicas) && writes {
            return Err(Fault::FEW_REPLICAS);
        }
        if self.has(Condition::Replica) && writes {
            return Err(Fault::REPLICA);
        }
        Ok(())
    }

    /// Whether the server executes a script's command. After a script's first write, only a missing right stops the
    /// script.
    pub(super) fn check_in_script(self, effect: Effect, run: &Run, has_written: bool) -> Result<(), Fault> {
        if self.has(Condition::NoChannels) && matches!(run, Run::Publish) {
            return Err(Fault::NO_CHANNEL_IN_SCRIPTS);
        }
        if effect == Effect::Reads || has_written {
            return Ok(());
        }
        let stops = [
            (Condition::Replica, Fault::REPLICA),
            (Condition::NoDisk, self.no_disk()),
            (Condition::FewReplicas, Fault::FEW_REPLICAS),
        ];
        if let Some((_, fault)) = stops.into_iter().find(|(condition, _)| self.has(*condition)) {
            return Err(fault);
        }
        if self.has(Condition::Full) && effect == Effect::Grows {
            return Err(Fault::FULL);
        }
        Ok(())
    }
}

/// The error that an older server returns when an error has stopped a script. `refused`: the server refused to execute
/// a command, so the error is from the server and not from the command.
pub(super) fn wrapped(reply: Resp, sha: &[u8; 40], refused: bool) -> Resp {
    let (Resp::Error(text), Ok(sha)) = (&reply, core::str::from_utf8(sha)) else {
        return reply;
    };
    let Ok(text) = core::str::from_utf8(text) else {
        return reply;
    };
    let place = text.split_once(&format!(" script: {sha}, on "));
    let Some((message, (source, line))) =
        place.and_then(|(message, place)| Some((message, place.strip_suffix('.')?.split_once(':')?)))
    else {
        return reply;
    };
    let message = if refused {
        let message = message
            .strip_prefix("ERR ")
            .map_or_else(|| format!("-{message}"), Into::into);
        format!("{source}: {line}: {message}")
    } else {
        message.into()
    };
    Resp::Error(format!("ERR Error running script (call to f_{sha}): {source}:{line}: {message}").into())
}
