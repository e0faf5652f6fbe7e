//! The server of the scripts, and the records of the table.

use core::time::Duration;

use fencepost_core::{
    AttemptId, Instant,
    claim::{
        Change, Corrupt, Decision, Known, Name, Record, Request, ServerTime, State, Step, Tombstone,
        UpdateId, decide,
        form::{self, FORMAT},
    },
    redis::{
        Reply,
        claim::{self, read_answer},
    },
};
use fencepost_models::redis::{ConnectionId, Server};
use fencepost_simulator::lua::RealLua;

/// How long a tombstone is kept, in ms.
const TOMBSTONE: u64 = 10_000;

/// The ids of updates.
pub(crate) const UPDATES: [&str; 2] = ["sell-1", "sell-2"];

/// The server of the scripts, and the table's results for the same requests.
pub(crate) struct Both<'a> {
    lua: &'a mut RealLua,
    pub(crate) server: Server,
    connection: ConnectionId,
    listener: ConnectionId,
    pub(crate) name: Name,
    /// The time of the server's clock, in microseconds.
    pub(crate) now: u64,
    pub(crate) record: Result<Option<Record>, Corrupt>,
    updates: [Result<Option<Record>, Corrupt>; UPDATES.len()],
    /// The tombstones by attempt, with the last millisecond of each.
    tombstones: Vec<(AttemptId, Tombstone, u64)>,
    pub(crate) log: Vec<String>,
}

impl<'a> Both<'a> {
    pub(crate) fn new(lua: &'a mut RealLua) -> Self {
        let mut server = Server::new();
        let (connection, listener) = (server.connect(), server.connect());
        let mut both = Self {
            lua,
            server,
            connection,
            listener,
            name: Name::new("payments", "order-17").unwrap(),
            now: 1_795_000_000_000_000,
            record: Ok(None),
            updates: [Ok(None), Ok(None)],
            tombstones: Vec::new(),
            log: Vec::new(),
        };
        let channel = both.name.redis_channel();
        let subscribe = [b"SUBSCRIBE".to_vec(), channel.into_bytes()];
        let at = Instant::from_micros(both.now);
        both.server.call(at, both.listener, &subscribe, both.lua);
        both
    }

    fn time(&self) -> ServerTime {
        ServerTime(self.now)
    }

    pub(crate) fn call(&mut self, words: &[&[u8]]) -> Reply {
        let words: Vec<_> = words.iter().map(|word| word.to_vec()).collect();
        let at = Instant::from_micros(self.now);
        self.server.call(at, self.connection, &words, self.lua)
    }

    pub(crate) fn run(&mut self, request: &Request) -> Reply {
        let call = claim::call(&self.name, request, Duration::from_secs(10));
        let keys = call.keys.to_string();
        let text = call.script.text();
        let mut words: Vec<&[u8]> = vec![b"EVAL", text.as_bytes(), keys.as_bytes()];
        words.extend(call.arguments.iter().map(Vec::as_slice));
        self.call(&words)
    }

    /// The record at a key on the server.
    pub(crate) fn stored(&mut self, key: &str) -> Result<Option<Record>, Corrupt> {
        let Reply::Int(left) = self.call(&[b"PTTL", key.as_bytes()]) else {
            panic!("no time to live");
        };
        let kept_until = u64::try_from(left).map_or(0, |left| self.now / 1000 + left);
        match self.call(&[b"HGETALL", key.as_bytes()]) {
            Reply::Array(hash) => read(kept_until, &hash),
            other => panic!("{other:?}"),
        }
    }

    fn tombstone(&self, attempt: AttemptId) -> Option<Tombstone> {
        let live = |(of, _, end): &&(AttemptId, Tombstone, u64)| *of == attempt && self.now / 1000 <= *end;
        self.tombstones.iter().find(live).map(|(_, what, _)| *what)
    }

