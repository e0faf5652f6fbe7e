//! Idempotent operations on a real Redis: the part of the client.

use std::{sync::Arc, time::Duration};

use fencepost::{
    Claim, Claimed, Completion, Error, Idempotency, IdempotencyOptions, Loss, OnLeaseEnd, RecordState,
    Refusal, Update,
};
use tokio::sync::Notify;

use crate::{control, scenarios::unique};

/// A scope that no other test uses.
pub(crate) async fn scope(options: IdempotencyOptions) -> Idempotency {
    let client = fencepost::connect(&control::redis()).await.unwrap();
    client.idempotency_with(&unique("payments"), options).unwrap()
}

/// The same scope on another connection.
pub(crate) async fn beside(scope: &Idempotency, options: IdempotencyOptions) -> Idempotency {
    let client = fencepost::connect(&control::redis()).await.unwrap();
    client.idempotency_with(scope.scope(), options).unwrap()
}

pub(crate) fn run(claimed: Claimed) -> Claim {
    match claimed {
        Claimed::Run(claim) => claim,
        Claimed::Replayed(record) => panic!("{record:?}"),
    }
}

pub(crate) fn refusal(error: Error) -> Refusal {
    match error {
        Error::Refused(refused) => refused.reason(),
        error => panic!("{error}"),
    }
}

/// A short lease without renewals.
pub(crate) fn brief() -> IdempotencyOptions {
    IdempotencyOptions::new()
        .lease(Duration::from_millis(40))
        .renew(false)
}

#[tokio::test]
async fn a_claim_waits_for_the_result_of_the_running_one() {
    let payments = scope(IdempotencyOptions::new()).await;
    let other = beside(&payments, IdempotencyOptions::new()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    let waiting = tokio::spawn({
        let other = other.clone();
        async move { other.claim("order-17", b"").await }
    });
    let error = other.try_claim("order-17", b"").await.unwrap_err();
    let Error::Refused(refused) = error else {
        panic!("{error}")
    };
    assert_eq!(refused.reason(), Refusal::InProgress);
    let left = refused.retry_after().unwrap();
    assert!(
        left > Duration::from_secs(20) && left <= Duration::from_secs(30),
        "{left:?}"
    );
    assert!(refused.to_string().contains("operation \"payments"), "{refused}");
    let limit = Duration::from_millis(500);
    let late = other.claim_within("order-17", b"", limit).await.unwrap_err();
    assert_eq!(refusal(late), Refusal::InProgress);
    // All values of a byte.
    let result: Vec<u8> = (0..=255).collect();
    assert_eq!(
        claim.complete("bytes", result.clone()).await.unwrap(),
        Completion::Stored
    );
    let Claimed::Replayed(record) = waiting.await.unwrap().unwrap() else {
        panic!("it has run twice")
    };
    assert_eq!((record.tag.as_str(), record.result), ("bytes", result));
    assert!(claim.complete("", b"again").await.is_err());
}

#[tokio::test]
async fn a_dropped_claim_is_left() {
    for (policy, expected) in [
        (OnLeaseEnd::Retake, Ok(1)),
        (OnLeaseEnd::Block, Err(Refusal::InProgress)),
        (OnLeaseEnd::Indeterminate, Err(Refusal::Indeterminate)),
    ] {
        let payments = scope(IdempotencyOptions::new().on_lease_end(policy)).await;
        let claim = run(payments.claim("order-17", b"").await.unwrap());
        drop(claim);
        while payments.look("order-17").await.unwrap().unwrap().lease_end > now() {
            tokio::task::yield_now().await;
        }
        let next = payments.try_claim("order-17", b"").await;
        assert_eq!(
            next.map(|claimed| run(claimed).takeovers()).map_err(refusal),
            expected
        );
    }
}

/// The time by the server's clock, which is the clock of this machine.
fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.unwrap().as_millis()).unwrap() + 1
}

