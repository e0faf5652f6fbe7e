//! A [tower](https://docs.rs/tower-service) layer that runs a request once for each `Idempotency-Key`, and replays its
//! response. It needs the feature `tower`.
//!
//! [`IdempotencyLayer`] works with every framework on tower for HTTP: axum and hyper, for example. Its keys and stored
//! responses are those of the [HTTP format], so servers in Python, JavaScript and Rust replay each other.
//!
//! - A handler finds its claim in the request's extensions, as an `Arc<`[`Claim`](crate::Claim)`>`. With axum:
//!   `Extension(claim): Extension<Arc<Claim>>`. It reads `takeovers` and `fence`, and derives keys for its steps at
//!   other services. The layer ends the claim.
//! - A handler with a claim runs in a separate task. If the client disconnects, the handler and the completion
//!   continue. When the server stops, [`IdempotencyLayer::idle`] waits for such handlers.
//! - Task-locals of tokio that were set outside of the layer do not reach such a handler: put them into the request's
//!   extensions. With the feature `tracing`, the handler runs in the span of the request.
//! - A handler that panics leaves its claim. The layer passes the panic on to the server unchanged.
//! - If a body ends before its `Content-Length`, it has failed: its claim is left, and the client gets no end of the
//!   body.
//! - The layer reads the body, and passes it on as a [`Body`] without trailers.
//! - gRPC (tonic) has the status of a call in trailers, which are not stored. The layer responds with 500 to such a
//!   request with a key, and reports the reason: exclude it with [`covers`](IdempotencyLayerBuilder::covers), and use
//!   [`Idempotency::once`](crate::Idempotency::once) in the method.
//!
//! [HTTP format]: https://github.com/fencepost/fencepost/blob/main/docs/reference/http.md

mod answers;
mod body;
mod builder;
mod form;
mod gate;
mod layer;
mod length;
mod run;
mod settings;
mod stored;
mod tokens;

#[cfg(test)]
mod vectors;

pub use answers::End;
pub use body::Body;
pub use builder::IdempotencyLayerBuilder;
pub use form::record_key;
pub use layer::{IdempotencyLayer, IdempotencyService};
pub use tokens::{issue_token, token_field};
