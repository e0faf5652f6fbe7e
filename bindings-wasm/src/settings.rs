//! Settings, read by `js/settings.ts`: what crosses is one list of texts, because settings are made rarely and come in many kinds.

use alloc::{string::String, vec::Vec};
use core::mem;

use fencepost_core::{RawSettings, Settings as Checked, text::whole, zookeeper::RawZooKeeper};
use wasm_bindgen::prelude::*;

use crate::error;

/// The checked settings of one lock.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) Checked);

#[wasm_bindgen]
impl Settings {
    /// Checks settings: names and values by turns. Durations are whole microseconds.
    ///
    /// # Errors
    /// A `ConfigError` that names the key.
    #[wasm_bindgen(constructor)]
    pub fn new(fields: Vec<String>) -> Result<Self, JsValue> {
        Checked::try_from(Fields(fields).read())
            .map(Self)
            .map_err(|why| error::config(&why).into())
    }
}

/// `js/settings.ts` has looked at names and types: what is there is right.
struct Fields(Vec<String>);

impl Fields {
    fn read(mut self) -> RawSettings {
        let kind = self.text("kind").unwrap_or_default();
        let zookeeper = match kind.as_str() {
            "zookeeper-mutex" => RawSettings::ZookeeperMutex,
            "zookeeper-reader" => RawSettings::ZookeeperReader,
            "zookeeper-writer" => RawSettings::ZookeeperWriter,
            "zookeeper-election" => RawSettings::ZookeeperElection,
            "zookeeper-single" => RawSettings::ZookeeperSingle,
            "zookeeper-semaphore" => RawSettings::ZookeeperSemaphore,
            "zookeeper-multi-lock" => RawSettings::ZookeeperMultiLock,
            "zookeeper-inspection" => RawSettings::ZookeeperInspection,
            _ => return self.redis(),
        };
        zookeeper(RawZooKeeper {
            name: self.text("name").unwrap_or_default(),
            names: Some(self.texts("names")).filter(|names| !names.is_empty()),
            prefix: self.text("prefix").unwrap_or_default(),
            layout: self.text("layout"),
            node_prefix: self.text("nodePrefix"),
            identifier: self.text("identifier"),
            revocable: self.flag("revocable"),
            permits: self.number("permits"),
            of: self.text("of"),
            action: self.text("action"),
            node: self.text("node"),
            fence: self.text("fence"),
            answer_within: self.number("answerWithin"),
            max_hold: self.number("maxHold"),
            owner: self.text("owner"),
        })
    }

    fn redis(mut self) -> RawSettings {
        RawSettings::RedisString {
            name: self.text("name").unwrap_or_default(),
            ttl: self.number("ttl"),
            margin: self.number("margin"),
            renew: self.flag("renew"),
            poll: self.number("poll"),
            answer_within: self.number("answerWithin"),
            max_hold: self.number("maxHold"),
            owner: self.text("owner"),
        }
    }

    /// Called often, so that it should be there once.
    #[inline(never)]
    fn text(&mut self, name: &str) -> Option<String> {
        self.0.chunks_exact_mut(2).find_map(|field| match field {
            [key, value] if key == name => {
                key.clear();
                Some(mem::take(value))
            }
            _ => None,
        })
    }

    /// What is there several times.
    fn texts(&mut self, name: &str) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(one) = self.text(name) {
            all.push(one);
        }
        all
    }

    #[inline(never)]
    fn number(&mut self, name: &str) -> Option<i64> {
        whole(&self.text(name)?)
    }

    #[inline(never)]
    fn flag(&mut self, name: &str) -> Option<bool> {
        self.text(name).map(|value| value == "true")
    }
}
