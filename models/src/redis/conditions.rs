//! What keeps a server from doing all that it is asked: it is a replica, it is full, it cannot save, its replicas are away, its users
//! have no right to channels. The order of the checks is the real server's, for commands and for scripts.

use alloc::format;

use super::{
    commands::{Effect, Run},
    wire::{Fault, Resp},
};

/// What a server can be short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// It is a replica: it writes nothing, and what it reads may be old.
    Replica,
    /// It has reached `maxmemory`, and evicts nothing.
    Full,
    /// Its last snapshot could not be written to the disk.
    NoDisk,
    /// Fewer replicas follow than `min-replicas-to-write` asks for.
    FewReplicas,
    /// Its users have no right to any channel, as is the default for new users since 7.0.
    NoChannels,
    /// It is older than 7.0, and wraps the error that stops a script into another one. (What it would tell `redis.pcall` begins
    /// with the place in the script; here it does not.)
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

    /// Whether a client's command is carried out.
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

    /// Whether a script's command is carried out. A script that has begun to write is stopped by none of this but missing rights.
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

/// What an older server makes of the error that stopped a script. `refused`: a command was not carried out, and so has not failed itself.
pub(super) fn wrapped(reply: Resp, sha: &[u8; 40], refused: bool) -> Resp {
    let (Resp::Error(told), Ok(sha)) = (&reply, core::str::from_utf8(sha)) else {
        return reply;
    };
    let Ok(told) = core::str::from_utf8(told) else {
        return reply;
    };
    let place = told.split_once(&format!(" script: {sha}, on "));
    let Some((said, (source, line))) =
        place.and_then(|(said, place)| Some((said, place.strip_suffix('.')?.split_once(':')?)))
    else {
        return reply;
    };
    let said = if refused {
        let said = said
            .strip_prefix("ERR ")
            .map_or_else(|| format!("-{said}"), Into::into);
        format!("{source}: {line}: {said}")
    } else {
        said.into()
    };
    Resp::Error(format!("ERR Error running script (call to f_{sha}): {source}:{line}: {said}").into())
}
