//! Form tokens.

use fencepost::{
    Error,
    web::{issue_token, token_field},
};
use http::{HeaderValue, Method};

use super::shop::{Answer, Shop, ask, request};

/// A request with a form.
fn form(body: String) -> axum::extract::Request {
    let mut form = request(body);
    let kind = HeaderValue::from_static("Application/x-www-form-urlencoded; charset=utf-8");
    form.headers_mut().insert("content-type", kind);
    form.headers_mut().remove("idempotency-key");
    form
}

#[tokio::test]
async fn a_form_that_is_sent_twice_runs_once() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().tokens(true).build()?);
    let token = issue_token(&shop.operations, "shop-7").await?;
    assert_eq!(token.len(), 32);
    assert_eq!(
        token_field(&token),
        format!(r#"<input type="hidden" name="idempotency-token" value="{token}">"#)
    );
    let send = async |body: String| ask(&app, form(body)).await;
    let body = format!("cents=170&idempotency-token={token}");
    let first = send(body.clone()).await;
    assert_eq!(
        (first.status, first.body.as_str(), first.is_replayed()),
        (201, "1", false)
    );
    let retry = send(body.clone()).await;
    assert_eq!((retry.body.as_str(), retry.is_replayed()), ("1", true));
    assert!(send(body + "&more=1").await.is_problem(422, "mismatch"));
    let unknown = format!("idempotency-token={}", "A".repeat(32));
    assert!(send(unknown).await.is_problem(422, "unknown-token"));
    assert!(
        send("idempotency-token=a.b".into())
            .await
            .is_problem(422, "unknown-token")
    );
    assert!(send("cents=170".into()).await.is_problem(400, "key-missing"));

    let other = issue_token(&shop.operations, "shop-8").await?;
    assert_ne!(other, token);
    assert!(
        send(format!("idempotency-token={other}"))
            .await
            .is_problem(422, "mismatch")
    );
    assert_eq!(issue_token(&shop.operations, "").await.unwrap_err().code(), 110);
    assert_eq!(shop.runs(), 1);
    shop.client.close().await
}

#[tokio::test]
async fn a_script_asks_for_its_token() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let app = shop.counting(shop.builder().tokens(true).token_path("/tokens").build()?);
    let at_path = |method: Method| {
        let mut asked = request("");
        *asked.uri_mut() = "/tokens?form=1".parse().unwrap();
        *asked.method_mut() = method;
        asked
    };
    assert_eq!(ask(&app, at_path(Method::GET)).await.status, 404);
    let Answer {
        status,
        body,
        headers,
    } = ask(&app, at_path(Method::POST)).await;
    assert_eq!(
        (status, &headers["cache-control"]),
        (201, &HeaderValue::from_static("no-store"))
    );
    let token = body
        .strip_prefix(r#"{"token":""#)
        .unwrap()
        .strip_suffix(r#""}"#)
        .unwrap();
    for is_replayed in [false, true] {
        // The layer ignores the key.
        let mut asked = request("");
        asked
            .headers_mut()
            .insert("idempotency-token", token.parse().unwrap());
        asked
            .headers_mut()
            .insert("idempotency-key", usize::from(is_replayed).into());
        assert_eq!(ask(&app, asked).await.is_replayed(), is_replayed);
    }
    assert_eq!(shop.runs(), 1);
    shop.client.close().await
}