#[tokio::test]
async fn a_release_frees_what_no_earlier_attempt_has_left() {
    let payments = scope(IdempotencyOptions::new()).await;
    run(payments.claim("order-17", b"").await.unwrap())
        .leave()
        .await
        .unwrap();
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert_eq!(claim.takeovers(), 1);
    // This attempt had no effect, but the first attempt may have had an effect.
    claim.release().await.unwrap();
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert_eq!(claim.takeovers(), 2);
    claim.leave().await.unwrap();

    let claim = run(payments.claim("order-18", b"").await.unwrap());
    let fence = claim.fence();
    claim.release().await.unwrap();
    assert_eq!(payments.look("order-18").await.unwrap(), None);
    let claim = run(payments.claim("order-18", b"").await.unwrap());
    assert!(claim.takeovers() == 0 && claim.fence() > fence && claim.is_valid());
    claim.extend().await.unwrap();
}

/// A cancelled claim has not run, so no policy blocks the operation.
#[tokio::test]
async fn a_cancelled_claim_frees_the_operation() {
    let payments = scope(IdempotencyOptions::new().on_lease_end(OnLeaseEnd::Block)).await;
    let other = beside(&payments, IdempotencyOptions::new()).await;
    for at in 0..20_u64 {
        let key = format!("order-{at}");
        let limit = Duration::from_micros(at * 40);
        // The time may end before the request is sent, or after the server has granted it.
        let claimed = tokio::time::timeout(limit, payments.claim(&key, b"")).await;
        if let Ok(claimed) = claimed {
            run(claimed.unwrap()).release().await.unwrap();
        }
        let claimed = other
            .claim_within(&key, b"", Duration::from_secs(20))
            .await
            .unwrap();
        run(claimed).release().await.unwrap();
    }
}

#[tokio::test]
async fn a_claim_is_completed_after_its_lease_unless_it_was_taken_over() {
    let payments = scope(brief()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert_eq!(claim.lost().await.reason(), Loss::LeaseEnded);
    assert!(!claim.is_valid() && claim.remaining() == Duration::ZERO && claim.extend().await.is_err());
    assert_eq!(claim.complete("json", b"17").await.unwrap(), Completion::Stored);
    // The claim has ended: it is neither lost nor valid.
    assert_eq!(claim.release().await.unwrap_err().name(), "not-held");
    let claim = run(payments.claim("order-19", b"").await.unwrap());
    claim.release().await.unwrap();
    assert!(!claim.is_valid() && claim.remaining() == Duration::ZERO);

    let claim = run(payments.claim("order-18", b"").await.unwrap());
    claim.lost().await;
    let second = run(payments.claim("order-18", b"").await.unwrap());
    assert_eq!(second.takeovers(), 1);
    let Err(Error::Lost(lost)) = claim.complete("json", b"first").await else {
        panic!("two results")
    };
    assert_eq!(lost.reason(), Loss::Superseded);
    assert_eq!(
        second.complete("json", b"second").await.unwrap(),
        Completion::Stored
    );
    let late = claim.complete("json", b"first").await;
    assert!(late.is_err(), "{late:?}");
    let record = payments.look("order-18").await.unwrap().unwrap();
    assert_eq!(
        (record.state, record.result.as_slice()),
        (RecordState::Done, &b"second"[..])
    );
}

#[tokio::test]
async fn a_lost_claim_gets_the_result_of_the_one_that_took_over() {
    let payments = scope(brief()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    claim.lost().await;
    let second = run(payments.claim("order-17", b"").await.unwrap());
    assert_eq!(
        second.complete("json", b"second").await.unwrap(),
        Completion::Stored
    );
    let Completion::Replayed(record) = claim.complete("json", b"first").await.unwrap() else {
        panic!("two results")
    };
    assert_eq!(record.result, b"second");
}

#[tokio::test]
async fn numbers_are_registered_and_values_are_updated_once() {
    let stock = scope(IdempotencyOptions::new()).await;
    assert_eq!(
        stock.register("invoice-1", b"", "", b"a").await.unwrap(),
        Completion::Stored
    );
    let again = stock.register("invoice-1", b"", "", b"b").await.unwrap();
    assert!(matches!(again, Completion::Replayed(record) if record.result == b"a"));

    let fill = stock.update("item", "fill", 0, b"", "json", b"10").await;
    assert_eq!(fill.unwrap(), Update::Applied(1));
    let sell = async |print| stock.update("item", "sell-1", 1, print, "text", b"9").await;
    assert_eq!(sell(b"one").await.unwrap(), Update::Applied(2));
    assert_eq!(sell(b"one").await.unwrap(), Update::Replayed(2));
    assert_eq!(refusal(sell(b"two").await.unwrap_err()), Refusal::Mismatch);
    let Err(Error::Refused(conflict)) = stock.update("item", "sell-2", 1, b"", "", b"9").await else {
        panic!("sold twice")
    };
    assert_eq!(conflict.reason(), Refusal::Conflict);
    let present = conflict.record().unwrap();
    let (version, tag, value) = (present.version, present.tag.as_str(), present.result.as_slice());
    assert_eq!((version, tag, value), (2, "text", &b"9"[..]));
}

#[tokio::test]
async fn an_operator_settles_and_forgets_what_was_seen() {
    let payments = scope(IdempotencyOptions::new().on_lease_end(OnLeaseEnd::Indeterminate)).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    claim.leave().await.unwrap();
    let seen = payments.look("order-17").await.unwrap().unwrap();
    assert_eq!(
        (seen.state, seen.policy),
        (RecordState::Running, OnLeaseEnd::Indeterminate)
    );
    let mut older = seen.clone();
    older.fence.0 -= 1;
    let changed = payments
        .settle("order-17", &older, "json", b"17")
        .await
        .unwrap_err();
    assert_eq!(refusal(changed), Refusal::RecordChanged);
    let settled = payments.settle("order-17", &seen, "json", b"17").await.unwrap();
    assert_eq!(settled, Completion::Stored);
    let again = payments.settle("order-17", &seen, "json", b"18").await.unwrap();
    assert!(matches!(again, Completion::Replayed(record) if record.result == b"17"));
    let stale = payments.forget("order-17", &seen).await.unwrap_err();
    assert_eq!(refusal(stale), Refusal::RecordChanged);
    let paid: u32 = payments
        .once("order-17", b"", async |_claim| {
            Err(std::io::Error::other("it has run"))
        })
        .await
        .unwrap();
    assert_eq!(paid, 17);
    let seen = payments.look("order-17").await.unwrap().unwrap();
    payments.forget("order-17", &seen).await.unwrap();
    assert_eq!(payments.look("order-17").await.unwrap(), None);
}

#[tokio::test]
async fn closing_the_client_leaves_the_claim() {
    let client = fencepost::connect(&control::redis()).await.unwrap();
    let payments = client.idempotency(&unique("payments")).unwrap();
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    let other = beside(&payments, IdempotencyOptions::new()).await;
    let ended = Arc::new(Notify::new());
    let waiting = tokio::spawn({
        let (other, ended) = (other.clone(), Arc::clone(&ended));
        async move {
            ended.notify_one();
            other
                .claim("order-17", b"")
                .await
                .map(run)
                .map(|claim| claim.takeovers())
        }
    });
    ended.notified().await;
    client.close().await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), 1);
    assert_eq!(claim.lost().await.reason(), Loss::ConnectionClosed);
    assert!(claim.complete("", b"late").await.is_err());
}

