//! axum.

mod handler;
mod options;

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{OriginalUri, State},
    http::request::Parts,
    response::Response,
    routing::{any, get},
};
use fencepost::{Claim, web::IdempotencyLayer};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tower_http::catch_panic::CatchPanicLayer;

use handler::Effects;
use options::Options;

fn tenant(request: &Parts) -> Option<String> {
    Some(request.headers.get("x-tenant")?.to_str().ok()?.to_owned())
}

async fn run(
    State(effects): State<Effects>,
    OriginalUri(uri): OriginalUri,
    claim: Option<Extension<Arc<Claim>>>,
    body: Bytes,
) -> Response {
    let claim = claim.as_ref().map(|Extension(claim)| &**claim);
    effects
        .handle(uri.query().unwrap_or_default(), &body, claim)
        .await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [port, store, effects, options] = std::env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    let options = Options::parse(&options);
    let client = fencepost::connect(&store).await?;
    let payments = client.idempotency_with(&options.scope(), options.of_client())?;
    let secrets = options.secrets();
    let builder = IdempotencyLayer::builder(payments, tenant, secrets[0]).older_secrets(&secrets[1..]);
    let builder = options.of_layer(builder).tokens(true).token_path("/tokens");
    let once = builder
        .on_failure(|what, error| eprintln!("{what}: {error}"))
        .build()?;
    let app = Router::new()
        .route("/run", any(run))
        .route("/run/{*path}", any(run))
        .layer(once.clone())
        .route("/ready", get(|| async {}))
        .layer(CatchPanicLayer::new())
        .with_state(Effects::connect(&effects).await?);
    let mut terminated = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            terminated.recv().await;
        })
        .await?;
    once.idle().await;
    client.close().await?;
    Ok(())
}
