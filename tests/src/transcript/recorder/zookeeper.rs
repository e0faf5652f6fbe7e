//! The answers and notices of a ZooKeeper server and its client library.

use fencepost_core::zookeeper::Stat;

use super::{Input, Recorder, Reply};

/// The session timeout in all stories, in microseconds.
const TIMEOUT: u64 = 9_000_000;

impl Recorder {
    /// The driver has made a session. All later answers have its number.
    pub fn connected(&mut self, session: i64) -> &mut Self {
        self.session = session;
        self.session_is("connecting").session_is("connected")
    }

    /// The driver passes a session of which it did not see the start.
    pub fn given(&mut self, session: i64) -> &mut Self {
        self.session = session;
        self.session_is("connected")
    }

    /// The session's state has changed.
    pub fn session_is(&mut self, state: &str) -> &mut Self {
        let session = self.session.to_string();
        self.input(Input::Session {
            state: state.into(),
            session,
            timeout: TIMEOUT,
        })
    }

    /// The connection is lost, and with it the answers to all commands in flight.
    pub fn disconnected(&mut self) -> &mut Self {
        self.session_is("suspended").fail_all("unknown")
    }

    /// An event of the watch that was set last on a path.
    pub fn watch(&mut self, path: &str, event: &str) -> &mut Self {
        let id = self.watch_on(path);
        self.watch_id(id, event)
    }

    /// The command that has set the last watch on a path.
    #[must_use]
    pub fn watch_on(&self, path: &str) -> u64 {
        let watches =
            |command: &serde_json::Value| command["flags"].as_u64().is_some_and(|flags| flags & 4 != 0);
        self.last(|command| watches(command) && command["path"] == path)
    }

    /// An event of the watch that a command has set.
    pub fn watch_id(&mut self, id: u64, event: &str) -> &mut Self {
        let session = self.session.to_string();
        let event = event.into();
        self.input(Input::Watch { id, session, event })
    }

    /// Answers every open sync, check and `get` as a healthy server would.
    pub fn answer_routine(&mut self) -> &mut Self {
        let routine = |operation: &str| ["sync", "check", "get"].contains(&operation);
        while let Some((id, operation)) = self.open.iter().find(|(_, open)| routine(open)).cloned() {
            let reply = match operation.as_str() {
                "sync" => self.reply_done(),
                "check" => self.reply_children(&[]),
                _ => self.reply_node(self.session, 0),
            };
            self.answer_id(id, reply);
        }
        self
    }

    /// Answers a second probe that is a check, and the confirming probe that follows at once.
    #[track_caller]
    pub fn confirmed(&mut self) -> &mut Self {
        self.checked().returns(&["sync"]).done("sync")
    }

    /// A quorum has acknowledged the oldest open check.
    #[track_caller]
    pub fn checked(&mut self) -> &mut Self {
        let reply = self.reply_children(&[]);
        self.answer("check", reply)
    }

    /// The answer "created" to the oldest open numbered create, at its path with this number.
    pub fn created(&mut self, number: i32, czxid: i64) -> &mut Self {
        let id = self.oldest(|command| command["command"] == "create" && command["flags"] == 1);
        let path = self.path_of(id) + &format!("{number:010}");
        self.created_at(&path, czxid)
    }

    /// The answer "created" to the oldest open numbered create, at a path of the story's choice.
    pub fn created_at(&mut self, path: &str, czxid: i64) -> &mut Self {
        let id = self.oldest(|command| command["command"] == "create" && command["flags"] == 1);
        let reply = self.reply_created(path, czxid);
        self.answer_id(id, reply)
    }

    /// The answer "created" to the oldest open create of a directory.
    pub fn created_parent(&mut self) -> &mut Self {
        let id = self.parent();
        let reply = self.reply_created(&self.path_of(id), 20);
        self.answer_id(id, reply)
    }

    /// An error for the oldest open create of a directory.
    pub fn parent_error(&mut self, code: i32) -> &mut Self {
        let id = self.parent();
        let session = self.session.to_string();
        self.answer_id(id, Reply::Error { session, code })
    }

    fn parent(&self) -> u64 {
        self.oldest(|command| command["command"] == "create" && command["flags"] != 1)
    }

    /// The answer "these are the children".
    #[track_caller]
    pub fn children(&mut self, names: &[&str]) -> &mut Self {
        let reply = self.reply_children(names);
        self.answer("children", reply)
    }

    /// The answer "here is the node", owned by the current session.
    #[track_caller]
    pub fn present(&mut self, czxid: i64) -> &mut Self {
        self.present_of(self.session, czxid)
    }

    /// The answer "here is the node", owned by another session.
    pub fn present_of(&mut self, owner: i64, czxid: i64) -> &mut Self {
        let reply = self.reply_node(owner, czxid);
        self.answer("get", reply)
    }

    /// The answer "done".
    #[track_caller]
    pub fn done(&mut self, operation: &str) -> &mut Self {
        let reply = self.reply_done();
        self.answer(operation, reply)
    }

    /// An error.
    #[track_caller]
    pub fn error(&mut self, operation: &str, code: i32) -> &mut Self {
        let reply = self.reply_error(code);
        self.answer(operation, reply)
    }

    /// An error, as data.
    #[must_use]
    pub fn reply_error(&self, code: i32) -> Reply {
        let session = self.session.to_string();
        Reply::Error { session, code }
    }

    /// A reply that a node was created, as data.
    #[must_use]
    pub fn reply_created(&self, path: &str, czxid: i64) -> Reply {
        Reply::Created {
            session: self.session.to_string(),
            path: path.into(),
            czxid: czxid.to_string(),
        }
    }

    /// A reply with names of children, as data.
    #[must_use]
    pub fn reply_children(&self, names: &[&str]) -> Reply {
        Reply::Children {
            session: self.session.to_string(),
            names: names.iter().map(|name| String::from(*name)).collect(),
        }
    }

    /// The reply "done", as data.
    #[must_use]
    pub fn reply_done(&self) -> Reply {
        let session = self.session.to_string();
        Reply::Done { session }
    }

    /// A reply with a node, as data.
    #[must_use]
    pub fn reply_node(&self, owner: i64, czxid: i64) -> Reply {
        self.reply_data("", owner, czxid)
    }

    /// A reply with a node and its data.
    #[must_use]
    pub fn reply_data(&self, data: &str, owner: i64, czxid: i64) -> Reply {
        let stat = Stat {
            czxid,
            mzxid: czxid,
            ephemeral_owner: owner,
            version: 0,
            created: 0,
            modified: 0,
        };
        self.reply_stat(data, &stat)
    }

    /// The same with all properties of the node.
    #[must_use]
    pub fn reply_stat(&self, data: &str, stat: &Stat) -> Reply {
        Reply::data(self.session.to_string(), data.into(), stat)
    }
}
