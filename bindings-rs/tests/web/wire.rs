//! Responses as hyper sends them: wrong lengths, and responses to HEAD.

use std::{convert::Infallible, net::SocketAddr};

use axum::{Router, body::Body, response::Response, routing::any};
use fencepost::{Error, RecordState};
use futures_util::stream;
use http::Method;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::shop::{KEY, Shop, router, soon};

async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Returns the lines of the response up to the empty one, in lower case, and its body, which may be incomplete.
async fn exchange(address: SocketAddr, method: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} /payments HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-tenant: shop-7\r\nidempotency-key: {KEY}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut all = String::new();
    soon(stream.read_to_string(&mut all)).await.unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    (head.to_lowercase(), body.to_owned())
}

/// A response with this body. Its size may be known in advance.
fn announcing(length: usize, body: &'static str, is_sized: bool) -> Response {
    let body = if is_sized {
        Body::from(body)
    } else {
        Body::from_stream(stream::iter([Ok::<_, Infallible>(body)]))
    };
    Response::builder()
        .header("content-length", length)
        .body(body)
        .unwrap()
}

/// The client gets no end, so it retries, and the retry runs.
#[tokio::test]
async fn a_body_that_ends_early_is_not_stored() -> Result<(), Error> {
    for is_sized in [false, true] {
        // With this limit, the layer passes a body of 300 bytes on piece by piece.
        for length in [6, 300] {
            let shop = Shop::open().await?;
            let layer = shop.builder().max_result(200).build()?;
            let address = serve(router(
                any(async move || announcing(length, "abc", is_sized)),
                layer,
            ))
            .await;
            for run in 0..2 {
                let (head, body) = exchange(address, "POST").await;
                // hyper may end the connection before it has written the head.
                assert!(
                    head.is_empty() || head.contains(&format!("content-length: {length}\r\n")),
                    "{run}: {head}"
                );
                assert!(
                    !head.contains("replayed") && body.len() < length,
                    "{run}: {head} {body}"
                );
                assert_ne!(shop.record().await.state, RecordState::Done);
            }
            shop.client.close().await?;
        }
    }
    Ok(())
}

/// The first client gets the announced bytes, and a retry does not get another body.
#[tokio::test]
async fn a_body_that_is_longer_than_announced_is_not_stored() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().build()?;
    let address = serve(router(any(async || announcing(2, "abc", false)), layer)).await;
    let (head, body) = exchange(address, "POST").await;
    assert!(head.contains("idempotency-stored: false"), "{head}");
    assert_eq!(body, "ab");
    let (head, body) = exchange(address, "POST").await;
    assert!(head.contains("idempotent-replayed: true"), "{head}");
    assert!(head.contains("idempotency-stored: false"), "{head}");
    assert_eq!(body, "");
    shop.client.close().await
}

/// The length of a response to HEAD is that of the response to GET. It is not stored, so a replay has no length.
#[tokio::test]
async fn a_replay_to_head_announces_no_other_length() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().methods([Method::HEAD]).build()?;
    let address = serve(router(any(async || announcing(100, "", true)), layer)).await;
    let (head, _) = exchange(address, "HEAD").await;
    assert!(head.contains("content-length: 100"), "{head}");
    let (head, body) = exchange(address, "HEAD").await;
    assert!(head.contains("idempotent-replayed: true"), "{head}");
    assert!(!head.contains("content-length"), "{head}");
    assert_eq!(body, "");
    shop.client.close().await
}
