//! Passes outputs to the package's constructors.
//!
//! The constructors store an output until the package takes it. Neither they nor the exports return a
//! reference, because V8 (in Node.js 20) crashes if it has to deoptimise a function during a call into
//! WebAssembly that returns one.

use core::time::Duration;

use fencepost_core::{
    Cause, Command, CommandId, Event, Key, Output, Target, Wait,
    claim::Record,
    lowered::{HubOutput, Request},
};
use wasm_bindgen::prelude::*;

use crate::{
    arguments::Arguments,
    convert::{self, millis, number},
};

#[wasm_bindgen(raw_module = "../outputs.js")]
extern "C" {
    #[wasm_bindgen(js_name = nodeCommand)]
    fn node_command(
        key: f64,
        id: f64,
        target: i32,
        deadline: f64,
        operation: u8,
        path: &str,
        data: &[u8],
        flags: u32,
    );
    #[wasm_bindgen(js_name = part)]
    fn part(operation: u8, path: &str, data: &[u8], flags: u32, version: i32);
    #[wasm_bindgen(js_name = argumentsCommand)]
    fn arguments_command(key: f64, id: f64, target: i32, deadline: f64, operation: u8, known: &JsValue);
    fn queued(key: f64, ahead: f64);
    fn attempted(attempt: &str);
    fn acquired(key: f64, fence: Option<u64>, takeovers: f64, valid_until: f64);
    fn recorded(key: f64, event: u8);
    fn swept(key: f64, deleted: f64);
    fn valid(key: f64, event: u8, valid_until: f64);
    fn plain(key: f64, event: u8);
    #[wasm_bindgen(js_name = mixedLayouts)]
    fn mixed_layouts(key: f64, node: &str);
    fn contender(
        node: &str,
        holds: bool,
        shared: bool,
        session: Option<i64>,
        since: Option<f64>,
        expires_in: Option<f64>,
        fence: u64,
        identifier: &str,
    );
    fn found(key: f64);
    #[allow(clippy::too_many_arguments, reason = "scalars cross fastest")]
    fn ended(
        key: f64,
        event: &str,
        code: u16,
        kind: &str,
        message: &str,
        command: f64,
        detail: Option<&str>,
        retry_after: f64,
    );
    fn wait(until: f64, reason: u8);
}

#[wasm_bindgen(raw_module = "../arguments.js")]
extern "C" {
    fn argument(bytes: &[u8]);
}

#[wasm_bindgen(raw_module = "../records.js")]
extern "C" {
    #[allow(clippy::too_many_arguments, reason = "scalars cross fastest")]
    fn record(
        state: u8,
        attempt: &str,
        fence: u64,
        takeovers: f64,
        policy: u8,
        lease_end: f64,
        kept_until: f64,
        version: f64,
        guard: f64,
        tag: &str,
        result: &[u8],
    );
}

/// The numbers of names in `js/hub/outputs.ts`, so that no text and no reference is passed.
mod code {
    pub(super) const NO_REASON: u8 = 255;
    pub(super) const EXTENDED: u8 = 0;
    pub(super) const RESUMED: u8 = 1;
    pub(super) const SUSPENDED: u8 = 0;
    pub(super) const REVOKE_REQUESTED: u8 = 1;
    pub(super) const DOWNGRADED: u8 = 2;
    pub(super) const RELEASED: u8 = 3;
    pub(super) const COMPLETED: u8 = 0;
    pub(super) const REPLAYED: u8 = 1;
    pub(super) const LOOKED: u8 = 2;
}

/// Makes outputs. It does not pass texts again that JavaScript already has: to decode a text costs more than
/// the rest of a call.
#[derive(Debug)]
pub(crate) struct Outputs {
    arguments: Arguments,
}

impl Outputs {
    pub(crate) const fn new() -> Self {
        Self {
            arguments: Arguments::new(),
        }
    }

    /// `whole`: includes the fields that are only for people.
    pub(crate) fn lowered(&mut self, output: HubOutput, whole: bool) {
        match output {
            (key, Output::Command(command)) => self.commanded(key, command),
            (key, Output::Event(event)) => event_value(number(key.0), &event, whole),
            (_, Output::Wait(Wait { until, reason })) => {
                wait(millis(until), reason.map_or(code::NO_REASON, |timer| timer as u8));
            }
            _ => wait(f64::NAN, code::NO_REASON),
        }
    }