#[tokio::test]
async fn bad_input_is_refused_before_anything_is_sent() {
    let client = fencepost::connect(&control::redis()).await.unwrap();
    let error = client.idempotency("").unwrap_err();
    assert!(
        matches!(&error, Error::Config(_)) && error.to_string().contains("scope is \"\""),
        "{error}"
    );
    let zero = IdempotencyOptions::new().lease(Duration::ZERO);
    assert_eq!(
        client.idempotency_with("payments", zero).unwrap_err().name(),
        "not-positive"
    );
    let payments = client.idempotency(&unique("payments")).unwrap();
    for (key, print, expected) in [
        (String::new(), 0, "key is \"\""),
        ("x".repeat(1025), 0, "longer than 1024 bytes"),
        ("x".into(), 1025, "give a digest"),
    ] {
        let error = payments.claim(&key, &vec![7; print]).await.unwrap_err();
        assert!(
            matches!(&error, Error::Config(_)) && error.to_string().contains(expected),
            "{error}"
        );
    }
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    let error = claim.complete("json", vec![0; 1_000_001]).await.unwrap_err();
    assert_eq!(error.name(), "invalid-option");
    let error = claim.complete(&"t".repeat(256), b"").await.unwrap_err();
    assert_eq!(error.name(), "invalid-option");
    assert_eq!(
        claim.complete("json", vec![0; 1_000_000]).await.unwrap(),
        Completion::Stored
    );
}
