//! If `main` returns an error, Rust prints it with `Debug`, which prints a sentence.

use std::{convert::Infallible, fmt::Debug, time::Duration};

use fencepost::{Client, Error, OnceError};

/// The text of an error that `main` prints after `Error: `.
#[track_caller]
fn sentence(error: impl Debug, expected: &str) {
    let shown = format!("{error:?}");
    assert!(shown.contains(expected), "{shown}");
    for structure in ["{", "Some(", "None", "Error", "Config(", "Refused"] {
        assert!(!shown.contains(structure), "{shown}");
    }
}

#[tokio::test]
async fn an_error_that_leaves_main_is_a_sentence() {
    let client = fencepost::connect("memory:").await.unwrap();
    let stock = client.lock("stock/42").unwrap();

    sentence(client.lock("stock//42").unwrap_err(), "\"stock//42\"");
    sentence(fencepost::connect("nats://localhost").await.unwrap_err(), "nats");

    let held = stock.acquire().await.unwrap();

    client.close().await.unwrap();
    sentence(held.release().await.unwrap_err(), "lock \"stock/42\": ");
    let closed = stock.acquire().await.unwrap_err();
    assert!(matches!(closed, Error::Misuse(_)));
    sentence(&closed, "closed");
    sentence(OnceError::<Infallible>::from(closed), "closed");
}

#[cfg(feature = "redis")]
#[tokio::test]
async fn a_server_that_cannot_be_reached_is_a_sentence() {
    let builder = Client::builder().connect_timeout(Duration::from_millis(50));
    let error = builder.connect("redis://127.0.0.1:1").await.unwrap_err();
    assert!(matches!(error, Error::Refused(_)));
    sentence(&error, "127.0.0.1:1");
    // The text contains the client library's error.
    sentence(error, "refused");
}

/// An error in a `Box<dyn Error>` prints the same sentence.
#[tokio::test]
async fn a_boxed_error_is_a_sentence() {
    let error = fencepost::connect("nats://localhost").await.unwrap_err();
    let (shown, boxed) = (error.to_string(), Box::<dyn std::error::Error>::from(error));
    assert!(format!("{boxed:?}").starts_with(&shown), "{boxed:?}");
}
