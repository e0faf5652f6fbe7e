//! The holder of a lock or a claim on the model server.

use core::time::Duration;

use fencepost_core::Instant;

use super::{KEY, RECORD, Servers};
use crate::{
    backend::{Backend, Owner},
    checker::Shown,
};

impl Servers {
    /// The holder, and the end of its lease: the value of the lock, or the attempt that runs the operation.
    pub(super) fn held(&self, now: Instant) -> Option<(&[u8], Option<Instant>)> {
        let lock = self.server.peek(now, KEY.as_bytes());
        lock.or_else(|| {
            let attempt = self.field(now, "attempt").filter(|_| self.is_running(now))?;
            let end = self.number(now, "lease")?;
            Some((attempt, Some(Instant::from_micros(end.saturating_mul(1000)))))
        })
    }

    /// The holder of the lock that an inspection must find.
    pub(super) fn holder(&self, now: Instant) -> Option<Shown> {
        let (token, end) = self.server.peek(now, KEY.as_bytes())?;
        // The server returns 0 in the last millisecond in which it keeps a key.
        let last = |end: Instant| (end.as_micros() / 1000).saturating_sub(1);
        let left = |end| last(end).saturating_sub(now.as_micros() / 1000);
        Some(Shown {
            node: String::from_utf8_lossy(token).into_owned(),
            fence: self.last_fence(now)?,
            session: None,
            left: end.map(|end| Duration::from_millis(left(end))),
            shared: false,
            holds: true,
            permits: None,
        })
    }

    /// Whether an attempt runs the operation, within its lease.
    fn is_running(&self, now: Instant) -> bool {
        let lease = self.number(now, "lease").unwrap_or_default();
        let running = self.field(now, "state") == Some(b"running");
        running && lease > now.as_micros() / 1000
    }

    fn field(&self, now: Instant, name: &str) -> Option<&[u8]> {
        self.server.peek_field(now, RECORD.as_bytes(), name.as_bytes())
    }

    pub(super) fn number(&self, now: Instant, name: &str) -> Option<u64> {
        str::from_utf8(self.field(now, name)?).ok()?.parse().ok()
    }

    /// The owner of a value. The name of every attempt begins with its client and the number of its process.
    pub(super) fn owner(&self, value: &[u8]) -> Owner {
        let byte = |at: usize| {
            let digits = value
                .get(at..at + 2)
                .and_then(|digits| str::from_utf8(digits).ok());
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
        };
        let (Some(number), Some(crashes)) = (byte(0), byte(2)) else {
            return Owner::Ended;
        };
        let client = number.wrapping_sub(1);
        match self.clients.get(usize::from(client)) {
            Some(known) if known.crashes == crashes => Owner::Client(client),
            _ => Owner::Ended,
        }
    }
}
