//! Several ends of one claim on a real Redis: with cancelled calls, and with concurrent calls.

use fencepost::{Completion, Error, IdempotencyOptions, Misuse};
use futures_util::{FutureExt as _, join};

use crate::{
    control::{ask, bare_redis},
    idempotency::{run, scope},
};

fn is_not_held<T>(ended: Result<T, Error>) -> bool {
    matches!(ended, Err(Error::Misuse(Misuse::NotHeld)))
}

#[tokio::test]
async fn a_cancelled_completion_can_be_asked_for_again() {
    let payments = scope(IdempotencyOptions::new()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert!(claim.complete("text", "paid").now_or_never().is_none());
    assert!(is_not_held(claim.complete("text", "free").await));
    assert!(is_not_held(claim.release().await));
    let repeated = claim.complete("text", "paid").await;
    assert_eq!(repeated.unwrap(), Completion::Stored);
    assert!(is_not_held(claim.complete("text", "paid").await));
    let record = payments.look("order-17").await.unwrap().unwrap();
    assert_eq!(record.result, *b"paid");
}

/// The reply arrives before the call is repeated.
#[tokio::test]
async fn the_answer_to_a_cancelled_end_is_kept() {
    let payments = scope(IdempotencyOptions::new()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert!(claim.release().now_or_never().is_none());
    while payments.look("order-17").await.unwrap().is_some() {}
    claim.release().await.unwrap();
    assert!(is_not_held(claim.release().await));
}

#[tokio::test]
async fn calls_at_the_same_time_share_an_end() {
    let payments = scope(IdempotencyOptions::new()).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    let (first, second, other) = join!(
        claim.complete("text", "paid"),
        claim.complete("text", "paid"),
        claim.complete("text", "free")
    );
    assert_eq!(first.unwrap(), Completion::Stored);
    assert_eq!(second.unwrap(), Completion::Stored);
    assert!(is_not_held(other));
}

/// All waiting calls get the refusal. If one of them then ends the claim in another way, the other call must not return
/// the result of that end.
#[tokio::test]
async fn an_end_after_a_refusal_is_another_one() {
    let payments = scope(IdempotencyOptions::new().renew(false)).await;
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    let key = format!("fencepost:{{{}/order-17}}", payments.scope());
    let bare = bare_redis("FENCEPOST_REDIS").await;
    // The server has another result of the same attempt, and does not overwrite it.
    let stored = ["HSET", &key, "state", "done", "tag", "x", "result", "x"];
    let _: u64 = ask(&bare, &stored).await;
    let again = async {
        let refused = claim.complete("text", "paid").await;
        let _: u64 = ask(&bare, &["HSET", &key, "state", "running"]).await;
        let again = claim.complete("text", "free").await;
        (refused, again)
    };
    let ((refused, again), waited) = join!(again, claim.complete("text", "paid"));
    assert_eq!(refused.unwrap_err().name(), "mismatch");
    assert_eq!(again.unwrap(), Completion::Stored);
    let waited = waited.unwrap_err();
    assert!(["mismatch", "not-held"].contains(&waited.name()), "{waited}");
}
