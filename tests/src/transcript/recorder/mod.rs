//! The recorder. A case is a story: inputs of a hub, such as answers to commands, in their order. The
//! recorder records them with all outputs of the hub. With [`Recorder::returns`], the story checks the
//! important outputs.

mod redis;
mod zookeeper;

use serde_json::Value;

use super::{
    format::{Header, Input, Reply, Step},
    player::Player,
};

/// The most timeouts that a case lets pass until the hub waits for a certain reason.
const MOST_TIMEOUTS: usize = 1000;

/// A case that is being recorded.
#[derive(Debug)]
pub struct Recorder {
    player: Player,
    now: u64,
    lines: Vec<String>,
    /// The outputs of the hub for the last input.
    outputs: Vec<Value>,
    /// Commands without an outcome, oldest first: id and operation.
    open: Vec<(u64, String)>,
    /// All commands: id and line.
    commands: Vec<(u64, Value)>,
    keys: u64,
    session: i64,
}

impl Recorder {
    /// Begins a case.
    ///
    /// # Panics
    /// For an unknown family. All methods panic if the case does not fit the outputs of the hub.
    #[must_use]
    pub fn new(family: &str, why: &str, source: Option<&str>) -> Self {
        Self::begun(&Header {
            family: family.into(),
            seed: 7,
            why: why.into(),
            source: source.map(String::from),
            guards: Vec::new(),
        })
    }

    /// Begins the case of a header.
    pub(crate) fn begun(header: &Header) -> Self {
        let player = Player::new(header).expect("a known family");
        let lines = vec![serde_json::to_string(header).expect("serialisable")];
        Self {
            player,
            now: 1_000_000,
            lines,
            outputs: Vec::new(),
            open: Vec::new(),
            commands: Vec::new(),
            keys: 0,
            session: 1,
        }
    }

    /// The transcript.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Lets time pass: microseconds.
    pub fn after(&mut self, micros: u64) -> &mut Self {
        self.now += micros;
        self
    }

    /// Lets time pass, and reports the timeout to the hub.
    pub fn timeout_after(&mut self, micros: u64) -> &mut Self {
        self.now += micros;
        self.input(Input::Timeout)
    }

    /// Lets time pass until the timeout for which the hub waits.
    pub fn timeout(&mut self) -> &mut Self {
        let until = self.outputs.last().and_then(|wait| wait["wait"].as_u64());
        self.now = until
            .unwrap_or_else(|| panic!("the hub waits for no time in\n{}", self.text()))
            .max(self.now);
        self.input(Input::Timeout)
    }

    /// The name of the timer for which the hub waits, if there is one.
    fn reason(&self) -> Option<&str> {
        self.outputs.last().expect("an input was passed")["reason"].as_str()
    }

    /// Lets time pass until the hub waits for this reason, and then until that timeout. Until then the server
    /// answers like a healthy one.
    pub fn timeout_of(&mut self, reason: &str) -> &mut Self {
        // A faulty hub may never wait for it.
        for _ in 0..MOST_TIMEOUTS {
            if self.reason() == Some(reason) {
                return self.timeout();
            }
            self.timeout().answer_routine();
        }
        panic!("after {MOST_TIMEOUTS} timeouts the hub does not wait for {reason:?}");
    }

    /// Opens a machine with these settings; returns its key.
    pub fn open(&mut self, settings: &Value) -> u64 {
        self.keys += 1;
        let contender = format!("{:032x}", u128::from(self.keys) << 96 | 0xfeed);
        self.input(Input::Open {
            settings: settings.clone(),
            contender,
            seed: self.keys,
        });
        self.keys
    }

    /// Acquires, without a timeout.
    pub fn acquire(&mut self, key: u64) -> &mut Self {
        self.input(Input::Acquire {
            key,
            acquire_timeout: None,
        })
    }

    /// Acquires, with a timeout in microseconds.
    pub fn acquire_within(&mut self, key: u64, micros: u64) -> &mut Self {
        let acquire_timeout = Some(micros);
        self.input(Input::Acquire { key, acquire_timeout })
    }

    /// Acquires without waiting for the lock.
    pub fn try_acquire(&mut self, key: u64) -> &mut Self {
        self.input(Input::Try { key })
    }

    /// Extends the grant.
    pub fn extend(&mut self, key: u64) -> &mut Self {
        self.input(Input::Extend { key })
    }

    /// Releases the grant.
    pub fn release(&mut self, key: u64) -> &mut Self {
        self.input(Input::Release { key })
    }

    /// Downgrades a writer to a reader.
    pub fn downgrade(&mut self, key: u64) -> &mut Self {
        self.input(Input::Downgrade { key })
    }

    /// Completes the claim with this result.
    pub fn complete(&mut self, key: u64, result: &str) -> &mut Self {
        let (tag, result) = ("json".into(), result.into());
        self.input(Input::Complete { key, tag, result })
    }

    /// Leaves the claim.
    pub fn leave(&mut self, key: u64) -> &mut Self {
        self.input(Input::Leave { key })
    }

    /// Cancels the acquire.
    pub fn cancel(&mut self, key: u64) -> &mut Self {
        self.input(Input::Cancel { key })
    }

    /// Closes the machine.
    pub fn close(&mut self, key: u64) -> &mut Self {
        self.input(Input::Close { key })
    }

    /// Closes everything.
    pub fn shutdown(&mut self) -> &mut Self {
        self.input(Input::Shutdown)
    }

    /// Passes an input that is no misuse.
    pub fn input(&mut self, input: Input) -> &mut Self {
        self.put(input, None)
    }