    /// The decision of the table for a request.
    fn decide(&mut self, request: &Request) -> Decision {
        let tombstone = self.tombstone(request.attempt);
        let update = update_of(request);
        let known = Known {
            record: self.record.clone(),
            tombstone,
            operation: update.map_or(Ok(None), |update| self.updates[update].clone()),
        };
        let decision = decide(known, request, self.time());
        match &decision.record {
            Change::Nothing => {}
            Change::Delete => self.record = Ok(None),
            Change::Put(record) => self.record = Ok(Some((**record).clone())),
        }
        if let (Some(update), Some(record)) = (update, &decision.operation) {
            self.updates[update] = Ok(Some(record.clone()));
        }
        // Every script, except one that makes a new tombstone, extends the existing tombstone.
        if let Some(what) = decision.tombstone.or(tombstone) {
            self.tombstones.retain(|(of, ..)| *of != request.attempt);
            let end = self.now / 1000 + TOMBSTONE;
            self.tombstones.push((request.attempt, what, end));
        }
        decision
    }

    /// Sends a request to both, and compares the answers.
    pub(crate) fn ask(&mut self, request: &Request) {
        if self.record.is_err() {
            // The table does not contain the time at which the record ends.
            self.record = self.stored(&self.name.redis_key());
        }
        self.log.push(format!("{} {request:?}", self.now));
        let ran = self.runs();
        let decision = self.decide(request);
        let reply = self.run(request);
        let answer = read_answer(&reply).unwrap_or_else(|| panic!("{reply:?}"));
        self.log.push(format!("    {answer:?}"));
        assert_eq!(
            answer, decision.answer,
            "S6 may be broken: the script, then the table"
        );
        self.compare(request.attempt);
        let ended = decision.record != Change::Nothing
            && (!self.runs() || matches!(request.step, Step::Leave | Step::Release));
        let hints = self.server.take_messages(self.listener).len();
        assert_eq!(hints, usize::from(ran && ended), "hints");
    }

    fn runs(&self) -> bool {
        let record = self.record.as_ref().ok().and_then(Option::as_ref);
        record.is_some_and(|record| record.state == State::Running && !record.is_past_retention(self.time()))
    }

    fn compare(&mut self, attempt: AttemptId) {
        let now = self.time();
        let counts = |known: &Result<Option<Record>, Corrupt>| {
            let known = known.clone();
            known.map(|record| record.filter(|record| !record.is_past_retention(now)))
        };
        let key = self.name.redis_key();
        assert_eq!(
            self.stored(&key),
            counts(&self.record),
            "S6 may be broken: the record"
        );
        for (at, id) in UPDATES.iter().enumerate() {
            let key = self.name.redis_operation(&UpdateId::new(id).unwrap());
            assert_eq!(self.stored(&key), counts(&self.updates[at]), "{id}");
        }
        let gone = self.name.redis_tombstone(&attempt.text());
        let stored = match self.call(&[b"GET", gone.as_bytes()]) {
            Reply::Bytes(text) if text == b"1" => Some(Tombstone::Released),
            Reply::Bytes(_) => Some(Tombstone::Lost),
            _ => None,
        };
        assert_eq!(stored, self.tombstone(attempt), "the tombstone");
    }

    pub(crate) fn wipe(&mut self) {
        let key = self.name.redis_key();
        self.call(&[b"DEL", key.as_bytes()]);
        self.record = Ok(None);
    }
}

/// The index of an update in [`UPDATES`].
fn update_of(request: &Request) -> Option<usize> {
    match &request.step {
        Step::Update(update) => UPDATES
            .iter()
            .position(|id| UpdateId::new(id).as_ref() == Ok(&update.id)),
        _ => None,
    }
}

/// The record in a hash. Its time to live is compared by `kept`.
fn read(kept_until: u64, hash: &[Reply]) -> Result<Option<Record>, Corrupt> {
    let (pairs, []) = hash.as_chunks::<2>() else {
        panic!("a hash has pairs: {hash:?}");
    };
    if pairs.is_empty() {
        return Ok(None);
    }
    let field = |name: &str| {
        let is_it = |[known, _]: &&[Reply; 2]| *known == Reply::Bytes(name.as_bytes().to_vec());
        match pairs.iter().find(is_it) {
            Some([_, Reply::Bytes(value)]) => Some(value.as_slice()),
            _ => None,
        }
    };
    if field("format") != Some(FORMAT.as_bytes()) {
        return Err(Corrupt);
    }
    let mut record = form::from_fields(|name| field(name).filter(|_| name != "kept"))?;
    record.kept_until = kept_until;
    Ok(Some(record))
}
