//! Work under claims: effects in a file, and many keys that the peer claims as fast as it can.

use std::{
    fs::OpenOptions,
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use fencepost::{Claim, Claimed, Completion, Error, Idempotency};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::{command::Command, peer::Failed};

/// Appends a line in one write, so that lines of other processes do not mix with it.
fn append(path: &str, line: &str) -> Result<(), Failed> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    Ok(file.write_all(format!("{line}\n").as_bytes())?)
}

/// The effect of an operation.
pub(crate) fn effect(path: &str, claim: &Claim) -> Result<(), Failed> {
    let fence = claim.fence().ok_or("a claim without a fence")?;
    append(
        path,
        &format!("effect {} {fence} {}", claim.key(), claim.takeovers()),
    )
}

/// Claims all keys, several at once.
pub(crate) async fn work(command: &Command, scope: &Idempotency, tag: &str) -> Result<Value, Failed> {
    let path = command.text(1)?;
    let number = |at| Ok::<u64, Failed>(command.word(at)?.parse()?);
    let (first, step, end, tasks) = (number(2)?, number(3)?, number(4)?, number(5)?);
    let takes = Duration::from_millis(number(6)?);
    let (next, ran) = (AtomicU64::new(first), AtomicU64::new(0));
    let replayed = AtomicU64::new(0);
    let some = || async {
        loop {
            let key = next.fetch_add(step, Ordering::Relaxed);
            if key >= end {
                return Ok::<(), Failed>(());
            }
            let key = format!("key-{key}");
            let (result, has_run) = loop {
                match once(&path, scope, &key, tag, takes).await {
                    // Another attempt has taken over.
                    Err(failed) if matches!(failed.downcast_ref(), Some(Error::Lost(_))) => {}
                    done => break done?,
                }
            };
            append(&path, &format!("answer {key} {}", String::from_utf8(result)?))?;
            let tally = if has_run { &ran } else { &replayed };
            tally.fetch_add(1, Ordering::Relaxed);
        }
    };
    try_join_all((0..tasks).map(|_| some())).await?;
    Ok(json!({"answer": "ok", "ran": ran.into_inner(), "replayed": replayed.into_inner()}))
}

/// The result of a key, and whether this caller has run its operation.
async fn once(
    path: &str,
    scope: &Idempotency,
    key: &str,
    tag: &str,
    takes: Duration,
) -> Result<(Vec<u8>, bool), Failed> {
    Ok(match scope.claim(key, b"").await? {
        Claimed::Replayed(record) => (record.result, false),
        Claimed::Run(claim) => (run(path, &claim, tag, takes).await?, true),
    })
}

/// Runs one operation. No other execution has the same result.
async fn run(path: &str, claim: &Claim, tag: &str, takes: Duration) -> Result<Vec<u8>, Failed> {
    effect(path, claim)?;
    tokio::time::sleep(takes).await;
    let fence = claim.fence().ok_or("a claim without a fence")?;
    let result = format!("{}-{fence}", std::process::id()).into_bytes();
    Ok(match claim.complete(tag, result.clone()).await? {
        Completion::Stored => result,
        Completion::Replayed(record) => record.result,
    })
}
