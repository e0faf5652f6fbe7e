//! The checked settings of a layer.

use fencepost_core::AcquireTimeout;
use http::{HeaderName, Method, StatusCode, Uri, request::Parts};
use tokio::{runtime::Handle, sync::watch};

use super::{answers::End, form::Fingerprints};
use crate::{Error, Idempotency};

/// A function of the request.
pub(super) type Of<T> = Box<dyn Fn(&Parts) -> T + Send + Sync>;
pub(super) type OnFailure = Box<dyn Fn(&str, &Error) + Send + Sync>;

/// The checked settings of a layer, and the shared state of its services.
pub(super) struct Settings {
    pub(super) operations: Idempotency,
    pub(super) scope: Of<Option<String>>,
    pub(super) fingerprints: Fingerprints,
    pub(super) older_fingerprints: Vec<Fingerprints>,
    pub(super) methods: Vec<Method>,
    pub(super) covers: Of<bool>,
    pub(super) original_uri: Of<Option<Uri>>,
    pub(super) is_required: bool,
    pub(super) wait: AcquireTimeout,
    pub(super) max_body: usize,
    pub(super) max_result: usize,
    pub(super) ends: Vec<(StatusCode, End)>,
    pub(super) stored_headers: Vec<HeaderName>,
    pub(super) fails_open: bool,
    pub(super) has_tokens: bool,
    pub(super) token_path: Option<Vec<u8>>,
    pub(super) on_failure: OnFailure,
    /// The number of running handlers with a claim.
    pub(super) running: watch::Sender<usize>,
    pub(super) runtime: Handle,
}

impl Settings {
    /// How a response with this status ends the claim.
    pub(super) fn end_of(&self, status: StatusCode) -> End {
        End::of(status, &self.ends)
    }

    /// Reports an error that the client does not get, or not in full.
    pub(super) fn report(&self, what: &str, error: &Error) {
        (self.on_failure)(what, error);
    }

    /// The runtime of the caller; or the runtime of the layer, if another executor polls the caller.
    pub(super) fn runtime(&self) -> Handle {
        Handle::try_current().unwrap_or_else(|_none| self.runtime.clone())
    }
}
