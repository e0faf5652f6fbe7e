//! Bodies that come in pieces, and bodies that are too large.

use std::{
    io,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, any},
};
use fencepost::{Error, RecordState, web::IdempotencyLayer};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_service::Service as _;

use super::shop::{Answer, Shop, ask, claim_of, request, router, soon};

type Sent = io::Result<Frame<Bytes>>;

/// A handler whose body is sent by a test. Without a test, it responds with its takeovers.
fn handler(status: StatusCode, length: Option<u64>) -> (UnboundedSender<Sent>, MethodRouter) {
    let (sender, frames) = unbounded_channel();
    let frames = Arc::new(Mutex::new(Some(frames)));
    let handler = any(async move |request: Request| -> Response {
        let taken = frames.lock().unwrap().take();
        let Some(frames): Option<UnboundedReceiver<Sent>> = taken else {
            return claim_of(&request)
                .unwrap()
                .takeovers()
                .to_string()
                .into_response();
        };
        let frames = stream::unfold(frames, async |mut frames| Some((frames.recv().await?, frames)));
        // The test can also send a panic.
        let frames = frames.map(|frame| match frame {
            Err(error) if error.kind() == io::ErrorKind::Other => panic!("{error}"),
            frame => frame,
        });
        let mut response = (status, Body::new(StreamBody::new(Box::pin(frames)))).into_response();
        if let Some(length) = length {
            response.headers_mut().insert("content-length", length.into());
        }
        response
    });
    (sender, handler)
}

fn data(text: &'static str) -> Sent {
    Ok(Frame::data(Bytes::from_static(text.as_bytes())))
}

/// A response whose body comes in pieces.
async fn begin(handler: MethodRouter, layer: IdempotencyLayer) -> (axum::Router, Response) {
    let app = router(handler, layer);
    let response = soon(app.clone().call(request(""))).await.unwrap();
    (app, response)
}

async fn next(response: &mut Response) -> Option<Result<String, axum::Error>> {
    let frame = response.body_mut().frame().await?;
    Some(frame.map(|frame| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()))
}

fn is_status_alone(retry: &Answer) -> bool {
    retry.body.is_empty() && retry.is_replayed() && retry.is_marked()
}

#[tokio::test]
async fn the_end_of_a_stream_follows_its_completion() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (sender, handler) = handler(StatusCode::CREATED, None);
    sender.send(data("a")).unwrap();
    let (app, mut response) = begin(handler, shop.builder().build()?).await;
    assert_eq!(response.headers()["idempotency-stored"], "false");
    assert_eq!(next(&mut response).await.unwrap().unwrap(), "a");
    assert_eq!(shop.record().await.state, RecordState::Running);
    sender.send(data("b")).unwrap();
    assert_eq!(next(&mut response).await.unwrap().unwrap(), "b");
    drop(sender);
    assert!(next(&mut response).await.is_none());
    assert_eq!(shop.record().await.result, *b"201 status-only\n\n");
    let retry = ask(&app, request("")).await;
    assert_eq!(retry.status, 201);
    assert!(is_status_alone(&retry));
    shop.client.close().await
}

/// A client that has received all announced bytes does not wait for more.
#[tokio::test]
async fn the_last_byte_that_was_announced_follows_the_completion() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (sender, handler) = handler(StatusCode::OK, Some(4));
    let (app, mut response) = begin(handler, shop.builder().max_result(3).build()?).await;
    assert_eq!(response.headers()["content-length"], "4");
    assert_eq!(response.headers()["idempotency-stored"], "false");
    sender.send(data("abc")).unwrap();
    assert_eq!(next(&mut response).await.unwrap().unwrap(), "abc");
    assert_eq!(shop.record().await.state, RecordState::Running);
    sender.send(data("d")).unwrap();
    assert_eq!(next(&mut response).await.unwrap().unwrap(), "d");
    assert_eq!(shop.record().await.state, RecordState::Done);
    assert!(is_status_alone(&ask(&app, request("")).await));
    shop.client.close().await
}

#[tokio::test]
async fn pieces_of_an_announced_length_are_stored() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (sender, handler) = handler(StatusCode::OK, Some(2));
    for piece in ["a", "b"] {
        sender.send(data(piece)).unwrap();
    }
    drop(sender);
    let (app, response) = begin(handler, shop.builder().build()?).await;
    let first = Answer::of(response).await;
    assert_eq!((first.body.as_str(), first.is_marked()), ("ab", false));
    let retry = ask(&app, request("")).await;
    assert_eq!(
        (retry.body.as_str(), retry.is_replayed(), retry.is_marked()),
        ("ab", true, false)
    );
    shop.client.close().await
}

