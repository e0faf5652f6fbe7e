//! A line of the input: its words, and the locks that they describe.

use std::{collections::BTreeMap, time::Duration};

use fencepost::{Client, Layout, Lock, LockOptions};

use crate::peer::Failed;

/// A command's number, verb, words and options.
pub(crate) struct Command {
    pub(crate) number: String,
    pub(crate) verb: String,
    pub(crate) words: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Command {
    /// The command of a line.
    pub(crate) fn parse(line: &str) -> Self {
        let mut all = line.split_whitespace().map(str::to_owned);
        let (number, verb) = (all.next().unwrap_or_default(), all.next().unwrap_or_default());
        let (options, words): (Vec<_>, Vec<_>) = all.partition(|word| word.contains('='));
        let options = options.iter().filter_map(|word| word.split_once('='));
        Self {
            number,
            verb,
            words,
            options: options
                .map(|(option, value)| (option.into(), unquoted(value)))
                .collect(),
        }
    }

    pub(crate) fn word(&self, at: usize) -> Result<&str, Failed> {
        Ok(self.words.get(at).ok_or("a word is missing")?)
    }

    /// A word that is percent-encoded.
    pub(crate) fn text(&self, at: usize) -> Result<String, Failed> {
        self.word(at).map(unquoted)
    }

    /// The options that were given.
    pub(crate) const fn options(&self) -> &BTreeMap<String, String> {
        &self.options
    }

    /// An option; empty if it was not given.
    pub(crate) fn option(&self, option: &str) -> &str {
        self.options.get(option).map_or("", String::as_str)
    }

    /// An option in milliseconds.
    pub(crate) fn millis(&self, option: &str) -> Result<Option<Duration>, Failed> {
        let given = self.options.get(option);
        Ok(given
            .map(|text| text.parse())
            .transpose()?
            .map(Duration::from_millis))
    }

    /// The lock that the command describes.
    pub(crate) fn lock(&self, client: &Client) -> Result<Lock, Failed> {
        let (kind, quoted) = (self.word(2)?, self.word(3)?);
        let (name, options) = (unquoted(quoted), self.lock_options()?);
        Ok(match kind {
            "mutex" => client.lock_with(&name, options)?,
            "reader" => client.read_write_lock_with(&name, options)?.reader().clone(),
            "writer" => client.read_write_lock_with(&name, options)?.writer().clone(),
            "election" => client.election_with(&name, options)?,
            "semaphore" => {
                let permits = self.options.get("permits").ok_or("how many permits?")?;
                client.semaphore_with(&name, permits.parse()?, options)?
            }
            "multi" => client.multi_lock_with(quoted.split(',').map(unquoted), options)?,
            _ => return Err("no such kind".into()),
        })
    }

    fn lock_options(&self) -> Result<LockOptions, Failed> {
        let mut options = LockOptions::new();
        for (option, value) in &self.options {
            let millis = || value.parse().map(Duration::from_millis);
            options = match option.as_str() {
                "ttl" => options.ttl(millis()?),
                "max_hold" => options.max_hold(millis()?),
                "renew" => options.renew(value == "true"),
                "revocable" => options.revocable(value == "true"),
                "fair" => options.fair(value == "true"),
                "owner" => options.owner(value),
                "identifier" => options.identifier(value),
                "layout" => options.layout(match value.as_str() {
                    "curator" => Layout::Curator,
                    "kazoo" => Layout::Kazoo,
                    _ => return Err("no such layout".into()),
                }),
                "permits" => options,
                _ => return Err(format!("no such option: {option}").into()),
            };
        }
        Ok(options)
    }
}

/// The text of a percent-encoded word.
pub(crate) fn unquoted(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &more[2..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
