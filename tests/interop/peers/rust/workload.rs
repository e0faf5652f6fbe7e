//! A workload that runs until `stop`, on a resource that records when each grant was valid.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use fencepost::Grant;
use serde_json::{Value, json};

use crate::{
    Failed,
    belief::{OFTEN, now},
    counter::Counter,
    recipes::Recipes,
};

/// Acquires, uses the resource and releases, until `enough`.
pub(crate) async fn workload(
    recipes: &Recipes,
    kind: &str,
    path: &str,
    resource: &mut Counter,
    hold_ms: &str,
    enough: &AtomicBool,
) -> Result<Value, Failed> {
    let hold = Duration::from_millis(hold_ms.parse()?);
    let shared = kind.starts_with("read") || kind.starts_with("semaphore");
    let (mut done, mut stale, mut lost, mut unconfirmed) = (0, 0, 0, 0);
    while !enough.load(Ordering::SeqCst) {
        let Some(grant) = recipes.take(kind, path).await? else {
            lost += 1;
            continue;
        };
        let from = now();
        let fence = grant.fence().ok_or("a grant without a fence")?;
        let accepted = if shared {
            resource.look(fence).await?
        } else {
            resource.increment(fence).await?
        };
        if accepted {
            done += 1;
        } else {
            stale += 1;
        }
        if let Some(to) = believe(&grant, from, hold).await {
            resource.held(fence, from, to).await?;
        }
        match grant.release().await {
            Ok(()) => {}
            Err(fencepost::Error::Lost(_)) => lost += 1,
            Err(fencepost::Error::ReleaseUnconfirmed { .. }) => unconfirmed += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(json!({"done": done, "stale": stale, "lost": lost, "unconfirmed": unconfirmed}))
}

/// Holds for `hold` or until the grant ends. Returns the last time at which it was valid.
async fn believe(grant: &Grant, from: u64, hold: Duration) -> Option<u64> {
    let end = from + u64::try_from(hold.as_micros()).unwrap_or_default();
    let mut seen = None;
    loop {
        let now = now();
        if !grant.is_valid() {
            return seen;
        }
        seen = Some(now);
        if now >= end {
            return seen;
        }
        tokio::time::sleep(OFTEN).await;
    }
}
