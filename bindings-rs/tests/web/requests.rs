//! The responses to requests.

use axum::routing::any;
use fencepost::{
    Error,
    web::{End, record_key},
};
use futures_util::join;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use std::{sync::Arc, time::Duration};
use tokio::sync::Notify;

use super::shop::{KEY, Shop, ask, claim_of, request, router};

#[tokio::test]
async fn a_retry_gets_the_first_response() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = router(
        any(async |request: axum::extract::Request| {
            let claim = claim_of(&request).unwrap();
            assert!(claim.is_valid() && claim.fence().is_some());
            let answer = format!("{} {}", claim.takeovers(), claim.derive("charge").len());
            (
                [
                    ("location", "/payments/17"),
                    ("set-cookie", "session=1"),
                    ("x-run", "1"),
                ],
                answer,
            )
        }),
        shop.builder().build()?,
    );
    let first = ask(&app, request("17 EUR")).await;
    assert_eq!((first.status, first.body.as_str()), (200, "0 32"));
    assert!(!first.is_replayed() && !first.is_marked());
    let retry = ask(&app, request("17 EUR")).await;
    assert_eq!((retry.status, retry.body.as_str()), (200, "0 32"));
    assert!(retry.is_replayed() && !retry.is_marked());
    assert_eq!(retry.header("location"), Some("/payments/17"));
    assert_eq!(retry.header("content-type"), first.header("content-type"));
    assert_eq!((retry.header("set-cookie"), retry.header("x-run")), (None, None));
    assert!(ask(&app, request("18 EUR")).await.is_problem(422, "mismatch"));
    assert_eq!(shop.record().await.tag, "http-response:1");
    assert_eq!(shop.reports(), [""; 0]);
    shop.client.close().await
}

#[tokio::test]
async fn the_layer_twice_is_the_layer_once() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop
        .counting(shop.builder().build()?)
        .layer(shop.builder().build()?);
    for is_replayed in [false, true] {
        let answer = ask(&app, request("17 EUR")).await;
        assert_eq!((answer.status, answer.body.as_str()), (201, "1"));
        assert_eq!(answer.is_replayed(), is_replayed);
    }
    shop.client.close().await
}

#[tokio::test]
async fn only_what_is_covered_needs_a_key() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().methods([Method::PUT, Method::POST]);
    let layer = layer.covers(|request| !request.headers.contains_key("x-free"));
    let app = shop.counting(layer.build()?);
    for (method, expected) in [
        (Method::GET, 201),
        (Method::PATCH, 201),
        (Method::PUT, 400),
        (Method::POST, 400),
    ] {
        let mut asked = request("");
        *asked.method_mut() = method;
        asked.headers_mut().remove("idempotency-key");
        assert_eq!(ask(&app, asked).await.status, expected);
    }
    let mut free = request("");
    free.headers_mut().insert("x-free", HeaderValue::from_static("1"));
    assert_eq!(ask(&app, free).await.body, "3");

    let app = shop.counting(shop.builder().required(false).build()?);
    let mut keyless = request("");
    keyless.headers_mut().remove("idempotency-key");
    assert_eq!(ask(&app, keyless).await.body, "4");
    let mut malformed = request("");
    malformed
        .headers_mut()
        .append("idempotency-key", HeaderValue::from_static("another"));
    assert!(ask(&app, malformed).await.is_problem(400, "key-malformed"));
    assert_eq!(shop.runs(), 4);
    shop.client.close().await
}

#[tokio::test]
async fn a_request_waits_for_the_running_one() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (started, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (started, gate) = (Arc::clone(&started), Arc::clone(&gate));
        any(async move || {
            started.notify_one();
            gate.notified().await;
            "paid"
        })
    };
    let patient = router(
        handler.clone(),
        shop.builder().wait(Duration::from_secs(60)).build()?,
    );
    let other = router(handler, shop.builder().build()?);
    let meanwhile = async {
        started.notified().await;
        let busy = ask(&other, request("")).await;
        assert!(busy.is_problem(409, "in-progress"));
        let wait: u64 = busy.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait));
        gate.notify_one();
    };
    let (first, second, ()) = join!(ask(&patient, request("")), ask(&patient, request("")), meanwhile);
    assert_ne!(first.is_replayed(), second.is_replayed());
    assert_eq!((first.body, second.body), ("paid".to_owned(), "paid".to_owned()));
    shop.client.close().await
}

