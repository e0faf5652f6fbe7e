//! The server behind `memory:`.

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use fencepost_models::memory::Server;
use wasm_bindgen::prelude::*;

/// A server inside the process: hubs made on one exclude each other.
#[wasm_bindgen]
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryServer(pub(crate) Rc<RefCell<Server>>);

#[wasm_bindgen]
impl MemoryServer {
    /// An empty server.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The hubs that have something to poll, by their ids.
    #[wasm_bindgen(js_name = takeWoken)]
    #[must_use]
    pub fn take_woken(&self) -> Vec<f64> {
        let woken = self.0.borrow_mut().take_woken();
        woken.into_iter().map(crate::convert::number).collect()
    }
}
