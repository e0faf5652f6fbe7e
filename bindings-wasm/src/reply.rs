//! Redis replies. They arrive as one text, fields with NULs between them, because every look into a JavaScript value is a crossing of its own:
//! `n` nothing, `i5` a number, `stext`, `x00ff` bytes in hexadecimal, `etext` an error, `a2` an array of the two that follow.

use alloc::vec::Vec;

use fencepost_core::{redis::Reply, text};

/// Nothing a script of ours answers is nested more deeply.
const DEEPEST: u8 = 8;

/// A reply; `None` for what is none.
pub(crate) fn read(text: &str) -> Option<Reply> {
    let mut fields = text::parts(text, 0);
    let reply = nested(&mut fields, DEEPEST)?;
    fields.next().is_none().then_some(reply)
}

fn nested<'a>(fields: &mut impl Iterator<Item = &'a str>, depth: u8) -> Option<Reply> {
    let field = fields.next()?;
    let value = field.get(1..)?;
    Some(match field.as_bytes().first()? {
        b'n' => Reply::Nil,
        b'i' => Reply::Int(text::whole(value)?),
        b's' => Reply::Bytes(value.into()),
        b'x' => Reply::Bytes(hexadecimal(value)?),
        b'e' => Reply::Error(value.into()),
        b'a' => {
            let depth = depth.checked_sub(1)?;
            let count = text::whole(value)?;
            let mut items = Vec::new();
            for _ in 0..count {
                items.push(nested(fields, depth)?);
            }
            Reply::Array(items)
        }
        _ => return None,
    })
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for pair in text.as_bytes().chunks(2) {
        let [high, low] = *pair else {
            return None;
        };
        bytes.push(digit(high)? << 4 | digit(low)?);
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| digit.try_into().ok())
}