#[tokio::test]
async fn a_status_decides_how_a_claim_ends() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().end(StatusCode::IM_A_TEAPOT, End::Release);
    let layer = layer.end(StatusCode::SERVICE_UNAVAILABLE, End::Complete);
    let app = router(
        any(async |request: axum::extract::Request| {
            let run = claim_of(&request).unwrap().takeovers();
            let status = request.headers()["x-status"]
                .to_str()
                .unwrap()
                .parse::<u16>()
                .unwrap();
            (StatusCode::from_u16(status).unwrap(), run.to_string())
        }),
        layer.build()?,
    );
    for (status, retry, is_replayed) in [
        (404, "0", true),
        (418, "0", false),
        (429, "0", false),
        (503, "0", true),
        (500, "1", false),
    ] {
        let asked = || {
            let mut asked = request("");
            let headers = asked.headers_mut();
            headers.insert("x-status", status.into());
            headers.insert("idempotency-key", status.into());
            asked
        };
        let first = ask(&app, asked()).await;
        assert_eq!((first.status, first.body.as_str()), (status, "0"));
        assert!(!first.is_marked());
        let again = ask(&app, asked()).await;
        assert_eq!((again.status, again.body.as_str()), (status, retry));
        assert_eq!(again.is_replayed(), is_replayed, "{status}");
    }
    shop.client.close().await
}

#[tokio::test]
async fn more_headers_can_be_stored() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop
        .builder()
        .stored_headers([HeaderName::from_static("x-order")]);
    let app = router(
        any(async || ([("x-order", "17"), ("x-run", "1")], "")),
        layer.build()?,
    );
    ask(&app, request("")).await;
    let retry = ask(&app, request("")).await;
    assert_eq!(
        (retry.header("x-order"), retry.header("x-run")),
        (Some("17"), None)
    );
    shop.client.close().await
}

#[tokio::test]
async fn a_body_has_a_limit() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().max_body(4).build()?);
    assert!(
        ask(&app, request("12345"))
            .await
            .is_problem(413, "body-too-large")
    );
    let mut announced = request("1");
    announced.headers_mut().insert("content-length", 5.into());
    assert!(ask(&app, announced).await.is_problem(413, "body-too-large"));
    assert_eq!(ask(&app, request("1234")).await.body, "1");

    // An outer layer with a limit.
    let limited = axum::body::Body::new(http_body_util::Limited::new("12345".to_owned(), 4));
    let app = shop.counting(shop.builder().build()?);
    assert!(
        ask(&app, request(limited))
            .await
            .is_problem(413, "body-too-large")
    );
    shop.client.close().await
}

#[tokio::test]
async fn a_record_of_something_else_is_corrupt() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().build()?);
    ask(&app, request("")).await;
    let key = record_key("shop-7", KEY);
    let found = shop.record().await;
    shop.operations.forget(&key, &found).await?;
    let _ = shop
        .operations
        .register(&key, &found.fingerprint, "json", "17")
        .await?;
    assert!(ask(&app, request("")).await.is_problem(500, "corrupt-record"));
    assert_eq!(shop.runs(), 1);
    shop.client.close().await
}

#[tokio::test]
async fn a_request_without_a_tenant_runs_nothing() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().build()?);
    let mut nameless = request("");
    nameless.headers_mut().remove("x-tenant");
    let mut empty = request("");
    empty
        .headers_mut()
        .insert("x-tenant", HeaderValue::from_static(""));
    for asked in [nameless, empty] {
        let answer = ask(&app, asked).await;
        assert_eq!((answer.status, answer.body.as_str()), (500, ""));
    }
    assert_eq!(shop.runs(), 0);
    assert_eq!(shop.reports(), ["a request was refused: invalid-option"; 2]);
    shop.client.close().await
}

/// The status of a gRPC call is in trailers, which a replay does not have.
#[tokio::test]
async fn a_grpc_call_with_a_key_runs_nothing() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().build()?);
    for kind in [
        "application/grpc",
        "Application/gRPC+proto",
        "application/grpc-web-text",
    ] {
        let mut call = request("");
        call.headers_mut()
            .insert("content-type", HeaderValue::from_static(kind));
        let answer = ask(&app, call).await;
        assert_eq!((answer.status, answer.body.as_str()), (500, ""), "{kind}");
    }
    assert_eq!(shop.runs(), 0);
    assert_eq!(shop.reports(), ["a request was refused: invalid-option"; 3]);
    // Calls that the program does not cover pass, and so do calls without a key.
    for builder in [shop.builder().covers(|_| false), shop.builder().required(false)] {
        let mut call = request("");
        call.headers_mut()
            .insert("content-type", HeaderValue::from_static("application/grpc"));
        call.headers_mut().remove("idempotency-key");
        assert_eq!(ask(&shop.counting(builder.build()?), call).await.status, 201);
    }
    shop.client.close().await
}

#[tokio::test]
async fn a_closed_client_is_an_error_of_the_program() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().fail_open(true).build()?);
    shop.client.close().await?;
    assert_eq!(ask(&app, request("")).await.status, 500);
    assert_eq!(shop.reports(), ["a request was refused: client-closed"]);
    assert_eq!(shop.runs(), 0);
    Ok(())
}
