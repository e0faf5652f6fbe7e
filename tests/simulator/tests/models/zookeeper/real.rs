//! A session on a real server, frame by frame, because no client library reports the order of events and answers.

use std::{
    collections::{BTreeSet, VecDeque},
    io::{ErrorKind, Read as _, Result, Write as _},
    net::TcpStream,
    time::Duration,
};

use fencepost_core::zookeeper::{Answer, CreateMode, Request, Write};
use fencepost_models::zookeeper::{Ask, Event};

use super::jute::{Reader, Writer};

/// An event and its path.
pub(super) type Fired = (Event, String);

pub(super) struct Real {
    stream: TcpStream,
    pub(super) session: i64,
    password: Vec<u8>,
    seen: i64,
    xid: i32,
    fired: VecDeque<Fired>,
    /// The watches that the client must set again.
    data: BTreeSet<String>,
    absence: BTreeSet<String>,
    children: BTreeSet<String>,
}

/// The panic of a request that no server answers in time.
pub(super) struct NoAnswer;

/// The requested timeout. The servers grant a shorter one.
const TIMEOUT_MS: i32 = 60_000;
const NO_NODE: i32 = -101;
const CLOSE: i32 = -11;
const PING: i32 = 11;
const SET_WATCHES: i32 = 101;

impl Real {
    /// A new session.
    pub(super) fn open(address: &str) -> Self {
        Self::open_having_seen(address, 0).unwrap()
    }

    pub(super) fn open_having_seen(address: &str, seen: i64) -> Result<Self> {
        let mut real = Self {
            stream: dial(address),
            session: 0,
            password: vec![0; 16],
            seen,
            xid: 0,
            fired: VecDeque::new(),
            data: BTreeSet::new(),
            absence: BTreeSet::new(),
            children: BTreeSet::new(),
        };
        real.shake_hands()?;
        Ok(real)
    }

    /// Connects the session again, and sets its watches again.
    pub(super) fn reconnect(&mut self, address: &str) -> Result<()> {
        self.stream = dial(address);
        let session = self.session;
        self.shake_hands()?;
        assert_eq!(self.session, session, "the session is over");
        let watches = Writer::default()
            .long(self.seen)
            .texts(self.data.iter())
            .texts(self.absence.iter())
            .texts(self.children.iter());
        self.send(-8, SET_WATCHES, &watches);
        self.reply();
        Ok(())
    }

    fn shake_hands(&mut self) -> Result<()> {
        let hello = Writer::default()
            .int(0)
            .long(self.seen)
            .int(TIMEOUT_MS)
            .long(self.session)
            .bytes(&self.password)
            .bool(false);
        self.stream.write_all(&framed(&hello.0))?;
        let welcome = self.frame()?;
        let mut reader = Reader(&welcome);
        let (_version, _timeout) = (reader.int(), reader.int());
        self.session = reader.long();
        self.password = reader.bytes();
        Ok(())
    }

    /// Breaks the connection; the session continues.
    pub(super) fn hang_up(&mut self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }

    /// Ends the session.
    pub(super) fn close(mut self) {
        self.xid += 1;
        self.send(self.xid, CLOSE, &Writer::default());
        self.reply();
    }

    /// Sends a ping, and returns the events that arrived before its answer.
    pub(super) fn ping(&mut self) -> Vec<Fired> {
        self.send(-2, PING, &Writer::default());
        self.reply();
        self.fired.drain(..).collect()
    }

    /// Waits for the next `count` events.
    pub(super) fn next_events(&mut self, count: usize) -> Vec<Fired> {
        while self.fired.len() < count {
            let frame = self.frame().unwrap();
            assert!(self.is_event(&frame), "an answer to nothing");
        }
        self.fired.drain(..count).collect()
    }

    /// How many events have arrived but were not read.
    pub(super) fn untaken(&self) -> usize {
        self.fired.len()
    }

    pub(super) fn ask(&mut self, ask: &Ask) -> Answer {
        let (operation, body) = encode(ask);
        self.xid += 1;
        self.send(self.xid, operation, &body);
        let (error, body) = self.try_reply().unwrap_or_else(|error| {
            if error.kind() == ErrorKind::WouldBlock {
                eprintln!("{ask:?}: no answer");
                std::panic::panic_any(NoAnswer);
            }
            panic!("{ask:?}: {error}");
        });
        self.note_watch(ask, error);
        if error != 0 {
            return Answer::Error(error);
        }
        let mut reader = Reader(&body);
        match ask {
            Ask::Request(Request::Create { .. }) => Answer::Created {
                path: reader.text(),
                zxid: reader.stat().czxid,
            },
            Ask::Request(Request::Multi { writes }) => reader.written(writes.len()),
            Ask::Request(Request::Children { .. }) => {
                let mut names = reader.texts();
                names.sort();
                Answer::Children(names)
            }
            Ask::Request(Request::Get { .. }) => Answer::Data {
                data: reader.bytes(),
                stat: reader.stat(),
            },
            Ask::Exists { .. } | Ask::Set { .. } => Answer::Data {
                data: Vec::new(),
                stat: reader.stat(),
            },
            _ => Answer::Done,
        }
    }

