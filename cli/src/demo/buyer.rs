//! One buyer's visit.

use std::time::{Duration, Instant};

use fencepost::Lock;
use serde::{Deserialize, Serialize};

use super::{Failure, shop::Shop};

/// The result of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// The buyer has got an item.
    Sold,
    /// No item was left.
    SoldOut,
    /// The buyer waited too long.
    GaveUp,
}

/// One buyer's visit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Visit {
    pub(super) outcome: Outcome,
    /// How long the buyer has waited for the lock, in microseconds.
    pub(super) waited: u64,
    /// The fence of the grant, if there was a grant.
    pub(super) fence: Option<u64>,
    /// The time of the grant, in microseconds of a clock that all processes share.
    pub(super) granted: u64,
}

/// Buys without a lock.
pub(super) async fn unprotected(shop: &Shop, work: Duration) -> Result<Visit, Failure> {
    Ok(Visit {
        outcome: buy(shop, work).await?,
        waited: 0,
        fence: None,
        granted: 0,
    })
}

/// Buys while it holds the lock.
pub(super) async fn protected(
    shop: &Shop,
    work: Duration,
    lock: &Lock,
    wait: Duration,
) -> Result<Visit, Failure> {
    let start = Instant::now();
    let grant = lock.acquire_within(wait).await?;
    let waited = u64::try_from(start.elapsed().as_micros())?;
    let Some(grant) = grant else {
        return Ok(Visit {
            outcome: Outcome::GaveUp,
            waited,
            fence: None,
            granted: 0,
        });
    };
    let visit = Visit {
        outcome: Outcome::SoldOut,
        waited,
        fence: grant.fence(),
        granted: fencepost::clock::now().as_micros(),
    };
    let outcome = buy(shop, work).await?;
    grant.release().await?;
    Ok(Visit { outcome, ..visit })
}

/// Reads, works and writes. The write overwrites all changes of other buyers since the read.
async fn buy(shop: &Shop, work: Duration) -> Result<Outcome, Failure> {
    let stock = shop.read().await?;
    if stock <= 0 {
        return Ok(Outcome::SoldOut);
    }
    tokio::time::sleep(work).await;
    shop.write(stock - 1).await?;
    Ok(Outcome::Sold)
}
