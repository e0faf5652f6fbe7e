//! The layer and its service.

use alloc::sync::Arc;
use core::{
    fmt, mem,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::{
    body::{Body, BodyError},
    gate::Entry,
    run::run,
    settings::Settings,
    stored::{FALSE, STORED},
};

/// Runs the covered requests of a service once for each key, and replays their responses. Clones share their settings.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), fencepost::Error> {
/// use fencepost::web::IdempotencyLayer;
/// use http::request::Parts;
///
/// #[derive(Clone)]
/// struct Session { tenant: String } // what the authentication has put into the request
///
/// let client = fencepost::connect("memory:").await?;
/// let tenant = |request: &Parts| Some(request.extensions.get::<Session>()?.tenant.clone());
/// let once = IdempotencyLayer::builder(client.idempotency("payments")?, tenant, b"at least 16 random bytes").build()?;
/// // Router::new().route("/payments", post(pay)).layer(once.clone())
/// # let _ = once; Ok(()) }
/// ```
#[derive(Clone)]
pub struct IdempotencyLayer(Arc<Settings>);

impl IdempotencyLayer {
    pub(super) fn new(settings: Settings) -> Self {
        Self(Arc::new(settings))
    }

    /// Completes when no handler with a claim runs. A handler continues when its client has disconnected, and then no
    /// connection shows that it runs. So wait for this after the server has stopped, and before the runtime ends: if
    /// the runtime ends first, a running handler leaves its claim. [`tokio::time::timeout`] limits the wait.
    pub async fn idle(&self) {
        // The sender lives as long as the layer.
        let _ = self.0.running.subscribe().wait_for(|running| *running == 0).await;
    }
}

impl fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer")
            .field("operations", &self.0.operations)
            .finish_non_exhaustive()
    }
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = IdempotencyService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        let settings = Arc::clone(&self.0);
        IdempotencyService { inner, settings }
    }
}

/// The service that [`IdempotencyLayer`] puts around another service.
#[derive(Clone)]
pub struct IdempotencyService<S> {
    inner: S,
    settings: Arc<Settings>,
}

impl<S: fmt::Debug> fmt::Debug for IdempotencyService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyService")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for IdempotencyService<S>
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    B: http_body::Body + Send + 'static,
    B::Error: Into<BodyError>,
    R: http_body::Body + Send + 'static,
    R::Error: Into<BodyError>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The clone may not be ready, so the clone replaces `self.inner`, and this call uses the ready one.
        let other = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, other);
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            match settings.enter(request.map(Body::new)).await {
                Entry::Pass(request) => Ok(inner.call(request).await?.map(Body::new)),
                Entry::Answer(response) => Ok(response),
                Entry::Unprotected(request) => {
                    let mut response = inner.call(request).await?.map(Body::new);
                    response.headers_mut().insert(STORED, FALSE);
                    Ok(response)
                }
                Entry::Run(claim, request) => run(settings, inner, claim, request).await,
            }
        })
    }
}