    /// Passes an input that is a misuse.
    pub fn misuse(&mut self, input: Input, name: &str) -> &mut Self {
        self.put(input, Some(name))
    }

    /// Answers the oldest open command of that operation.
    #[track_caller]
    pub fn answer(&mut self, operation: &str, reply: Reply) -> &mut Self {
        let id = self.take(operation);
        self.input(Input::Reply { id, reply })
    }

    /// Answers the oldest open command of that operation with a reply of the wrong shape.
    pub fn answer_wrongly(&mut self, operation: &str, reply: Reply) -> &mut Self {
        let id = self.take(operation);
        self.misuse(Input::Reply { id, reply }, "wrong-reply")
    }

    /// Answers a command by its id, also a second time.
    pub fn answer_id(&mut self, id: u64, reply: Reply) -> &mut Self {
        self.open.retain(|(open, _)| *open != id);
        self.input(Input::Reply { id, reply })
    }

    /// The oldest open command of that operation fails.
    #[track_caller]
    pub fn fail(&mut self, operation: &str, failure: &str) -> &mut Self {
        let id = self.take(operation);
        self.fail_id(id, failure)
    }

    /// A command fails, also for the second time.
    pub fn fail_id(&mut self, id: u64, failure: &str) -> &mut Self {
        self.open.retain(|(open, _)| *open != id);
        let failure = failure.into();
        self.input(Input::Fail { id, failure })
    }

    /// The oldest open command of that operation gets neither an answer nor a failure.
    #[track_caller]
    pub fn silence(&mut self, operation: &str) -> &mut Self {
        self.take(operation);
        self
    }

    /// All open commands fail.
    pub fn fail_all(&mut self, failure: &str) -> &mut Self {
        for (id, _) in core::mem::take(&mut self.open) {
            self.fail_id(id, failure);
        }
        self
    }

    /// Checks the outputs of the hub for the last input, without its wait: operations of commands, names of
    /// events with their reasons.
    #[track_caller]
    pub fn returns(&mut self, expected: &[&str]) -> &mut Self {
        let returned: Vec<String> = self.outputs.iter().filter_map(name_of).collect();
        assert!(
            returned == expected,
            "returned {returned:?}, not {expected:?}, in\n{}",
            self.text()
        );
        self
    }

    /// Whether the hub waits for this timer.
    #[must_use]
    pub fn is_waiting_for(&self, reason: &str) -> bool {
        self.reason() == Some(reason)
    }

    /// Checks the name of the timer for which the hub waits, or that there is none.
    #[track_caller]
    pub fn waits_for(&mut self, reason: Option<&str>) -> &mut Self {
        assert!(self.reason() == reason, "{:?}, not {reason:?}", self.reason());
        self
    }

    /// Checks how many machines the hub still has.
    pub fn leaves(&mut self, machines: usize) -> &mut Self {
        assert!(self.player.pending() == machines, "{}", self.text());
        self
    }

    /// The id of the last command with this operation.
    #[must_use]
    pub fn last_id(&self, operation: &str) -> u64 {
        self.last(|command| command["command"] == operation)
    }

    fn last(&self, wanted: impl Fn(&Value) -> bool) -> u64 {
        let found = self.commands.iter().rev().find(|(_, command)| wanted(command));
        found
            .expect("the case names a command that the hub has returned")
            .0
    }

    fn oldest(&self, wanted: impl Fn(&Value) -> bool) -> u64 {
        let open = |id: u64| self.open.iter().any(|(known, _)| *known == id);
        let found = self
            .commands
            .iter()
            .find(|(id, command)| open(*id) && wanted(command));
        found.expect("the case names a command that is open").0
    }

    fn path_of(&self, id: u64) -> String {
        let found = self.commands.iter().find(|(known, _)| *known == id);
        found
            .and_then(|(_, command)| command["path"].as_str())
            .unwrap_or_default()
            .into()
    }

    #[track_caller]
    fn take(&mut self, operation: &str) -> u64 {
        let at = self.open.iter().position(|(_, open)| open == operation);
        let Some(at) = at else {
            panic!("no {operation} is open in\n{}", self.text())
        };
        self.open.remove(at).0
    }

    fn put(&mut self, input: Input, misuse: Option<&str>) -> &mut Self {
        let step = Step {
            at: self.now,
            input,
            misuse: misuse.map(String::from),
        };
        self.lines
            .push(serde_json::to_string(&step).expect("serialisable"));
        let outputs = self
            .player
            .put(&step)
            .unwrap_or_else(|error| panic!("{error} in\n{}", self.text()));
        self.outputs.clear();
        for line in outputs {
            let value: Value = serde_json::from_str(&line).expect("JSON");
            if let (Some(operation), Some(id)) = (operation_of(&value), value["id"].as_u64()) {
                self.open.push((id, operation.into()));
                self.commands.push((id, value.clone()));
            }
            self.outputs.push(value);
            self.lines.push(line);
        }
        self
    }
}

fn name_of(output: &Value) -> Option<String> {
    let word = |field: &str| output[field].as_str();
    match (word("event"), word("reason")) {
        (Some(event), Some(reason)) => Some(format!("{event} {reason}")),
        (Some(event), None) => Some(event.into()),
        (None, _) => operation_of(output).map(String::from),
    }
}

/// The operation of a command. A multi with only a check counts as a check.
fn operation_of(output: &Value) -> Option<&str> {
    match output["parts"].as_array().map(Vec::as_slice) {
        Some([part]) if part["command"] == "check" => Some("check"),
        _ => output["command"].as_str(),
    }
}
