//! A handler behind the layer runs in the span of the request.

use std::sync::{Arc, Mutex};

use axum::routing::any;
use fencepost::Error;
use tracing::{Instrument as _, Span, info_span, subscriber::set_default};
use tracing_subscriber::Registry;

use super::shop::{Shop, ask, request, router};

fn name() -> Option<&'static str> {
    Span::current().metadata().map(tracing::Metadata::name)
}

#[tokio::test]
async fn a_handler_runs_in_the_span_of_its_request() -> Result<(), Error> {
    let _guard = set_default(Registry::default());
    let shop = Shop::open().await?;
    let names = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&names);
    let handler = any(async move || {
        seen.lock().unwrap().push(name());
        tokio::task::yield_now().await;
        seen.lock().unwrap().push(name());
    });
    let app = router(handler, shop.builder().build()?);
    ask(&app, request("")).instrument(info_span!("request")).await;
    assert_eq!(*names.lock().unwrap(), [Some("request"); 2]);
    assert_eq!(name(), None);
    shop.client.close().await
}
