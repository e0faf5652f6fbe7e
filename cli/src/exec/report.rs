//! The reports of `exec`: events on `--status-fd`, and one line of JSON at the end.

use std::io;

use fencepost::{Error, clock};
use fencepost_core::Instant;
use serde_json::{Map, Value, json};

use super::{messages::Messages, options::Reporting};
use crate::output::{print, with_causes};

/// The report so far.
pub(super) struct Report {
    json: bool,
    messages: Messages,
    start: Instant,
    known: Map<String, Value>,
}

impl Report {
    pub(super) fn new(reporting: &Reporting) -> io::Result<Self> {
        let mut known = Map::new();
        known.insert("lock".into(), json!(reporting.name));
        for member in ["fence", "waited_ms", "status", "signal", "lost"] {
            known.insert(member.into(), Value::Null);
        }
        Ok(Self {
            json: reporting.json,
            messages: Messages::to(reporting.status.clone())?,
            start: clock::now(),
            known,
        })
    }

    /// Prints an error as one line on standard error.
    pub(super) fn complain(&self, text: impl Into<String>) {
        self.messages.complain(text.into());
    }

    /// Prints an error of the end, if any. It has no other effect: the lock ends with its lease.
    pub(super) fn complain_of(&self, done: Result<(), Error>) {
        if let Err(error) = done {
            self.complain(with_causes(&error));
        }
    }

    /// Reports that fencepost now catches signals and joins the queue.
    pub(super) fn waiting(&self) {
        self.event(&json!({ "event": "waiting" }));
    }

    /// Reports the grant. Numbers of 64 bits are texts, because many readers round them.
    pub(super) fn acquired(&mut self, fence: Option<u64>) {
        let waited = clock::now().since(self.start).as_millis();
        let waited = json!(u64::try_from(waited).unwrap_or(u64::MAX));
        let fence = json!(fence.map(|fence| fence.to_string()));
        self.known.insert("fence".into(), fence.clone());
        self.known.insert("waited_ms".into(), waited.clone());
        self.event(&json!({ "event": "acquired", "fence": fence, "waited_ms": waited }));
    }

    pub(super) fn started(&self, process: i32) {
        self.event(&json!({ "event": "started", "pid": process }));
    }

    /// Reports that the lock is lost or is about to be lost, or that `--max-hold` has passed.
    pub(super) fn lost(&mut self, why: &str) {
        self.known.insert("lost".into(), json!(why));
        self.event(&json!({ "event": "lost", "reason": why }));
    }

    /// Stores and reports the end of the command.
    pub(super) fn ended(&mut self, status: Option<i32>, signal: Option<i32>) {
        self.known.insert("status".into(), json!(status));
        self.known.insert("signal".into(), json!(signal));
        self.event(&json!({ "event": "exited", "status": status, "signal": signal }));
    }

    /// Reports the end. Fails if standard output cannot be written.
    pub(super) fn finish(mut self, outcome: &str, code: u8) -> io::Result<()> {
        self.known.insert("outcome".into(), json!(outcome));
        self.known.insert("exit_code".into(), json!(code));
        let mut last = Map::from_iter([("event".to_owned(), json!("end"))]);
        last.extend(self.known.clone());
        self.event(&Value::Object(last));
        self.messages.finish();
        if self.json {
            print(&Value::Object(self.known).to_string())?;
        }
        Ok(())
    }

    fn event(&self, event: &Value) {
        self.messages.event(event.to_string());
    }
}
