//! Operations that run once, on a real Redis: their values and their errors.

use std::fmt;

use fencepost::{
    Claim, Completion, IdempotencyOptions, OnError, OnLeaseEnd, OnceError, Outcome, RecordState, Refusal,
};

use crate::idempotency::{brief, refusal, run, scope};

/// The errors of a payment provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChargeError {
    NotConnected,
    Declined,
    NoAnswer,
}

impl fmt::Display for ChargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "there was no connection",
            Self::Declined => "the card was declined: überzogen",
            Self::NoAnswer => "there was no answer",
        })
    }
}

impl ChargeError {
    fn classify(&self) -> OnError {
        match self {
            Self::NotConnected => OnError::Release,
            Self::Declined => OnError::Store,
            Self::NoAnswer => OnError::Leave,
        }
    }
}

#[tokio::test]
async fn an_operation_runs_once() {
    let payments = scope(IdempotencyOptions::new()).await;
    let mut runs = 0;
    for replayed in [false, true, true] {
        let paid = payments
            .outcome("order-17", b"17 EUR", async |claim| {
                runs += 1;
                Ok::<_, std::io::Error>((claim.takeovers(), claim.derive("charge")))
            })
            .await
            .unwrap();
        let value = (0, payments.once("order-17", b"17 EUR", never).await.unwrap().1);
        assert_eq!(paid, Outcome { value, replayed });
    }
    assert_eq!(runs, 1);
}

async fn never(_claim: &Claim) -> Result<(u64, String), std::io::Error> {
    unreachable!("it has run")
}

/// The future can move to another thread.
#[tokio::test(flavor = "multi_thread")]
async fn operations_run_in_tasks() {
    let payments = scope(IdempotencyOptions::new()).await;
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let payments = payments.clone();
            tokio::spawn(async move {
                let operation = payments
                    .operation("order-17", b"")
                    .on_error(ChargeError::classify);
                let run = async move |_claim: &Claim| Ok::<u32, ChargeError>(task);
                operation.once(run).await.unwrap()
            })
        })
        .collect();
    let mut values = Vec::new();
    for task in tasks {
        values.push(task.await.unwrap());
    }
    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
}

#[tokio::test]
async fn an_error_leaves_the_operation() {
    let payments = scope(IdempotencyOptions::new()).await;
    let failed = payments
        .once("order-17", b"", async |_claim| {
            Err::<(), _>(ChargeError::NotConnected)
        })
        .await;
    assert!(matches!(
        failed,
        Err(OnceError::Operation(ChargeError::NotConnected))
    ));
    let claim = run(payments.claim("order-17", b"").await.unwrap());
    assert_eq!(claim.takeovers(), 1);
}

/// With `indeterminate`, a left operation never runs again.
#[tokio::test]
async fn an_error_says_how_the_claim_ends() {
    let payments = scope(IdempotencyOptions::new().on_lease_end(OnLeaseEnd::Indeterminate)).await;
    let pay = |key: &'static str, error: ChargeError| {
        let operation = payments.operation(key, b"").on_error(ChargeError::classify);
        operation.once::<u32>(async move |_claim: &Claim| Err(error))
    };
    for _ in 0..2 {
        // The operation runs each time.
        let failed = pay("order-1", ChargeError::NotConnected).await;
        assert!(matches!(
            failed,
            Err(OnceError::Operation(ChargeError::NotConnected))
        ));
        assert_eq!(payments.look("order-1").await.unwrap(), None);
    }
    let failed = pay("order-2", ChargeError::NoAnswer).await;
    assert!(matches!(failed, Err(OnceError::Operation(ChargeError::NoAnswer))));
    let Err(OnceError::Fencepost(error)) = pay("order-2", ChargeError::NoAnswer).await else {
        panic!("it has run again")
    };
    assert_eq!(refusal(error), Refusal::Indeterminate);
    let failed = pay("order-3", ChargeError::Declined).await;
    assert!(matches!(failed, Err(OnceError::Operation(ChargeError::Declined))));
    let Err(OnceError::Stored(stored)) = pay("order-3", ChargeError::NoAnswer).await else {
        panic!("it has run again")
    };
    assert_eq!(
        (stored.code(), stored.name(), stored.text()),
        (507, "stored-error", "the card was declined: überzogen")
    );
    // Python and JavaScript store the same.
    let record = payments.look("order-3").await.unwrap().unwrap();
    assert_eq!(
        (record.tag.as_str(), record.result.as_slice()),
        ("error", stored.text().as_bytes())
    );
}

