//! The settings that a program chooses for a layer, and their checks.

use core::time::Duration;

use fencepost_core::{AcquireTimeout, positive};
use http::{HeaderName, Method, StatusCode, Uri, request::Parts};
use tokio::{runtime::Handle, sync::watch};

use super::{
    answers::End,
    form::{Fingerprints, route_of},
    layer::IdempotencyLayer,
    settings::{Of, OnFailure, Settings},
    stored::{NEVER_STORED, STORED_HEADERS},
};
use crate::{ConfigError, Error, Idempotency, hub::settings::micros};

const SHORTEST_SECRET: usize = 16;
const LONGEST_RESULT: usize = 1_000_000;

impl IdempotencyLayer {
    /// Begins the settings of a layer.
    ///
    /// - `scope` returns the tenant or session to which a request's key belongs. Use authenticated data, because the
    ///   layer replays a response before the handler's own checks. If it returns `None` or an empty text, the handler
    ///   does not run, and the response is 500.
    /// - `secret` is the key of the fingerprints, 16 bytes at least. Servers that replay each other's responses must
    ///   have the same secret. The layer also accepts [`older_secrets`](IdempotencyLayerBuilder::older_secrets).
    pub fn builder<T: Into<Option<String>>>(
        operations: Idempotency,
        scope: impl Fn(&Parts) -> T + Send + Sync + 'static,
        secret: impl AsRef<[u8]>,
    ) -> IdempotencyLayerBuilder {
        IdempotencyLayerBuilder::new(operations, scope, secret.as_ref())
    }
}

/// The settings of an [`IdempotencyLayer`]. [`IdempotencyLayer::builder`] makes it.
#[must_use = "build() makes the layer"]
pub struct IdempotencyLayerBuilder {
    operations: Idempotency,
    scope: Of<Option<String>>,
    secret: Vec<u8>,
    older_secrets: Vec<Vec<u8>>,
    methods: Vec<Method>,
    covers: Of<bool>,
    original_uri: Of<Option<Uri>>,
    is_required: bool,
    wait: Option<Duration>,
    max_body: usize,
    max_result: usize,
    ends: Vec<(StatusCode, End)>,
    stored_headers: Vec<HeaderName>,
    fails_open: bool,
    has_tokens: bool,
    token_path: Option<String>,
    on_failure: OnFailure,
}

impl IdempotencyLayerBuilder {
    fn new<T: Into<Option<String>>>(
        operations: Idempotency,
        scope: impl Fn(&Parts) -> T + Send + Sync + 'static,
        secret: &[u8],
    ) -> Self {
        Self {
            operations,
            scope: Box::new(move |request| scope(request).into()),
            secret: secret.into(),
            older_secrets: Vec::new(),
            methods: vec![Method::POST, Method::PATCH],
            covers: Box::new(|_request| true),
            original_uri: Box::new(|_request| None),
            is_required: true,
            wait: None,
            max_body: 1 << 20,
            max_result: 1 << 18,
            ends: Vec::new(),
            stored_headers: STORED_HEADERS.into(),
            fails_open: false,
            has_tokens: false,
            token_path: None,
            on_failure: Box::new(trace),
        }
    }

    /// Secrets from before a change. The layer still accepts them, so it also finds records that were made with one of
    /// them. Default: none.
    pub fn older_secrets(self, secrets: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let secrets = secrets.into_iter().map(|secret| secret.as_ref().into());
        let older_secrets = secrets.collect();
        Self {
            older_secrets,
            ..self
        }
    }

    /// The methods that are covered; other requests pass through. Default: `POST` and `PATCH`.
    pub fn methods(self, methods: impl IntoIterator<Item = Method>) -> Self {
        let methods = methods.into_iter().collect();
        Self { methods, ..self }
    }

    /// Whether a request is covered, in addition to its method. Default: every request.
    pub fn covers(self, covers: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        let covers = Box::new(covers);
        Self { covers, ..self }
    }

    /// The original URI of a request, if a router has changed it. A nested router removes the outer part of the path
    /// from the URI. axum stores the whole URI in an extension:
    /// `|request| request.extensions.get::<OriginalUri>().map(|uri| uri.0.clone())`. Default: the request's own.
    pub fn original_uri(self, uri: impl Fn(&Parts) -> Option<Uri> + Send + Sync + 'static) -> Self {
        let original_uri = Box::new(uri);
        Self { original_uri, ..self }
    }

    /// Whether a covered request without a key is refused; otherwise it passes through. Default: yes.
    pub fn required(self, required: bool) -> Self {
        let is_required = required;
        Self { is_required, ..self }
    }

    /// How long a request waits for another one with the same key. Default: it does not wait.
    pub fn wait(self, wait: Duration) -> Self {
        let wait = Some(wait);
        Self { wait, ..self }
    }

    /// The largest request body, in bytes. Default: 1 MiB.
    pub fn max_body(self, max_body: usize) -> Self {
        Self { max_body, ..self }
    }

