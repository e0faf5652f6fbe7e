//! Commands on keys of any type: existence and expiry.

use alloc::{string::String, string::ToString, vec, vec::Vec};

use crate::redis::{
    keyspace::{Keyspace, Moment, Value},
    number,
    wire::{Answer, Fault, Resp},
};

pub(super) fn count(number: usize) -> Resp {
    Resp::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn del(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let gone = arguments[1..].iter().filter(|key| keys.remove(key)).count();
    Ok(count(gone))
}

pub(super) fn exists(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    Ok(count(
        arguments[1..].iter().filter(|key| keys.contains(key)).count(),
    ))
}

pub(super) fn type_of(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let name = match keys.entry(&arguments[1]).map(|entry| &entry.value) {
        None => "none",
        Some(Value::String(_)) => "string",
        Some(Value::Hash(_)) => "hash",
        Some(Value::List(_)) => "list",
    };
    Ok(Resp::Status(name.into()))
}

pub(super) fn lpush(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let list = keys.list_mut(&arguments[1])?;
    for item in &arguments[2..] {
        list.push_front(item.clone());
    }
    Ok(count(list.len()))
}

pub(super) fn pttl(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    Ok(Resp::Int(
        left(keys, now, &arguments[1]).unwrap_or_else(|none| none),
    ))
}

/// The time to live in seconds, rounded to the nearest.
pub(super) fn ttl(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    let left = left(keys, now, &arguments[1]).map(|millis| millis.saturating_add(500) / 1000);
    Ok(Resp::Int(left.unwrap_or_else(|none| none)))
}

/// The time to live in milliseconds. The error is the server's reply for a key without an expiry time (-1) or for a
/// missing key (-2).
fn left(keys: &Keyspace, now: Moment, key: &[u8]) -> Result<i64, i64> {
    let entry = keys.entry(key).ok_or(-2_i64)?;
    let end = entry.end.ok_or(-1_i64)?;
    Ok(end.saturating_sub(now.millis()).max(0))
}

pub(super) fn persist(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let entry = keys.entry_mut(&arguments[1]);
    let ended = entry.and_then(|entry| entry.end.take());
    Ok(Resp::Int(i64::from(ended.is_some())))
}

pub(super) fn expire(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    end_after(keys, now, arguments, ("expire", 1000))
}

pub(super) fn pexpire(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    end_after(keys, now, arguments, ("pexpire", 1))
}

fn end_after(
    keys: &mut Keyspace,
    now: Moment,
    arguments: &[Vec<u8>],
    (command, unit): (&str, i64),
) -> Answer {
    let condition = Condition::parse(&arguments[3..])?;
    let end = number::argument(&arguments[2])?
        .checked_mul(unit)
        .and_then(|millis| millis.checked_add(now.millis()))
        .ok_or_else(|| Fault::expire_time(command))?;
    let Some(entry) = keys.entry_mut(&arguments[1]) else {
        return Ok(Resp::Int(0));
    };
    if !condition.allows(entry.end, end) {
        return Ok(Resp::Int(0));
    }
    entry.end = Some(end);
    if end <= now.millis() {
        keys.remove(&arguments[1]);
    }
    Ok(Resp::Int(1))
}

/// The condition under which an expiry time may be set.
#[derive(Default)]
struct Condition {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Condition {
    fn parse(options: &[Vec<u8>]) -> Result<Self, Fault> {
        let mut condition = Self::default();
        for option in options {
            let flag = match option.to_ascii_lowercase().as_slice() {
                b"nx" => &mut condition.nx,
                b"xx" => &mut condition.xx,
                b"gt" => &mut condition.gt,
                b"lt" => &mut condition.lt,
                _ => {
                    let option = String::from_utf8_lossy(option);
                    return Err(Fault(alloc::format!("ERR Unsupported option {option}").into()));
                }
            };
            *flag = true;
        }
        let Self { nx, xx, gt, lt } = condition;
        if nx && (xx || gt || lt) {
            return Err(Fault::of(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if gt && lt {
            return Err(Fault::of(
                "ERR GT and LT options at the same time are not compatible",
            ));
        }
        Ok(condition)
    }

    /// A key without an expiry time counts as a key that expires later than all others.
    fn allows(&self, old: Option<i64>, new: i64) -> bool {
        !(self.nx && old.is_some()
            || self.xx && old.is_none()
            || self.gt && old.is_none_or(|old| new <= old)
            || self.lt && old.is_some_and(|old| new >= old))
    }
}

pub(super) fn time(_: &mut Keyspace, now: Moment, _: &[Vec<u8>]) -> Answer {
    let (seconds, micros) = now.seconds_and_micros();
    let parts = [seconds, micros].map(|number| Resp::Bulk(number.to_string().into()));
    Ok(Resp::Array(parts.into()))
}

pub(super) fn ping(_: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    match arguments {
        [_] => Ok(Resp::Status(b"PONG".into())),
        [_, text] => Ok(Resp::Bulk(text.clone())),
        _ => Err(Fault::arity("ping")),
    }
}

pub(super) fn flush_all(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    match &arguments[1..] {
        [] => {}
        [how] if how.eq_ignore_ascii_case(b"sync") || how.eq_ignore_ascii_case(b"async") => {}
        _ => return Err(Fault::SYNTAX),
    }
    keys.clear();
    Ok(Resp::ok())
}

/// The reply with a hash's fields or values.
pub(super) fn bulks<'a>(items: impl Iterator<Item = &'a Vec<u8>>) -> Resp {
    let mut all = vec![];
    all.extend(items.cloned().map(Resp::Bulk));
    Resp::Array(all)
}
