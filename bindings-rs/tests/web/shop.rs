//! An axum application behind the layer, and its requests.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    response::Response,
    routing::{MethodRouter, any},
};
use fencepost::{
    Claim, Client, Error, Idempotency, Record,
    web::{self, IdempotencyLayer, IdempotencyLayerBuilder},
};
use http::{HeaderMap, request::Parts};
use http_body_util::BodyExt as _;
use tower_service::Service as _;

pub(crate) const SECRET: &str = "a secret of 16 b";
pub(crate) const KEY: &str = "order-17";

/// Fails instead of hanging.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, future)
        .await
        .expect("it takes too long")
}

/// The tenant of a request.
pub(crate) fn tenant(request: &Parts) -> Option<String> {
    Some(request.headers.get("x-tenant")?.to_str().ok()?.to_owned())
}

/// A client, its operations, and the reports of the layer.
pub(crate) struct Shop {
    pub(crate) client: Client,
    pub(crate) operations: Idempotency,
    pub(crate) reports: Arc<Mutex<Vec<String>>>,
    /// The number of runs of the handler.
    pub(crate) runs: Arc<AtomicUsize>,
}

impl Shop {
    pub(crate) async fn open() -> Result<Self, Error> {
        let client = fencepost::connect("memory:").await?;
        Ok(Self {
            operations: client.idempotency("payments")?,
            client,
            reports: Arc::default(),
            runs: Arc::default(),
        })
    }

    pub(crate) fn builder(&self) -> IdempotencyLayerBuilder {
        let reports = Arc::clone(&self.reports);
        IdempotencyLayer::builder(self.operations.clone(), tenant, SECRET).on_failure(move |what, error| {
            reports.lock().unwrap().push(format!("{what}: {}", error.name()));
        })
    }

    /// A router whose handler counts its runs, and responds with their number.
    pub(crate) fn counting(&self, layer: IdempotencyLayer) -> Router {
        let runs = Arc::clone(&self.runs);
        router(
            any(async move || {
                (
                    http::StatusCode::CREATED,
                    (runs.fetch_add(1, SeqCst) + 1).to_string(),
                )
            }),
            layer,
        )
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(SeqCst)
    }

    pub(crate) fn reports(&self) -> Vec<String> {
        self.reports.lock().unwrap().clone()
    }

    /// The record of the key.
    pub(crate) async fn record(&self) -> Record {
        let key = web::record_key("shop-7", KEY);
        self.operations.look(&key).await.unwrap().unwrap()
    }
}

pub(crate) fn router(handler: MethodRouter, layer: IdempotencyLayer) -> Router {
    Router::new().route("/payments", handler).layer(layer)
}

/// A request with the key.
pub(crate) fn request(body: impl Into<Body>) -> Request {
    Request::post("/payments")
        .header("x-tenant", "shop-7")
        .header("idempotency-key", KEY)
        .body(body.into())
        .unwrap()
}

/// A response with its complete body.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) headers: HeaderMap,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self {
            status: parts.status.as_u16(),
            body: String::from_utf8(body.into()).unwrap(),
            headers: parts.headers,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    pub(crate) fn is_marked(&self) -> bool {
        self.header("idempotency-stored") == Some("false")
    }

    /// Whether the response is this problem.
    pub(crate) fn is_problem(&self, status: u16, name: &str) -> bool {
        let kind = format!(r#"{{"type":"urn:fencepost:http:{name}","#);
        self.status == status && self.body.starts_with(&kind)
    }
}

pub(crate) async fn ask(router: &Router, request: Request) -> Answer {
    soon(async { Answer::of(router.clone().call(request).await.unwrap()).await }).await
}

/// The claim of a request.
pub(crate) fn claim_of(request: &Request) -> Option<Arc<Claim>> {
    request.extensions().get().cloned()
}