    /// The largest result that the layer stores, in bytes of the stored form. The maximum is 1,000,000. Default: 256
    /// KiB.
    pub fn max_result(self, max_result: usize) -> Self {
        Self { max_result, ..self }
    }

    /// Sets how a response with this status ends the claim. [http.md] has the defaults.
    ///
    /// [http.md]: https://github.com/fencepost/fencepost/blob/main/docs/reference/http.md#what-a-status-means
    pub fn end(mut self, status: StatusCode, end: End) -> Self {
        self.ends.push((status, end));
        self
    }

    /// Names of response headers that the layer stores in addition to the usual ones.
    pub fn stored_headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.stored_headers.extend(names);
        self
    }

    /// Whether the handler runs without protection if the store is unavailable. Default: no.
    pub fn fail_open(self, fail_open: bool) -> Self {
        let fails_open = fail_open;
        Self { fails_open, ..self }
    }

    /// Whether form tokens are accepted. Default: no.
    pub fn tokens(self, tokens: bool) -> Self {
        let has_tokens = tokens;
        Self { has_tokens, ..self }
    }

    /// The path at which a `POST` issues a form token. Default: none.
    pub fn token_path(self, path: impl Into<String>) -> Self {
        let token_path = Some(path.into());
        Self { token_path, ..self }
    }

    /// Sets a function for errors that the client of a request does not get, or not in full. The function may log them,
    /// for example. Its arguments are the effect of the error on the request, and the error. Default: with the feature
    /// `tracing` a warning, otherwise nothing.
    pub fn on_failure(self, on_failure: impl Fn(&str, &Error) + Send + Sync + 'static) -> Self {
        let on_failure = Box::new(on_failure);
        Self { on_failure, ..self }
    }

    /// Makes the layer.
    ///
    /// # Errors
    /// [`Error::Config`] for a setting that is not valid; [`Error::NoRuntime`] outside of a tokio runtime.
    pub fn build(self) -> Result<IdempotencyLayer, Error> {
        let runtime = Handle::try_current().map_err(|_none| Error::NoRuntime)?;
        self.check()?;
        let fingerprints = made_with(&self.secret)?;
        let older = self.older_secrets.iter().map(|secret| made_with(secret));
        let older_fingerprints = older.collect::<Result<_, _>>()?;
        let wait = match self.wait {
            Some(wait) => AcquireTimeout::For(positive(
                "wait",
                micros(wait),
                ", or leave it out: a request then does not wait for others",
            )?),
            None => AcquireTimeout::Try,
        };
        Ok(IdempotencyLayer::new(Settings {
            operations: self.operations,
            scope: self.scope,
            fingerprints,
            older_fingerprints,
            methods: self.methods,
            covers: self.covers,
            original_uri: self.original_uri,
            is_required: self.is_required,
            wait,
            max_body: self.max_body,
            max_result: self.max_result,
            ends: self.ends,
            stored_headers: self.stored_headers,
            fails_open: self.fails_open,
            has_tokens: self.has_tokens,
            token_path: self.token_path.as_deref().map(route_of),
            on_failure: self.on_failure,
            running: watch::Sender::new(0),
            runtime,
        }))
    }

    fn check(&self) -> Result<(), ConfigError> {
        if self.max_result > LONGEST_RESULT {
            let why = "give 0 to 1000000 bytes";
            return Err(invalid("max_result", self.max_result.to_string(), why));
        }
        let is_final = |status: &StatusCode| (200..600).contains(&status.as_u16());
        if let Some((status, _)) = self.ends.iter().find(|(status, _)| !is_final(status)) {
            return Err(invalid(
                "the status of an end",
                status.as_u16().to_string(),
                "give 200 to 599",
            ));
        }
        let is_never_stored = |name: &&HeaderName| NEVER_STORED.contains(&name.as_str());
        if let Some(name) = self.stored_headers.iter().find(is_never_stored) {
            let why = "this header cannot be stored: remove it";
            return Err(invalid("a name in stored_headers", name.to_string(), why));
        }
        match &self.token_path {
            Some(path) if !path.starts_with('/') => Err(invalid(
                "token_path",
                path.clone(),
                "give a path that begins with a slash",
            )),
            Some(path) if !self.has_tokens => {
                Err(invalid("token_path", path.clone(), "add tokens(true), too"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "tracing")]
fn trace(what: &str, error: &Error) {
    tracing::warn!(%error, "{what}");
}

#[cfg(not(feature = "tracing"))]
const fn trace(_what: &str, _error: &Error) {}

fn made_with(secret: &[u8]) -> Result<Fingerprints, ConfigError> {
    let is_long = secret.len() >= SHORTEST_SECRET;
    let made = is_long.then(|| Fingerprints::new(secret)).flatten();
    made.ok_or_else(|| {
        // The error must not contain the secret itself.
        let value = format!("{} bytes", secret.len());
        invalid("the length of the secret", value, "give at least 16 random bytes")
    })
}

const fn invalid(option: &'static str, value: String, why: &'static str) -> ConfigError {
    ConfigError::InvalidOption { option, value, why }
}