/// If a handler sends more than it has announced, the rest passes through.
#[tokio::test]
async fn a_wrong_length_exceeds_no_limit() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (sender, handler) = handler(StatusCode::OK, Some(1));
    for piece in ["ab", "cd"] {
        sender.send(data(piece)).unwrap();
    }
    let (app, response) = begin(handler, shop.builder().max_result(3).build()?).await;
    sender.send(data("ef")).unwrap();
    drop(sender);
    assert_eq!(Answer::of(response).await.body, "abcdef");
    assert!(is_status_alone(&ask(&app, request("")).await));
    shop.client.close().await
}

/// The limit applies to the stored form: here `200`, the content type, and the body.
#[tokio::test]
async fn a_large_result_is_not_stored() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let kind = "content-type: text/plain; charset=utf-8\n";
    let most = "200\n\n".len() + kind.len() + 3;
    for (most, is_stored) in [(most, true), (most - 1, false)] {
        let app = router(any(async || "abc"), shop.builder().max_result(most).build()?);
        let asked = || {
            let mut asked = request("");
            asked.headers_mut().insert("idempotency-key", most.into());
            asked
        };
        let first = ask(&app, asked()).await;
        assert_eq!((first.body.as_str(), first.is_marked()), ("abc", !is_stored));
        let retry = ask(&app, asked()).await;
        assert!(if is_stored {
            retry.body == "abc"
        } else {
            is_status_alone(&retry)
        });
    }
    shop.client.close().await
}

#[tokio::test]
async fn a_stream_survives_its_client() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let layer = shop.builder().build()?;
    let (sender, handler) = handler(StatusCode::OK, None);
    sender.send(data("a")).unwrap();
    let (app, mut response) = begin(handler, layer.clone()).await;
    assert_eq!(next(&mut response).await.unwrap().unwrap(), "a");
    drop(response);
    for piece in ["b", "c"] {
        sender.send(data(piece)).unwrap();
    }
    drop(sender);
    soon(layer.idle()).await;
    assert!(is_status_alone(&ask(&app, request("")).await));
    shop.client.close().await
}

#[tokio::test]
async fn a_body_that_fails_leaves_the_claim() -> Result<(), Error> {
    let shop = Shop::open().await?;
    for length in [Some(2), None] {
        for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::Other] {
            let key: HeaderValue = format!("{length:?}-{kind:?}").parse().unwrap();
            let (sender, handler) = handler(StatusCode::OK, length);
            sender.send(data("a")).unwrap();
            sender
                .send(Err(io::Error::new(kind, "the source has failed")))
                .unwrap();
            let app = router(handler, shop.builder().build()?);
            let asked = || {
                let mut asked = request("");
                asked.headers_mut().insert("idempotency-key", key.clone());
                asked
            };
            if length.is_some() && kind == io::ErrorKind::Other {
                // The layer has sent nothing, so the server gets the panic.
                let ended = AssertUnwindSafe(ask(&app, asked())).catch_unwind().await;
                assert!(ended.is_err());
            } else {
                let mut response = app.clone().call(asked()).await.unwrap();
                assert_eq!(next(&mut response).await.unwrap().unwrap(), "a");
                let error = next(&mut response).await.unwrap().unwrap_err().to_string();
                let expected = ["the source has failed", "the handler has panicked"];
                assert_eq!(error, expected[usize::from(kind == io::ErrorKind::Other)]);
                assert!(next(&mut response).await.is_none());
            }
            let retry = ask(&app, asked()).await;
            assert_eq!((retry.body.as_str(), retry.is_replayed()), ("1", false));
        }
    }
    shop.client.close().await
}

#[tokio::test]
async fn trailers_pass_through() -> Result<(), Error> {
    let shop = Shop::open().await?;
    for length in [Some(1), None] {
        let (sender, handler) = handler(StatusCode::OK, length);
        let trailers = HeaderMap::from_iter([("x-sum".parse().unwrap(), "17".parse().unwrap())]);
        sender.send(data("a")).unwrap();
        sender.send(Ok(Frame::trailers(trailers))).unwrap();
        drop(sender);
        let app = router(handler, shop.builder().build()?);
        let mut asked = request("");
        asked
            .headers_mut()
            .insert("idempotency-key", usize::from(length.is_some()).into());
        let mut body = app.clone().call(asked).await.unwrap().into_body();
        body.frame().await.unwrap().unwrap();
        let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
        assert_eq!(trailers["x-sum"], "17");
    }
    shop.client.close().await
}

#[tokio::test]
async fn a_stream_that_frees_its_claim_is_not_marked() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let (sender, handler) = handler(StatusCode::TOO_MANY_REQUESTS, None);
    sender.send(data("a")).unwrap();
    drop(sender);
    let (app, response) = begin(handler, shop.builder().build()?).await;
    assert!(!Answer::of(response).await.is_marked());
    assert_eq!(ask(&app, request("")).await.body, "0");
    shop.client.close().await
}