    fn note_watch(&mut self, ask: &Ask, error: i32) {
        match ask {
            Ask::Request(Request::Get { path, watch: true }) if error == 0 => {
                self.data.insert(path.clone());
            }
            Ask::Exists { path, watch: true } if error == 0 => {
                self.data.insert(path.clone());
            }
            Ask::Exists { path, watch: true } if error == NO_NODE => {
                self.absence.insert(path.clone());
            }
            Ask::Request(Request::Children { path, watch: true }) if error == 0 => {
                self.children.insert(path.clone());
            }
            _ => {}
        }
    }

    fn send(&mut self, xid: i32, operation: i32, body: &Writer) {
        let mut message = Writer::default().int(xid).int(operation).0;
        message.extend(&body.0);
        self.stream.write_all(&framed(&message)).unwrap();
    }

    fn reply(&mut self) -> (i32, Vec<u8>) {
        self.try_reply().unwrap()
    }

    /// The next answer; stores the events that arrive before it.
    fn try_reply(&mut self) -> Result<(i32, Vec<u8>)> {
        loop {
            let frame = self.frame()?;
            if self.is_event(&frame) {
                continue;
            }
            let mut reader = Reader(&frame);
            let (_xid, zxid, error) = (reader.int(), reader.long(), reader.int());
            self.seen = self.seen.max(zxid);
            return Ok((error, reader.0.into()));
        }
    }

    fn is_event(&mut self, frame: &[u8]) -> bool {
        let mut reader = Reader(frame);
        if reader.int() != -1 {
            return false;
        }
        let (_zxid, _error) = (reader.long(), reader.int());
        let (kind, _state, path) = (reader.int(), reader.int(), reader.text());
        let event = match kind {
            1 => Event::Created,
            2 => Event::Deleted,
            3 => Event::Changed,
            4 => Event::Children,
            other => panic!("event {other}"),
        };
        if event != Event::Children {
            self.data.remove(&path);
            self.absence.remove(&path);
        }
        if matches!(event, Event::Children | Event::Deleted) {
            self.children.remove(&path);
        }
        self.fired.push_back((event, path));
        true
    }

    fn frame(&mut self) -> Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame)?;
        Ok(frame)
    }
}

fn dial(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream
}

fn framed(message: &[u8]) -> Vec<u8> {
    Writer::default().bytes(message).0
}

fn encode(ask: &Ask) -> (i32, Writer) {
    const CREATE2: i32 = 15;
    const CREATE_CONTAINER: i32 = 19;
    let node = |path: &str| Writer::default().bytes(path.as_bytes());
    let create = |path: &str, data: &[u8], flags| node(path).bytes(data).open_acl().int(flags);
    match ask {
        Ask::Request(Request::Create { path, data, mode }) => match mode {
            CreateMode::Container => (CREATE_CONTAINER, create(path, data, 4)),
            CreateMode::Ephemeral => (CREATE2, create(path, data, 1)),
            CreateMode::EphemeralSequential => (CREATE2, create(path, data, 3)),
            _ => (CREATE2, create(path, data, 0)),
        },
        Ask::Request(Request::Delete { path }) => (2, node(path).int(-1)),
        Ask::DeleteVersion { path, version } => (2, node(path).int(*version)),
        Ask::Exists { path, watch } => (3, node(path).bool(*watch)),
        Ask::Request(Request::Get { path, watch }) => (4, node(path).bool(*watch)),
        Ask::Set { path, data, version } => (5, node(path).bytes(data).int(version.unwrap_or(-1))),
        Ask::Request(Request::Children { path, watch }) => (8, node(path).bool(*watch)),
        Ask::Request(Request::Set { path, data }) => (5, node(path).bytes(data).int(-1)),
        Ask::Request(Request::Multi { writes }) => {
            let part = |writer: Writer, write: &Write| {
                let (operation, body) = encode_write(write);
                writer.int(operation).bool(false).int(-1).raw(&body.0)
            };
            let parts = writes.iter().fold(Writer::default(), part);
            (14, parts.int(-1).bool(true).int(-1))
        }
        Ask::Request(Request::Sync { path }) => (9, node(path)),
        other => panic!("{other:?}"),
    }
}

/// A part of a multi.
fn encode_write(write: &Write) -> (i32, Writer) {
    match write.clone() {
        Write::Create { path, data, mode } => encode(&Ask::Request(Request::Create { path, data, mode })),
        Write::Set { path, data, version } => encode(&Ask::Set { path, data, version }),
        Write::Delete { path, version } => {
            let version = version.unwrap_or(-1);
            encode(&Ask::DeleteVersion { path, version })
        }
        Write::Check { path, version } => {
            let node = Writer::default().bytes(path.as_bytes());
            (13, node.int(version.unwrap_or(-1)))
        }
        other => panic!("{other:?}"),
    }
}
