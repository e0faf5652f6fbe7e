//! Commands on strings.

use alloc::vec::Vec;

use crate::redis::{
    keyspace::{Keyspace, Moment, Value},
    number,
    wire::{Answer, Fault, Resp},
};

pub(super) fn get(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    Ok(keys.string(&arguments[1])?.map_or(Resp::Nil, Resp::bulk))
}

pub(super) fn get_del(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    let old = get(keys, now, arguments)?;
    keys.remove(&arguments[1]);
    Ok(old)
}

pub(super) fn get_set(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    let old = get(keys, now, arguments)?;
    keys.put(&arguments[1], Value::String(arguments[2].clone()), None);
    Ok(old)
}

/// The options of `SET`.
#[derive(Default)]
struct Options<'a> {
    nx: bool,
    xx: bool,
    get: bool,
    keep_ttl: bool,
    /// The number, and the milliseconds per unit.
    after: Option<(&'a [u8], i64)>,
}

impl<'a> Options<'a> {
    fn parse(words: &'a [Vec<u8>]) -> Result<Self, Fault> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let unit = match word.to_ascii_lowercase().as_slice() {
                b"nx" if !options.xx => {
                    options.nx = true;
                    continue;
                }
                b"xx" if !options.nx => {
                    options.xx = true;
                    continue;
                }
                b"get" => {
                    options.get = true;
                    continue;
                }
                b"keepttl" if options.after.is_none() => {
                    options.keep_ttl = true;
                    continue;
                }
                b"ex" => 1000,
                b"px" => 1,
                _ => return Err(Fault::SYNTAX),
            };
            // The same unit may occur twice; then the last one counts.
            if options.keep_ttl || options.after.is_some_and(|(_, other)| other != unit) {
                return Err(Fault::SYNTAX);
            }
            let number = words.next().ok_or(Fault::SYNTAX)?;
            options.after = Some((number, unit));
        }
        Ok(options)
    }
}

pub(super) fn set(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    let options = Options::parse(&arguments[3..])?;
    let key = &arguments[1];
    let end = options
        .after
        .map(|(number, unit)| end(now, number, unit, "set"))
        .transpose()?;
    let old = if options.get {
        get(keys, now, arguments)?
    } else {
        Resp::Nil
    };
    let there = keys.contains(key);
    if options.nx && there || options.xx && !there {
        return Ok(old);
    }
    let kept = keys.entry(key).and_then(|entry| entry.end);
    let end = if options.keep_ttl { kept } else { end };
    keys.put(key, Value::String(arguments[2].clone()), end);
    Ok(if options.get { old } else { Resp::ok() })
}

pub(super) fn set_nx(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let free = !keys.contains(&arguments[1]);
    if free {
        keys.put(&arguments[1], Value::String(arguments[2].clone()), None);
    }
    Ok(Resp::Int(i64::from(free)))
}

pub(super) fn set_ex(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    set_until(keys, arguments, end(now, &arguments[2], 1000, "setex")?)
}

pub(super) fn pset_ex(keys: &mut Keyspace, now: Moment, arguments: &[Vec<u8>]) -> Answer {
    set_until(keys, arguments, end(now, &arguments[2], 1, "psetex")?)
}

fn set_until(keys: &mut Keyspace, arguments: &[Vec<u8>], end: i64) -> Answer {
    keys.put(&arguments[1], Value::String(arguments[3].clone()), Some(end));
    Ok(Resp::ok())
}

/// The expiry time of a key that is set for this time.
fn end(now: Moment, number: &[u8], unit: i64, command: &str) -> Result<i64, Fault> {
    let positive = Some(number::argument(number)?).filter(|number| *number > 0);
    positive
        .and_then(|number| number.checked_mul(unit))
        .and_then(|millis| millis.checked_add(now.millis()))
        .ok_or_else(|| Fault::expire_time(command))
}

pub(super) fn incr(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    add(keys, &arguments[1], 1)
}

pub(super) fn decr(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    add(keys, &arguments[1], -1)
}

pub(super) fn incr_by(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let by = number::argument(&arguments[2])?;
    add(keys, &arguments[1], by)
}

pub(super) fn decr_by(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let by = number::argument(&arguments[2])?;
    let by = by
        .checked_neg()
        .ok_or(Fault::of("ERR decrement would overflow"))?;
    add(keys, &arguments[1], by)
}

/// Adds to a number; keeps its expiry time.
fn add(keys: &mut Keyspace, key: &[u8], by: i64) -> Answer {
    let old = match keys.string(key)? {
        Some(text) => number::argument(text)?,
        None => 0,
    };
    let new = old.checked_add(by).ok_or(Fault::OVERFLOW)?;
    let end = keys.entry(key).and_then(|entry| entry.end);
    keys.put(key, Value::String(number::format(new)), end);
    Ok(Resp::Int(new))
}