/// A text that is too long is shortened: otherwise the claim would be left, and the operation would
/// run again.
#[tokio::test]
async fn the_beginning_of_a_long_error_is_stored() {
    let payments = scope(IdempotencyOptions::new()).await;
    let pay = async |text: &str| {
        let operation = payments
            .operation("order-17", b"")
            .on_error(|_: &String| OnError::Store);
        operation
            .once::<u32>(async move |_claim: &Claim| Err(text.to_owned()))
            .await
    };
    let text = format!("a{}", "ü".repeat(500_000));
    assert!(matches!(pay(&text).await, Err(OnceError::Operation(error)) if error == text));
    let Err(OnceError::Stored(stored)) = pay("again").await else {
        panic!("it has run again")
    };
    // The last three bytes are the ellipsis, and no character is cut.
    let expected = format!("a{}…", "ü".repeat(499_998));
    assert!(stored.text() == expected, "{} bytes", stored.text().len());
    assert_eq!(expected.len(), 1_000_000);
}

/// The result of another attempt comes before the operation's own error.
#[tokio::test]
async fn an_error_does_not_replace_a_result() {
    let payments = scope(brief()).await;
    let other = payments.clone();
    let paid = payments
        .operation("order-17", b"")
        .on_error(ChargeError::classify)
        .outcome::<u32>(async |claim: &Claim| {
            claim.lost().await;
            let second = run(other.claim("order-17", b"").await.unwrap());
            assert_eq!(second.complete("json", b"17").await.unwrap(), Completion::Stored);
            Err(ChargeError::Declined)
        })
        .await
        .unwrap();
    let (value, replayed) = (17, true);
    assert_eq!(paid, Outcome { value, replayed });
}

#[tokio::test]
async fn a_result_of_another_form_is_no_value() {
    let payments = scope(IdempotencyOptions::new()).await;
    for (key, tag, result) in [("order-1", "bytes", "17"), ("order-2", "json", "seventeen")] {
        let claim = run(payments.claim(key, b"").await.unwrap());
        assert_eq!(claim.complete(tag, result).await.unwrap(), Completion::Stored);
    }
    let pay = async |key| {
        let run = async |_claim: &Claim| Err(ChargeError::NoAnswer);
        payments.once::<u32, _>(key, b"", run).await.unwrap_err()
    };
    let OnceError::Fencepost(error) = pay("order-1").await else {
        panic!("bytes are no JSON")
    };
    assert!(
        error.name() == "corrupt-record" && error.to_string().contains("\"bytes\""),
        "{error}"
    );
    assert!(matches!(pay("order-2").await, OnceError::Json(_)));
}

/// JSON has no NaN, so every replay would fail. The first call already returns an error.
#[tokio::test]
async fn a_value_that_json_does_not_give_back_is_not_stored() {
    let payments = scope(IdempotencyOptions::new()).await;
    let averaged = async |_claim: &Claim| Ok::<_, std::io::Error>(f64::NAN);
    let error = payments.once("average", b"", averaged).await.unwrap_err();
    assert!(matches!(error, OnceError::Json(_)), "{error}");
    let record = payments.look("average").await.unwrap();
    assert!(
        record
            .as_ref()
            .is_none_or(|record| record.state != RecordState::Done),
        "{record:?}"
    );
}
