//! What `exec` reports: events on `--status-fd`, and one line of JSON at the end.

use std::{
    fs::File,
    io::{self, ErrorKind, Write as _},
    sync::Arc,
};

use fencepost::clock;
use fencepost_core::Instant;
use serde_json::{Map, Value, json};

use super::options::Reporting;
use crate::output::{complain, print};

/// What is known so far.
pub(super) struct Report {
    json: bool,
    status: Option<Arc<File>>,
    start: Instant,
    known: Map<String, Value>,
}

impl Report {
    pub(super) fn new(reporting: &Reporting) -> Self {
        let mut known = Map::new();
        known.insert("lock".into(), json!(reporting.name));
        for member in ["fence", "waited_ms", "status", "signal", "lost"] {
            known.insert(member.into(), Value::Null);
        }
        Self {
            json: reporting.json,
            status: reporting.status.clone(),
            start: clock::now(),
            known,
        }
    }

    /// Signals are caught from now on, and the queue is entered.
    pub(super) fn waiting(&mut self) {
        self.event(json!({ "event": "waiting" }));
    }

    /// The right was granted. Numbers of 64 bits are texts, because many readers round them.
    pub(super) fn acquired(&mut self, fence: Option<u64>) {
        let waited = clock::now().since(self.start).as_millis();
        let waited = json!(u64::try_from(waited).unwrap_or(u64::MAX));
        let fence = json!(fence.map(|fence| fence.to_string()));
        self.known.insert("fence".into(), fence.clone());
        self.known.insert("waited_ms".into(), waited.clone());
        self.event(json!({ "event": "acquired", "fence": fence, "waited_ms": waited }));
    }

    pub(super) fn started(&mut self, process: i32) {
        self.event(json!({ "event": "started", "pid": process }));
    }

    /// The lock is lost, or will be, or has been held for long enough.
    pub(super) fn lost(&mut self, why: &str) {
        self.known.insert("lost".into(), json!(why));
        self.event(json!({ "event": "lost", "reason": why }));
    }

    /// The command has ended.
    pub(super) fn ended(&mut self, status: Option<i32>, signal: Option<i32>) {
        self.known.insert("status".into(), json!(status));
        self.known.insert("signal".into(), json!(signal));
        self.event(json!({ "event": "exited", "status": status, "signal": signal }));
    }

    /// Reports the end. Fails if standard output does not take it.
    pub(super) fn finish(mut self, outcome: &str, code: u8) -> io::Result<()> {
        self.known.insert("outcome".into(), json!(outcome));
        self.known.insert("exit_code".into(), json!(code));
        let mut last = Map::from_iter([("event".to_owned(), json!("end"))]);
        last.extend(self.known.clone());
        self.event(Value::Object(last));
        if self.json {
            print(&Value::Object(self.known).to_string())?;
        }
        Ok(())
    }

    /// A reader of events that has gone does not stop the command.
    fn event(&mut self, event: Value) {
        let Some(status) = &mut self.status else {
            return;
        };
        if let Err(error) = status.write_all(format!("{event}\n").as_bytes()) {
            if error.kind() != ErrorKind::BrokenPipe {
                complain(&format!("cannot write to --status-fd: {error}"));
            }
            self.status = None;
        }
    }
}