    fn commanded(&mut self, key: Key, command: Command<Request>) {
        let (key, id) = (number(key.0), number(command.id.0));
        let target = match command.target {
            Target::Server(n) => i32::try_from(n).unwrap_or(i32::MAX),
            Target::Own => -2,
            _ => -1,
        };
        let deadline = millis(command.deadline);
        let request = command.request;
        let operation = request.operation as u8;
        if request.arguments.is_empty() {
            let Request {
                path,
                data,
                flags,
                parts,
                ..
            } = &request;
            for one in parts {
                part(one.operation as u8, &one.path, &one.data, one.flags, one.version);
            }
            return node_command(key, id, target, deadline, operation, path, data, *flags);
        }
        match self.arguments.mirrored(request.arguments) {
            Ok(known) => arguments_command(key, id, target, deadline, operation, known),
            Err(arguments) => {
                arguments.iter().for_each(|one| argument(one));
                arguments_command(key, id, target, deadline, operation, &JsValue::UNDEFINED);
            }
        }
    }
}

fn event_value(key: f64, event: &Event, whole: bool) {
    let name = event.name();
    match event {
        Event::Queued { ahead } => queued(key, ahead.map_or(f64::NAN, f64::from)),
        Event::Acquired { grant } => {
            if whole {
                attempted(&grant.attempt.text());
            }
            let (fence, takeovers) = (grant.fence.map(|fence| fence.0), number(grant.takeovers));
            acquired(key, fence, takeovers, millis(grant.valid_until));
        }
        Event::Extended { valid_until } => valid(key, code::EXTENDED, millis(*valid_until)),
        Event::Resumed { valid_until } => valid(key, code::RESUMED, millis(*valid_until)),
        Event::Suspended => plain(key, code::SUSPENDED),
        Event::RevokeRequested => plain(key, code::REVOKE_REQUESTED),
        Event::Downgraded => plain(key, code::DOWNGRADED),
        Event::Released => plain(key, code::RELEASED),
        Event::MixedLayouts { node } => mixed_layouts(key, node),
        Event::Found { contenders } => {
            for one in contenders {
                contender(
                    &one.node,
                    one.holds,
                    one.shared,
                    one.session.map(|session| session.0),
                    one.since.map(since),
                    one.expires_in.map(expires_in),
                    one.fence.0,
                    &one.identifier,
                );
            }
            found(key);
        }
        Event::Completed { record } => known(key, code::COMPLETED, Some(record)),
        Event::Replayed { record } => known(key, code::REPLAYED, Some(record)),
        Event::Looked { record } => known(key, code::LOOKED, record.as_deref()),
        Event::Swept { deleted } => swept(key, number(*deleted)),
        Event::Lost { reason, cause } => {
            over(key, name, reason.code(), reason.name(), reason.message(), cause)
        }
        Event::Refused { reason, cause } => {
            over(key, name, reason.code(), reason.name(), reason.message(), cause)
        }
        // There are no other events.
        _ => wait(f64::NAN, code::NO_REASON),
    }
}

fn known(key: f64, event: u8, record: Option<&Record>) {
    record.map(show);
    recorded(key, event);
}

/// Makes the record that the next event has.
fn show(known: &Record) {
    record(
        known.state as u8,
        &known.attempt.text(),
        known.fence.0,
        number(known.takeovers),
        known.policy as u8,
        number(known.lease_end),
        number(known.kept_until),
        number(known.version),
        number(known.guard()),
        &known.tag,
        &known.result,
    );
}

/// The end of a grant or an acquire that the program did not request.
fn over(key: f64, event: &str, code: u16, kind: &str, message: &str, cause: &Cause) {
    cause.record.as_deref().map(show);
    let retry_after = cause.retry_after.map_or(f64::NAN, convert::in_millis);
    ended(
        key,
        event,
        code,
        kind,
        message,
        named(cause.command),
        cause.detail.as_deref(),
        retry_after,
    );
}

/// A date of a server, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "JavaScript's dates are like that")]
const fn since(millis: i64) -> f64 {
    millis as f64
}

fn expires_in(left: Duration) -> f64 {
    left.as_secs_f64() * 1e3
}

fn named(command: Option<CommandId>) -> f64 {
    command.map_or(f64::NAN, |id| number(id.0))
}
