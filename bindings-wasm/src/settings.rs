//! Settings, read by `js/settings.ts`: what crosses is one list of texts, because settings are made rarely and come in many kinds.

use alloc::{string::String, vec::Vec};

use fencepost_core::{RawSettings, Settings as Checked, zookeeper::RawZooKeeper};
use wasm_bindgen::prelude::*;

use crate::error;

/// The checked settings of one lock.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) Checked);

#[wasm_bindgen]
impl Settings {
    /// Checks settings: the kind, then by turns the name of a setting and its value. Durations are whole microseconds.
    ///
    /// # Errors
    /// A `ConfigError` that names the key.
    #[wasm_bindgen(constructor)]
    pub fn new(fields: Vec<String>) -> Result<Self, JsValue> {
        Checked::try_from(read(fields))
            .map(Self)
            .map_err(|why| error::config(&why).into())
    }
}

/// Takes in what fits: `js/settings.ts` has looked at names and types.
fn read(fields: Vec<String>) -> RawSettings {
    let mut fields = fields.into_iter();
    let kind = fields.next().unwrap_or_default();
    let mut raw = RawZooKeeper::default();
    let (mut ttl, mut margin, mut renew, mut poll) = (None, None, None, None);
    while let (Some(key), Some(value)) = (fields.next(), fields.next()) {
        let number = || value.parse().ok();
        match key.as_str() {
            "prefix" => raw.prefix = value,
            "layout" => raw.layout = Some(value),
            "nodePrefix" => raw.node_prefix = Some(value),
            "identifier" => raw.identifier = Some(value),
            "revocable" => raw.revocable = Some(value == "true"),
            "permits" => raw.permits = number(),
            "answerWithin" => raw.answer_within = number(),
            "maxHold" => raw.max_hold = number(),
            "ttl" => ttl = number(),
            "margin" => margin = number(),
            "renew" => renew = Some(value == "true"),
            "poll" => poll = number(),
            _ => raw.name = value,
        }
    }
    let zookeeper = match kind.as_str() {
        "zookeeper-mutex" => RawSettings::ZookeeperMutex,
        "zookeeper-reader" => RawSettings::ZookeeperReader,
        "zookeeper-writer" => RawSettings::ZookeeperWriter,
        "zookeeper-election" => RawSettings::ZookeeperElection,
        "zookeeper-semaphore" => RawSettings::ZookeeperSemaphore,
        _ => {
            return RawSettings::RedisString {
                name: raw.name,
                ttl,
                margin,
                renew,
                poll,
                answer_within: raw.answer_within,
                max_hold: raw.max_hold,
            };
        }
    };
    zookeeper(raw)
}
