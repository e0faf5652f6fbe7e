//! The recorder: a case is told as a story (this command is answered so, then that happens), and written down with everything the hub
//! says to it.

use serde_json::{Value, json};

use super::{
    format::{Header, Input, Reply, Step},
    player::Player,
};

/// A story being recorded.
#[derive(Debug)]
pub struct Recorder {
    player: Player,
    now: u64,
    lines: Vec<String>,
    /// Commands without an outcome, oldest first: id and operation.
    open: Vec<(u64, String)>,
    /// All commands: id and line.
    commands: Vec<(u64, Value)>,
    keys: u64,
    session: i64,
}

impl Recorder {
    /// Begins a story.
    ///
    /// # Panics
    /// For an unknown family.
    #[must_use]
    pub fn new(family: &str, why: &str, source: Option<&str>) -> Self {
        let header = Header {
            family: family.into(),
            seed: 7,
            why: why.into(),
            source: source.map(String::from),
        };
        let player = Player::new(&header).expect("a known family");
        let lines = vec![serde_json::to_string(&header).expect("serialisable")];
        Self {
            player,
            now: 1_000_000,
            lines,
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

    /// Lets time pass, and tells the hub.
    pub fn timeout_after(&mut self, micros: u64) -> &mut Self {
        self.now += micros;
        self.put(Input::Timeout, None)
    }

    /// Opens a machine with these settings; gives its key.
    pub fn open(&mut self, settings: &Value) -> u64 {
        self.keys += 1;
        let owner = format!("{:032x}", u128::from(self.keys) << 96 | 0xfeed);
        self.put(
            Input::Open {
                settings: settings.clone(),
                owner,
                seed: self.keys,
            },
            None,
        );
        self.keys
    }

    /// Puts an input in that is no misuse.
    pub fn input(&mut self, input: Input) -> &mut Self {
        self.put(input, None)
    }

    /// Puts an input in that is a misuse.
    pub fn misuse(&mut self, input: Input, name: &str) -> &mut Self {
        self.put(input, Some(name))
    }

    /// ZooKeeper: a session is there. Its number is given to all answers from now on.
    pub fn connected(&mut self, session: i64) -> &mut Self {
        self.session = session;
        self.session_is("connected")
    }

    /// ZooKeeper: the session's state has changed.
    pub fn session_is(&mut self, state: &str) -> &mut Self {
        let session = self.session.to_string();
        self.put(
            Input::Session {
                state: state.into(),
                session,
                timeout: 9_000_000,
            },
            None,
        )
    }

    /// Answers the oldest open command of that operation.
    pub fn answer(&mut self, operation: &str, reply: Reply) -> &mut Self {
        let id = self.take(operation);
        self.put(Input::Reply { id, reply }, None)
    }

    /// Answers the oldest open command of that operation in a shape that does not fit.
    pub fn answer_wrongly(&mut self, operation: &str, reply: Reply) -> &mut Self {
        let id = self.take(operation);
        self.put(Input::Reply { id, reply }, Some("wrong-reply"))
    }

    /// Answers a command by its id, also a second time.
    pub fn answer_id(&mut self, id: u64, reply: Reply) -> &mut Self {
        self.open.retain(|(open, _)| *open != id);
        self.put(Input::Reply { id, reply }, None)
    }

    /// The oldest open command of that operation comes to nothing.
    pub fn fail(&mut self, operation: &str, failure: &str) -> &mut Self {
        let id = self.take(operation);
        self.put(
            Input::Fail {
                id,
                failure: failure.into(),
            },
            None,
        )
    }

    /// All open commands come to nothing.
    pub fn fail_all(&mut self, failure: &str) -> &mut Self {
        for (id, _) in core::mem::take(&mut self.open) {
            self.put(
                Input::Fail {
                    id,
                    failure: failure.into(),
                },
                None,
            );
        }
        self
    }

    /// ZooKeeper: the watch that was set last on a path has something to say.
    pub fn watch(&mut self, path: &str, event: &str) -> &mut Self {
        let id = self.last(|command| command["command"] == "get" && command["path"] == path);
        let session = self.session.to_string();
        self.put(
            Input::Watch {
                id,
                session,
                event: event.into(),
            },
            None,
        )
    }

    /// ZooKeeper: answers every open sync and every open watch-setting `get` as a healthy server would.
    pub fn answer_routine(&mut self) -> &mut Self {
        loop {
            let routine = |operation: &str| operation == "sync" || operation == "get";
            let Some((id, operation)) = self
                .open
                .iter()
                .find(|(_, operation)| routine(operation))
                .cloned()
            else {
                return self;
            };
            let session = self.session.to_string();
            let reply = if operation == "sync" {
                Reply::Done { session }
            } else {
                self.node(self.session, 0)
            };
            self.answer_id(id, reply);
        }
    }

    /// ZooKeeper: the answer "created", the path that of the oldest open numbered create with this number.
    pub fn created(&mut self, number: i32, czxid: i64) -> &mut Self {
        let id = self.oldest(|command| command["command"] == "create" && command["flags"] == 1);
        let path = self.path_of(id) + &format!("{number:010}");
        let session = self.session.to_string();
        self.answer_id(
            id,
            Reply::Created {
                session,
                path,
                czxid: czxid.to_string(),
            },
        )
    }

    /// ZooKeeper: the answer "these are the children".
    pub fn children(&mut self, names: &[&str]) -> &mut Self {
        let names = names.iter().map(|name| String::from(*name)).collect();
        let session = self.session.to_string();
        self.answer("children", Reply::Children { session, names })
    }

    /// ZooKeeper: the answer "here is the node", of the present session.
    pub fn present(&mut self, operation: &str, czxid: i64) -> &mut Self {
        let reply = self.node(self.session, czxid);
        self.answer(operation, reply)
    }

    /// ZooKeeper: the answer "here is the node", of another session.
    pub fn present_of(&mut self, operation: &str, owner: i64, czxid: i64) -> &mut Self {
        let reply = self.node(owner, czxid);
        self.answer(operation, reply)
    }

    /// ZooKeeper: the answer "done".
    pub fn done(&mut self, operation: &str) -> &mut Self {
        let session = self.session.to_string();
        self.answer(operation, Reply::Done { session })
    }

    /// ZooKeeper: an error.
    pub fn error(&mut self, operation: &str, code: i32) -> &mut Self {
        let session = self.session.to_string();
        self.answer(operation, Reply::Error { session, code })
    }

    /// Redis: a script's answer.
    #[expect(clippy::needless_pass_by_value, reason = "the cases read better so")]
    pub fn value(&mut self, value: Value) -> &mut Self {
        self.answer("call", Reply::Value { value: json!(value) })
    }

    /// Redis: an error.
    pub fn redis_error(&mut self, operation: &str, error: &str) -> &mut Self {
        self.answer(operation, Reply::RedisError { error: error.into() })
    }

    /// Redis: the subscription is confirmed.
    pub fn subscribed(&mut self) -> &mut Self {
        self.answer("subscribe", Reply::Value { value: json!(1) })
    }

    fn node(&self, owner: i64, czxid: i64) -> Reply {
        Reply::Data {
            session: self.session.to_string(),
            data: String::new(),
            czxid: czxid.to_string(),
            owner: owner.to_string(),
            version: 0,
        }
    }

    /// The id of the last command that was asked for with this operation.
    #[must_use]
    pub fn last_id(&self, operation: &str) -> u64 {
        self.last(|command| command["command"] == operation)
    }

    /// How many machines are left.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.player.pending()
    }

    fn last(&self, wanted: impl Fn(&Value) -> bool) -> u64 {
        let found = self.commands.iter().rev().find(|(_, command)| wanted(command));
        found.expect("the story names a command that was given").0
    }

    fn oldest(&self, wanted: impl Fn(&Value) -> bool) -> u64 {
        let open = |id: u64| self.open.iter().any(|(known, _)| *known == id);
        let found = self
            .commands
            .iter()
            .find(|(id, command)| open(*id) && wanted(command));
        found.expect("the story names a command that is open").0
    }

    fn path_of(&self, id: u64) -> String {
        let found = self.commands.iter().find(|(known, _)| *known == id);
        found
            .and_then(|(_, command)| command["path"].as_str())
            .unwrap_or_default()
            .into()
    }

    fn take(&mut self, operation: &str) -> u64 {
        let at = self.open.iter().position(|(_, open)| open == operation);
        let at = at.unwrap_or_else(|| panic!("no {operation} is open in\n{}", self.text()));
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
        let said = self
            .player
            .put(&step)
            .unwrap_or_else(|error| panic!("{error} in\n{}", self.text()));
        for line in said {
            let value: Value = serde_json::from_str(&line).expect("JSON");
            if let (Some(operation), Some(id)) = (value["command"].as_str(), value["id"].as_u64()) {
                // A lost or refused event names a command, too: only commands have a target.
                if value["target"].is_string() {
                    self.open.push((id, operation.into()));
                    self.commands.push((id, value.clone()));
                }
            }
            self.lines.push(line);
        }
        self
    }
}
