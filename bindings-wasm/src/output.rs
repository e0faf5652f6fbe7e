//! Outputs, made by the package's constructors.
//!
//! They keep what they have made until it is asked for: nothing is returned, here or from an export, because V8 (in Node.js 20) crashes when it
//! has to deoptimise a function in the middle of a call into WebAssembly that returns a reference.

use alloc::string::ToString;

use fencepost_core::{
    Command, CommandId, Event, Key, Output, Target, Wait,
    lowered::{HubOutput, Request},
    sorted::SortedMap,
};
use wasm_bindgen::prelude::*;

use crate::{
    arguments::Arguments,
    convert::{millis, number},
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
    fn part(operation: u8, path: &str, data: &[u8], flags: u32);
    #[wasm_bindgen(js_name = argument)]
    fn argument(bytes: &[u8]);
    #[wasm_bindgen(js_name = argumentsCommand)]
    fn arguments_command(
        key: f64,
        id: f64,
        target: i32,
        deadline: f64,
        operation: u8,
        known: &JsValue,
        changed: u32,
        joined: &str,
    );
    fn queued(key: f64, ahead: f64);
    fn acquired(key: f64, attempt: &str, fence: Option<u64>, valid_until: f64);
    fn valid(key: f64, event: &JsValue, valid_until: f64);
    fn plain(key: f64, event: &JsValue);
    #[wasm_bindgen(js_name = mixedLayouts)]
    fn mixed_layouts(key: f64, node: &str);
    fn contender(
        node: &str,
        holds: bool,
        shared: bool,
        session: i64,
        since: f64,
        fence: u64,
        identifier: &str,
    );
    fn found(key: f64);
    fn ended(key: f64, event: &str, code: u16, kind: &str, message: &str, command: f64, detail: Option<&str>);
    fn wait(until: f64, reason: &JsValue);
}

/// Makes outputs. What was handed over before is known and does not cross again: decoding a text costs more than everything else in a crossing.
#[derive(Debug)]
pub(crate) struct Outputs {
    names: SortedMap<usize, JsValue>,
    arguments: Arguments,
}

impl Outputs {
    pub(crate) const fn new() -> Self {
        Self {
            names: SortedMap::new(),
            arguments: Arguments::new(),
        }
    }

    pub(crate) fn lowered(&mut self, output: HubOutput) {
        match output {
            (key, Output::Command(command)) => self.commanded(key, command),
            (key, Output::Event(event)) => self.told(number(key.0), &event),
            (_, Output::Wait(Wait { until, reason })) => match reason {
                Some(timer) => self.with_name(timer.name(), |name| wait(millis(until), name)),
                None => wait(millis(until), &JsValue::UNDEFINED),
            },
            _ => wait(f64::NAN, &JsValue::UNDEFINED),
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
                part(one.operation as u8, &one.path, &one.data, one.flags);
            }
            return node_command(key, id, target, deadline, operation, path, data, *flags);
        }
        match self.arguments.changes(request.arguments) {
            Ok((known, changed, joined)) => {
                arguments_command(key, id, target, deadline, operation, known, changed, &joined);
            }
            Err(arguments) => {
                arguments.iter().for_each(|one| argument(one));
                arguments_command(key, id, target, deadline, operation, &JsValue::UNDEFINED, 0, "");
            }
        }
    }

    fn with_name(&mut self, name: &'static str, make: impl FnOnce(&JsValue)) {
        self.names.update(name.as_ptr().addr(), |known| {
            if known.is_undefined() {
                *known = JsValue::from_str(name);
            }
            make(known);
        });
    }

    fn told(&mut self, key: f64, event: &Event) {
        let name = event.name();
        match event {
            Event::Queued { ahead } => queued(key, ahead.map_or(f64::NAN, f64::from)),
            Event::Acquired { grant } => acquired(
                key,
                &grant.attempt.to_string(),
                grant.fence.map(|fence| fence.0),
                millis(grant.valid_until),
            ),
            Event::Extended { valid_until } | Event::Resumed { valid_until } => {
                self.with_name(name, |name| valid(key, name, millis(*valid_until)))
            }
            Event::MixedLayouts { node } => mixed_layouts(key, node),
            Event::Found { contenders } => {
                for one in contenders {
                    contender(
                        &one.node,
                        one.holds,
                        one.shared,
                        one.session.0,
                        since(one.since),
                        one.fence.0,
                        &one.identifier,
                    );
                }
                found(key);
            }
            Event::Lost { reason, cause } => ended(
                key,
                name,
                reason.code(),
                reason.name(),
                &reason.to_string(),
                named(cause.command),
                cause.detail.as_deref(),
            ),
            Event::Refused { reason, cause } => ended(
                key,
                name,
                reason.code(),
                reason.name(),
                &reason.to_string(),
                named(cause.command),
                cause.detail.as_deref(),
            ),
            _ => self.with_name(name, |name| plain(key, name)),
        }
    }
}

/// A date of a server, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "JavaScript's dates are like that")]
const fn since(millis: i64) -> f64 {
    millis as f64
}

fn named(command: Option<CommandId>) -> f64 {
    command.map_or(f64::NAN, |id| number(id.0))
}
