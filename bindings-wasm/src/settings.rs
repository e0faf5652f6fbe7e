//! Settings, read by `js/settings.ts`: durations in milliseconds.

use alloc::string::String;

use fencepost_core::{ConfigError, RawSettings, Settings as Checked, zookeeper::RawZooKeeper};
use wasm_bindgen::prelude::*;

use crate::{convert::micros, error};

/// The checked settings of one lock.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Settings(pub(crate) Checked);

#[wasm_bindgen]
impl Settings {
    /// Checks settings. What their kind does not have is not given.
    ///
    /// # Errors
    /// A `ConfigError` that names the key.
    #[expect(clippy::too_many_arguments, reason = "what is read is all there is")]
    #[wasm_bindgen(constructor)]
    pub fn new(
        kind: &str,
        name: String,
        prefix: String,
        ttl: Option<f64>,
        margin: Option<f64>,
        renew: Option<bool>,
        poll: Option<f64>,
        answer_within: Option<f64>,
        max_hold: Option<f64>,
    ) -> Result<Self, JsValue> {
        let read = || {
            let answer_within = duration("answerWithin", answer_within)?;
            let max_hold = duration("maxHold", max_hold)?;
            Checked::try_from(if kind == "zookeeper-mutex" {
                RawSettings::ZookeeperMutex(RawZooKeeper {
                    name,
                    prefix,
                    answer_within,
                    max_hold,
                    ..RawZooKeeper::default()
                })
            } else {
                RawSettings::RedisString {
                    name,
                    ttl: duration("ttl", ttl)?,
                    margin: duration("margin", margin)?,
                    renew,
                    poll: duration("poll", poll)?,
                    answer_within,
                    max_hold,
                }
            })
        };
        read().map(Self).map_err(|why| error::config(&why).into())
    }
}

fn duration(name: &str, millis: Option<f64>) -> Result<Option<i64>, ConfigError> {
    millis.map(|millis| micros(name, millis)).transpose()
}
