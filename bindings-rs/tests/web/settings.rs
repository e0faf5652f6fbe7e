//! Settings that are not valid.

use std::time::Duration;

use axum::{Router, extract::OriginalUri, routing::any};
use fencepost::{
    Error,
    web::{End, IdempotencyLayer, IdempotencyLayerBuilder},
};
use http::{HeaderName, StatusCode};

use super::shop::{SECRET, Shop, ask, request, tenant};

#[tokio::test]
async fn a_wrong_setting_is_named() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let error = |builder: IdempotencyLayerBuilder| {
        let error = builder.build().unwrap_err();
        (error.code(), error.to_string())
    };
    let invalid = |text: &str| (110, text.to_owned());
    let short = IdempotencyLayer::builder(shop.operations.clone(), tenant, &SECRET[1..]);
    assert_eq!(
        error(short),
        invalid("the length of the secret is \"15 bytes\": give at least 16 random bytes")
    );
    assert_eq!(
        error(shop.builder().older_secrets([SECRET, "short"])),
        invalid("the length of the secret is \"5 bytes\": give at least 16 random bytes")
    );
    assert_eq!(
        error(shop.builder().max_result(1_000_001)),
        invalid("max_result is \"1000001\": give 0 to 1000000 bytes")
    );
    for status in [StatusCode::CONTINUE, StatusCode::from_u16(600).unwrap()] {
        let text = format!("the status of an end is \"{}\": give 200 to 599", status.as_u16());
        assert_eq!(error(shop.builder().end(status, End::Leave)), invalid(&text));
    }
    assert_eq!(
        error(
            shop.builder()
                .stored_headers([HeaderName::from_static("set-cookie")])
        ),
        invalid("a name in stored_headers is \"set-cookie\": this header cannot be stored: remove it")
    );
    assert_eq!(
        error(shop.builder().tokens(true).token_path("tokens")),
        invalid("token_path is \"tokens\": give a path that begins with a slash")
    );
    assert_eq!(
        error(shop.builder().token_path("/tokens")),
        invalid("token_path is \"/tokens\": add tokens(true), too")
    );
    assert_eq!(error(shop.builder().wait(Duration::ZERO)).0, 103);
    assert_eq!(error(shop.builder().wait(Duration::MAX)).0, 105);
    shop.client.close().await
}

#[test]
fn a_layer_needs_a_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shop = runtime.block_on(Shop::open()).unwrap();
    assert_eq!(shop.builder().build().unwrap_err().name(), "no-runtime");
}

/// axum passes only the rest of the path to a nested router.
#[tokio::test]
async fn the_route_is_the_whole_path() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let original = |request: &http::request::Parts| Some(request.extensions.get::<OriginalUri>()?.0.clone());
    let (outer, inner) = (shop.builder(), shop.builder().original_uri(original));
    let nested = |router| Router::new().nest("/shop", router);
    let routes = || Router::new().route("/payments", any(async || "paid"));
    let (outer, inner) = (
        nested(routes()).layer(outer.build()?),
        nested(routes().layer(inner.build()?)),
    );
    let asked = || {
        let mut asked = request("");
        *asked.uri_mut() = "/shop/payments".parse().unwrap();
        asked
    };
    assert!(!ask(&outer, asked()).await.is_replayed());
    assert!(ask(&inner, asked()).await.is_replayed());
    let naive = nested(routes().layer(shop.builder().build()?));
    assert!(ask(&naive, asked()).await.is_problem(422, "mismatch"));
    shop.client.close().await
}
