//! Replies as Lua's values and back, by Redis' rules.

use fencepost_models::redis::Resp;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// A number without its fraction. A number out of range is converted as on x86.
pub(super) fn truncate(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        number as i64
    } else {
        i64::MIN
    }
}

/// A command's words. Numbers have up to 17 digits.
pub(super) fn words(lua: &Lua, words: &MultiValue) -> std::result::Result<Vec<Vec<u8>>, &'static str> {
    if words.is_empty() {
        return Err("ERR Please specify at least one argument for this redis lib call");
    }
    let words = words.iter().map(|word| bytes(lua, word));
    words
        .collect::<Option<_>>()
        .ok_or("ERR Lua redis lib command arguments must be strings or integers")
}

/// A string or a number as bytes.
pub(super) fn bytes(lua: &Lua, value: &Value) -> Option<Vec<u8>> {
    const EXACT: u64 = 100_000_000_000_000_000;
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Integer(number) if number.unsigned_abs() < EXACT => Some(number.to_string().into()),
        Value::Integer(number) => in_c(lua, *number as f64),
        Value::Number(number) => in_c(lua, *number),
        _ => None,
    }
}

/// Like C's `%.17g`.
fn in_c(lua: &Lua, number: f64) -> Option<Vec<u8>> {
    let string: Table = lua.globals().get("string").ok()?;
    let format: mlua::Function = string.get("format").ok()?;
    let text: mlua::String = format.call(("%.17g", number)).ok()?;
    Some(text.as_bytes().to_vec())
}

pub(super) fn to_lua(lua: &Lua, reply: Resp) -> Result<Value> {
    let field = |name: &str, text: &[u8]| {
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, lua.create_string(text)?)?;
        Ok(Value::Table(table))
    };
    match reply {
        Resp::Int(number) => Ok(Value::Number(number as f64)),
        Resp::Bulk(text) => lua.create_string(&text).map(Value::String),
        Resp::Status(text) => field("ok", &text),
        Resp::Error(text) => field("err", &text),
        Resp::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (number, item) in items.into_iter().enumerate() {
                table.raw_set(number + 1, to_lua(lua, item)?)?;
            }
            Ok(Value::Table(table))
        }
        _ => Ok(Value::Boolean(false)),
    }
}

pub(super) fn to_resp(value: &Value) -> Result<Resp> {
    match value {
        Value::String(text) => Ok(Resp::Bulk(text.as_bytes().to_vec())),
        Value::Integer(number) => Ok(Resp::Int(*number)),
        Value::Number(number) => Ok(Resp::Int(truncate(*number))),
        Value::Boolean(true) => Ok(Resp::Int(1)),
        Value::Table(table) => of_table(table),
        _ => Ok(Resp::Nil),
    }
}

fn of_table(table: &Table) -> Result<Resp> {
    if let Value::String(text) = table.raw_get("err")? {
        return Ok(Resp::Error(one_line(&text.as_bytes())));
    }
    if let Value::String(text) = table.raw_get("ok")? {
        return Ok(Resp::Status(without_breaks(&text.as_bytes())));
    }
    let mut items = Vec::new();
    loop {
        match table.raw_get(items.len() + 1)? {
            Value::Nil => return Ok(Resp::Array(items)),
            item => items.push(to_resp(&item)?),
        }
    }
}

/// An error's text in the form of the protocol.
pub(super) fn one_line(text: &[u8]) -> Vec<u8> {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = text.iter().take_while(|byte| is_break(byte)).count();
    let end = text.iter().rev().take_while(|byte| is_break(byte)).count();
    without_breaks(text.get(start..text.len() - end).unwrap_or_default())
}

fn without_breaks(text: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| {
        if matches!(byte, b'\r' | b'\n') {
            b' '
        } else {
            *byte
        }
    };
    text.iter().map(plain).collect()
}
