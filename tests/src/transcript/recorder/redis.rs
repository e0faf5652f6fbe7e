//! The answers and notices of a Redis server and its client library.

use serde_json::{Value, json};

use super::{Input, Recorder, Reply};

impl Recorder {
    /// A script's answer.
    pub fn value(&mut self, value: Value) -> &mut Self {
        self.answer("call", Reply::Value { value })
    }

    /// A script's answer: granted, with this fence.
    pub fn granted(&mut self, fence: &str) -> &mut Self {
        self.value(json!([1, fence]))
    }

    /// A script's answer: held by another contender of this implementation, for `millis`.
    pub fn held_for(&mut self, millis: i64) -> &mut Self {
        self.value(json!([0, millis, "6f74686572206f6e6520697320686572-1"]))
    }

    /// A script's answer: held for `millis` by another program, which wrote this value.
    pub fn held_by(&mut self, holder: &str, millis: i64) -> &mut Self {
        self.value(json!([0, millis, holder]))
    }

    /// A script's answer: done.
    pub fn own(&mut self) -> &mut Self {
        self.value(json!([1]))
    }

    /// A script's answer: another contender holds the lock.
    pub fn foreign(&mut self) -> &mut Self {
        self.value(json!([0, "somebody"]))
    }

    /// A script's answer: no contender holds the lock.
    pub fn absent(&mut self) -> &mut Self {
        self.value(json!([0, null]))
    }

    /// An error.
    pub fn redis_error(&mut self, operation: &str, error: &str) -> &mut Self {
        self.answer(operation, Reply::RedisError { error: error.into() })
    }

    /// The subscription is confirmed.
    pub fn subscribed(&mut self) -> &mut Self {
        self.answer("subscribe", Reply::Value { value: json!(1) })
    }

    /// A message has arrived at the last subscription.
    pub fn message(&mut self) -> &mut Self {
        let id = self.last_id("subscribe");
        self.input(Input::Message { id })
    }

    /// The last subscription has ended.
    pub fn gone(&mut self) -> &mut Self {
        let id = self.last_id("subscribe");
        self.input(Input::Gone { id })
    }
}
