//! A connection to the real server.

use std::time::Duration;

use fencepost_core::redis::Reply;
use redis::{Client, Connection, ServerError, Value};

use crate::chance::address;

use super::commands::Word;

pub(super) struct Real(Connection);

impl Real {
    pub(super) fn connect() -> Self {
        let client = Client::open(format!("redis://{}", address("FENCEPOST_REDIS"))).unwrap();
        let connection = client.get_connection().unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        Self(connection)
    }

    pub(super) fn send(&mut self, line: &[Word]) {
        let mut packed = format!("*{}\r\n", line.len()).into_bytes();
        for word in line {
            packed.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            packed.extend_from_slice(word);
            packed.extend_from_slice(b"\r\n");
        }
        self.0.send_packed_command(&packed).unwrap();
    }

    pub(super) fn next(&mut self) -> Reply {
        match self.0.recv_response() {
            Ok(value) => reply(value),
            Err(error) => Reply::Error(match (error.code(), error.detail()) {
                (Some(code), Some(detail)) => format!("{code} {detail}"),
                (Some(code), None) => code.into(),
                _ => panic!("{error}"),
            }),
        }
    }

    pub(super) fn call(&mut self, line: &[Word]) -> Reply {
        self.send(line);
        self.next()
    }
}

fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Bytes(bytes),
        Value::SimpleString(text) => Reply::Bytes(text.into()),
        Value::Okay => Reply::Bytes(b"OK".into()),
        Value::Array(items) => Reply::Array(items.into_iter().map(reply).collect()),
        Value::ServerError(error) => Reply::Error(text(&error)),
        other => panic!("{other:?}"),
    }
}

fn text(error: &ServerError) -> String {
    match error.details() {
        Some(details) => format!("{} {details}", error.code()),
        None => error.code().into(),
    }
}
