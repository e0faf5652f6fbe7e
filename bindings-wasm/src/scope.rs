//! The scope of idempotent operations, which makes the settings of each request. `js/hub/scope.ts` describes
//! each method.
//!
//! A method that fails returns `None`: then `js/errors.ts` has the error. JavaScript has checked that
//! versions and guards are whole numbers.

use alloc::{string::String, vec::Vec};

use fencepost_core::{ConfigError, claim::Content, options};
use wasm_bindgen::prelude::*;

use crate::{
    convert,
    error::{self, Kept},
    family::{Chosen, Family as _},
    settings::{Settings, read},
};

#[wasm_bindgen(raw_module = "../records.js")]
extern "C" {
    fn derived(key: &str);
}

/// The checked settings of all operations of a scope.
#[wasm_bindgen]
#[derive(Debug)]
pub(crate) struct Scope(options::Scope);

#[wasm_bindgen]
impl Scope {
    /// Checks settings. `fields` are as for a lock.
    ///
    /// # Errors
    /// A `ConfigError` that names the option.
    #[wasm_bindgen(constructor)]
    pub fn new(fields: Vec<String>) -> Result<Self, JsValue> {
        Chosen::scope(read(fields))
            .map(Self)
            .map_err(|why| error::config(&why).into())
    }

    pub fn claim(&self, key: &str, fingerprint: &[u8]) -> Option<Settings> {
        made(self.0.claim(key, fingerprint))
    }

    pub fn consume(&self, token: &str, binding: &[u8], fingerprint: &[u8]) -> Option<Settings> {
        made(self.0.consume(token, binding, fingerprint))
    }

    pub fn issue(&self, token: &str, binding: &[u8], life: Option<f64>) -> Option<Settings> {
        let life = life.map(|millis| convert::duration("life", millis, ""));
        let life = life.transpose().ok()?;
        made(self.0.issue(token, binding, life))
    }

    pub fn register(
        &self,
        key: &str,
        binding: Option<Vec<u8>>,
        fingerprint: &[u8],
        tag: &str,
        result: Vec<u8>,
    ) -> Option<Settings> {
        let content = content(tag, result).ok()?;
        made(self.0.register(key, binding.as_deref(), fingerprint, content))
    }

    pub fn update(
        &self,
        key: &str,
        operation: &str,
        version: f64,
        fingerprint: &[u8],
        tag: &str,
        result: Vec<u8>,
    ) -> Option<Settings> {
        let content = content(tag, result).ok()?;
        let version = convert::whole(version)?;
        made(self.0.update(key, operation, version, fingerprint, content))
    }

    pub fn look(&self, key: &str) -> Option<Settings> {
        made(self.0.look(key))
    }

    pub fn settle(&self, key: &str, guard: f64, tag: &str, result: Vec<u8>) -> Option<Settings> {
        let content = content(tag, result).ok()?;
        let guard = convert::whole(guard)?;
        made(self.0.settle(key, guard, content))
    }

    pub fn forget(&self, key: &str, guard: f64) -> Option<Settings> {
        let guard = convert::whole(guard)?;
        made(self.0.forget(key, guard))
    }

    pub fn sweep(&self) -> Option<Settings> {
        made(self.0.sweep())
    }

    /// Stores the key in `js/hub/records.ts`.
    pub fn derive(&self, key: &str, step: &str) -> bool {
        let key = self.0.derive(key, step);
        key.map(|key| derived(&key))
            .map_err(|why| error::config(&why))
            .is_ok()
    }
}

/// A result with its tag.
fn content(tag: &str, result: Vec<u8>) -> Result<Content, Kept> {
    Content::new(tag, result).map_err(|why| error::config(&why))
}

fn made(settings: Result<fencepost_core::Settings, ConfigError>) -> Option<Settings> {
    settings.map(Settings).map_err(|why| error::config(&why)).ok()
}
