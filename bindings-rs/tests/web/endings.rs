//! The ends of handlers and of their claims.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use axum::{extract::Request, routing::any};
use fencepost::{Error, RecordState, web::record_key};
use futures_util::{FutureExt as _, select};
use tokio::sync::Notify;
use tower_service::Service as _;

use super::shop::{KEY, Shop, ask, claim_of, request, router, soon};

#[tokio::test]
async fn a_handler_survives_its_client() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().build()?;
    let (started, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (started, gate) = (Arc::clone(&started), Arc::clone(&gate));
        any(async move || {
            started.notify_one();
            gate.notified().await;
            "paid"
        })
    };
    let app = router(handler, layer.clone());
    soon(layer.idle()).await;
    let mut other = app.clone();
    let mut asked = other.call(request("")).fuse();
    select! {
        _ = asked => panic!("the handler has not waited"),
        () = started.notified().fuse() => {}
    }
    drop(asked);
    assert!(layer.idle().now_or_never().is_none());
    gate.notify_one();
    soon(layer.idle()).await;
    let retry = ask(&app, request("")).await;
    assert_eq!((retry.body.as_str(), retry.is_replayed()), ("paid", true));
    shop.client.close().await
}

/// The server gets the panic, as without the layer.
#[tokio::test]
async fn a_handler_that_panics_leaves_its_claim() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().build()?;
    // The test keeps the claims, so that their drops do not leave them.
    let claims = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&claims);
    let app = router(
        any(async move |request: Request| {
            let claim = claim_of(&request).unwrap();
            kept.lock().unwrap().push(Arc::clone(&claim));
            let takeovers = claim.takeovers();
            assert!(takeovers > 0, "the first run fails");
            takeovers.to_string()
        }),
        layer.clone(),
    );
    let panic = AssertUnwindSafe(ask(&app, request("")))
        .catch_unwind()
        .await
        .unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"the first run fails"));
    assert_eq!(ask(&app, request("")).await.body, "1");
    assert_eq!(claims.lock().unwrap().len(), 2);
    soon(layer.idle()).await;
    assert_eq!(shop.reports(), [""; 0]);
    shop.client.close().await
}

/// If the handler has ended its claim, the layer cannot store the response, and reports no error.
#[tokio::test]
async fn a_handler_may_end_its_claim_itself() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = router(
        any(async |request: Request| {
            claim_of(&request).unwrap().release().await.unwrap();
            "not yet"
        }),
        shop.builder().build()?,
    );
    for _ in 0..2 {
        let answer = ask(&app, request("")).await;
        assert_eq!((answer.body.as_str(), answer.is_marked()), ("not yet", true));
        assert!(!answer.is_replayed());
    }
    assert_eq!(shop.reports(), [""; 0]);
    shop.client.close().await
}

#[tokio::test]
async fn the_result_that_was_first_counts() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (operations, runs) = (shop.operations.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&runs);
    let app = router(
        any(async move || {
            // An operator settles the operation while it runs.
            let key = record_key("shop-7", KEY);
            let seen = operations.look(&key).await.unwrap().unwrap();
            assert_eq!(seen.state, RecordState::Running);
            let result = *b"202\nlocation: /settled\n\nsettled";
            let _ = operations
                .settle(&key, &seen, "http-response:1", result)
                .await
                .unwrap();
            counted.fetch_add(1, SeqCst);
            "paid"
        }),
        shop.builder().build()?,
    );
    for _ in 0..2 {
        let answer = ask(&app, request("")).await;
        assert_eq!(
            (answer.status, answer.body.as_str(), answer.is_replayed()),
            (202, "settled", true)
        );
        assert_eq!(answer.header("location"), Some("/settled"));
    }
    assert_eq!(runs.load(SeqCst), 1);
    shop.client.close().await
}
