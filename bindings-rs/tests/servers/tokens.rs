//! Tokens on a real Redis: the part of the client.

use std::time::Duration;

use fencepost::{Claimed, Completion, IdempotencyOptions, Refusal};

use crate::idempotency::{beside, refusal, run, scope};

#[tokio::test]
async fn tokens_belong_to_their_binding() {
    let orders = scope(IdempotencyOptions::new()).await;
    let unknown = orders.consume("t-1", b"alice", b"").await.unwrap_err();
    assert_eq!(refusal(unknown), Refusal::UnknownToken);
    orders
        .issue("t-1", b"alice", Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(
        refusal(orders.consume("t-1", b"bob", b"").await.unwrap_err()),
        Refusal::Mismatch
    );
    assert_eq!(
        refusal(orders.try_claim("t-1", b"").await.unwrap_err()),
        Refusal::Mismatch
    );
    let claim = run(orders.consume("t-1", b"alice", b"cart").await.unwrap());
    assert_eq!(claim.complete("", b"order-17").await.unwrap(), Completion::Stored);
    let again = orders.consume("t-1", b"alice", b"cart").await.unwrap();
    assert!(matches!(again, Claimed::Replayed(record) if record.result == b"order-17"));
    let changed = orders
        .consume("t-1", b"alice", b"another cart")
        .await
        .unwrap_err();
    assert_eq!(refusal(changed), Refusal::Mismatch);
}

#[tokio::test]
async fn a_claim_with_a_token_waits_for_the_running_one() {
    let orders = scope(IdempotencyOptions::new()).await;
    let other = beside(&orders, IdempotencyOptions::new()).await;
    let life = Duration::from_secs(600);
    orders.issue("t-1", b"alice", life).await.unwrap();
    let claim = run(orders.consume("t-1", b"alice", b"").await.unwrap());
    let waiting = tokio::spawn({
        let other = other.clone();
        async move { other.consume("t-1", b"alice", b"").await }
    });
    let at_once = other.try_consume("t-1", b"alice", b"").await.unwrap_err();
    assert_eq!(refusal(at_once), Refusal::InProgress);
    let limit = Duration::from_millis(500);
    let late = other.consume_within("t-1", b"alice", b"", limit).await;
    assert_eq!(refusal(late.unwrap_err()), Refusal::InProgress);
    let never = other.consume_within("t-1", b"alice", b"", Duration::ZERO).await;
    let text = never.unwrap_err().to_string();
    assert!(text.contains("try_consume"), "{text}");
    assert_eq!(claim.complete("", b"order-17").await.unwrap(), Completion::Stored);
    let Claimed::Replayed(record) = waiting.await.unwrap().unwrap() else {
        panic!("it has run twice")
    };
    assert_eq!(record.result, b"order-17");
}

#[tokio::test]
async fn a_token_is_burnt_in_one_request() {
    let orders = scope(IdempotencyOptions::new()).await;
    let burn = async |binding, result| {
        orders
            .register_token("t-1", binding, b"cart", "text", result)
            .await
    };
    let unknown = burn(b"alice", b"17").await.unwrap_err();
    assert_eq!(refusal(unknown), Refusal::UnknownToken);
    let life = Duration::from_secs(600);
    orders.issue("t-1", b"alice", life).await.unwrap();
    let stolen = burn(b"mallo", b"17").await.unwrap_err();
    assert_eq!(refusal(stolen), Refusal::Mismatch);
    assert_eq!(burn(b"alice", b"17").await.unwrap(), Completion::Stored);
    let Completion::Replayed(record) = burn(b"alice", b"18").await.unwrap() else {
        panic!("two results")
    };
    assert_eq!((record.tag.as_str(), record.result), ("text", b"17".to_vec()));
}
