//! Commands on hashes.

use alloc::vec::Vec;

use super::keys::{bulks, count};
use crate::redis::{
    keyspace::{Field, Fields, Keyspace, Moment},
    number,
    wire::{Answer, Fault, Resp},
};

fn find<'a>(fields: &'a [Field], name: &[u8]) -> Option<&'a Vec<u8>> {
    let field = fields.iter().find(|(known, _)| known == name);
    field.map(|(_, value)| value)
}

/// Sets a field; returns whether it is new.
fn put(fields: &mut Fields, name: &[u8], value: Vec<u8>) -> bool {
    if let Some((_, old)) = fields.iter_mut().find(|(known, _)| known == name) {
        *old = value;
        return false;
    }
    fields.push((name.into(), value));
    true
}

pub(super) fn get(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let value = find(keys.hash(&arguments[1])?, &arguments[2]);
    Ok(value.cloned().map_or(Resp::Nil, Resp::Bulk))
}

pub(super) fn get_many(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let fields = keys.hash(&arguments[1])?;
    let value = |name: &Vec<u8>| find(fields, name).cloned().map_or(Resp::Nil, Resp::Bulk);
    Ok(Resp::Array(arguments[2..].iter().map(value).collect()))
}

pub(super) fn exists(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let value = find(keys.hash(&arguments[1])?, &arguments[2]);
    Ok(Resp::Int(i64::from(value.is_some())))
}

pub(super) fn len(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    Ok(count(keys.hash(&arguments[1])?.len()))
}

pub(super) fn get_all(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let fields = keys.hash(&arguments[1])?;
    Ok(bulks(fields.iter().flat_map(|(name, value)| [name, value])))
}

pub(super) fn set(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let (pairs, []) = arguments[2..].as_chunks::<2>() else {
        return Err(Fault::arity("hset"));
    };
    let fields = keys.hash_mut(&arguments[1])?;
    let new = pairs
        .iter()
        .filter(|[name, value]| put(fields, name, value.clone()));
    Ok(count(new.count()))
}

pub(super) fn set_nx(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let fields = keys.hash_mut(&arguments[1])?;
    let free = find(fields, &arguments[2]).is_none();
    if free {
        put(fields, &arguments[2], arguments[3].clone());
    }
    Ok(Resp::Int(i64::from(free)))
}

/// Deletes fields. A hash without fields is deleted.
pub(super) fn del(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let before = keys.hash(&arguments[1])?.len();
    if before == 0 {
        return Ok(Resp::Int(0));
    }
    let fields = keys.hash_mut(&arguments[1])?;
    fields.retain(|(name, _)| !arguments[2..].contains(name));
    let after = fields.len();
    if after == 0 {
        keys.remove(&arguments[1]);
    }
    Ok(count(before - after))
}

pub(super) fn incr_by(keys: &mut Keyspace, _: Moment, arguments: &[Vec<u8>]) -> Answer {
    let by = number::argument(&arguments[3])?;
    let fields = keys.hash_mut(&arguments[1])?;
    let old = match find(fields, &arguments[2]) {
        Some(text) => number::parse(text).ok_or(Fault::of("ERR hash value is not an integer"))?,
        None => 0,
    };
    let new = old.checked_add(by).ok_or(Fault::OVERFLOW)?;
    put(fields, &arguments[2], number::format(new));
    Ok(Resp::Int(new))
}
