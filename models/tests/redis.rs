//! The effects of operators and failovers on the Redis model. `tests/simulator` compares its replies with the real
//! server.

use fencepost_core::{Instant, redis::Reply};
use fencepost_models::redis::{ConnectionId, Lua, Resp, Server};

/// A Lua that returns the number 7 for every script.
struct Seven;

impl Lua for Seven {
    fn check(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn eval(
        &mut self,
        _: &[u8],
        _: &[Vec<u8>],
        _: &[Vec<u8>],
        _: &mut dyn FnMut(&[Vec<u8>]) -> Resp,
    ) -> Resp {
        Resp::Int(7)
    }
}

struct One {
    server: Server,
    connection: ConnectionId,
}

impl One {
    fn new() -> Self {
        let mut server = Server::new();
        let connection = server.connect();
        Self { server, connection }
    }

    fn call(&mut self, millis: u64, line: &str) -> Reply {
        let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
        self.server.call(at(millis), self.connection, &words, &mut Seven)
    }
}

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1000)
}

fn text(text: &str) -> Reply {
    Reply::Bytes(text.into())
}

#[test]
fn a_checker_sees_strings_that_live_and_when_they_will_not() {
    let mut one = One::new();
    one.call(1, "SET a x PX 10");
    one.call(1, "SET b y");
    one.call(1, "HSET h f v");
    assert_eq!(one.server.peek(at(11), b"a"), Some((&b"x"[..], Some(at(12)))));
    assert_eq!(one.server.peek(at(12), b"a"), None);
    assert_eq!(one.server.peek(at(12), b"b"), Some((&b"y"[..], None)));
    assert_eq!(one.server.peek(at(12), b"h"), None);
    let keys = |server: &Server, now| server.keys(now).map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!(keys(&one.server, at(11)), [b"a", b"b", b"h"]);
    assert_eq!(keys(&one.server, at(12)), [b"b", b"h"]);
    assert!(one.server.delete(b"b") && !one.server.delete(b"b"));
}

#[test]
fn a_failover_loses_what_was_not_replicated() {
    let mut one = One::new();
    one.call(1, "SET kept x PX 1000");
    let seven = one.call(1, "SCRIPT LOAD return_7");
    one.server.replicate();
    one.call(1, "SET lost x");
    one.call(1, "DEL kept");
    one.call(1, "SUBSCRIBE channel");
    one.server.fail_over();

    assert!(!one.server.is_connected(one.connection));
    assert!(matches!(one.call(2, "GET kept"), Reply::Error(error) if error.starts_with("CLOSED ")));
    one.connection = one.server.connect();
    assert_eq!(one.call(2, "GET kept"), text("x"));
    assert_eq!(one.call(2, "GET lost"), Reply::Nil);
    assert_eq!(one.call(2, "PUBLISH channel 1"), Reply::Int(0));
    let Reply::Bytes(sha) = seven else {
        panic!("{seven:?}");
    };
    let sha = String::from_utf8(sha).unwrap();
    let again = one.call(2, &format!("EVALSHA {sha} 0"));
    assert!(matches!(again, Reply::Error(error) if error.starts_with("NOSCRIPT ")));
    // Time has passed on the replica, too.
    assert_eq!(one.call(1002, "GET kept"), Reply::Nil);
}

#[test]
fn a_restart_without_data_leaves_nothing() {
    let mut one = One::new();
    one.call(1, "SET a x");
    one.server.replicate();
    one.server.restart_empty();
    one.connection = one.server.connect();
    assert_eq!(one.call(1, "GET a"), Reply::Nil);
    one.server.fail_over();
    assert_eq!(one.server.keys(at(1)).count(), 0);
}

#[test]
fn scripts_are_known_until_they_are_flushed() {
    let mut one = One::new();
    assert_eq!(one.call(1, "EVAL return_7 0"), Reply::Int(7));
    let Reply::Bytes(sha) = one.call(1, "SCRIPT LOAD return_7") else {
        panic!("no name");
    };
    let call = format!("EVALSHA {} 0", String::from_utf8(sha).unwrap());
    assert_eq!(one.call(1, &call), Reply::Int(7));
    one.server.flush_scripts();
    assert!(matches!(one.call(1, &call), Reply::Error(_)));
}

#[test]
fn messages_wait_for_their_connection_and_go_with_it() {
    let mut one = One::new();
    let listener = one.server.connect();
    let subscribe: Vec<Vec<u8>> = vec![b"SUBSCRIBE".into(), b"c".into()];
    one.server.call(at(1), listener, &subscribe, &mut Seven);
    assert_eq!(one.call(1, "PUBLISH c 1"), Reply::Int(1));
    assert_eq!(one.call(1, "PUBLISH c 2"), Reply::Int(1));
    assert_eq!(one.server.notified().collect::<Vec<_>>(), [listener]);
    let expected = [(b"c".to_vec(), b"1".to_vec()), (b"c".to_vec(), b"2".to_vec())];
    assert_eq!(one.server.take_messages(listener), expected);
    one.call(1, "PUBLISH c 3");
    one.server.disconnect(listener);
    assert!(one.server.take_messages(listener).is_empty());
    assert_eq!(one.call(1, "PUBLISH c 4"), Reply::Int(0));
}
