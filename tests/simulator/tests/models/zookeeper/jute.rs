//! ZooKeeper's encoding.

use fencepost_core::zookeeper::{Answer, Stat};

#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn int(mut self, number: i32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(super) fn long(mut self, number: i64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    pub(super) fn bool(mut self, yes: bool) -> Self {
        self.0.push(yes.into());
        self
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.int(i32::try_from(bytes.len()).unwrap());
        self.0.extend(bytes);
        self
    }

    pub(super) fn texts<'a>(mut self, texts: impl ExactSizeIterator<Item = &'a String>) -> Self {
        self = self.int(i32::try_from(texts.len()).unwrap());
        texts.fold(self, |writer, text| writer.bytes(text.as_bytes()))
    }

    /// The access list that allows everything to every client.
    pub(super) fn open_acl(self) -> Self {
        self.int(1).int(31).bytes(b"world").bytes(b"anyone")
    }
}

pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("more bytes");
        self.0 = rest;
        *taken
    }

    pub(super) fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take())
    }

    fn bool(&mut self) -> bool {
        self.take::<1>() != [0]
    }

    pub(super) fn long(&mut self) -> i64 {
        i64::from_be_bytes(self.take())
    }

    pub(super) fn bytes(&mut self) -> Vec<u8> {
        let length = usize::try_from(self.int()).unwrap_or(0);
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken.into()
    }

    pub(super) fn text(&mut self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(super) fn texts(&mut self) -> Vec<String> {
        (0..self.int()).map(|_| self.text()).collect()
    }

    pub(super) fn stat(&mut self) -> Stat {
        let czxid = self.long();
        let (mzxid, created, modified) = (self.long(), self.long(), self.long());
        let version = self.int();
        let (_cversion, _aversion) = (self.int(), self.int());
        let ephemeral_owner = self.long();
        let (_length, _children, _pzxid) = (self.int(), self.int(), self.long());
        Stat {
            czxid,
            mzxid,
            ephemeral_owner,
            version,
            created,
            modified,
        }
    }

    /// The answers to the parts of a multi: the names of the created nodes, or the first error that another
    /// part did not cause.
    pub(super) fn written(&mut self, parts: usize) -> Answer {
        const ANOTHER_PART: i32 = -2;
        const DELETE: i32 = 2;
        const SET: i32 = 5;
        const CHECK: i32 = 13;
        let (mut names, mut error) = (Vec::new(), None);
        for _ in 0..parts {
            match (self.int(), self.bool(), self.int()) {
                (-1, ..) => {
                    error = Some(self.int())
                        .filter(|code| ![0, ANOTHER_PART].contains(code))
                        .or(error)
                }
                (DELETE | CHECK, ..) => {}
                (SET, ..) => drop(self.stat()),
                (kind, ..) => {
                    names.extend(self.text().rsplit('/').next().map(String::from));
                    // Servers before 3.8.2 omit the stat (ZOOKEEPER-4026).
                    if kind == 15 {
                        self.stat();
                    }
                }
            }
        }
        error.map_or(Answer::Children(names), Answer::Error)
    }
}
