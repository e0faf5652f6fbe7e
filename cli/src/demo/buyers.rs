//! What a buyer does: waits for the lock, looks, buys, leaves.

use core::{net::SocketAddr, time::Duration};
use std::time::Instant;

use fencepost::Lock;
use serde::{Deserialize, Serialize};

use super::{Failed, shop::Counter};

/// What came of one buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// Got an item.
    Sold,
    /// There was none left.
    SoldOut,
    /// Waited too long.
    GaveUp,
    /// The shop has refused an overtaken fence.
    Stale,
}

/// One buyer's visit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Visit {
    pub(super) outcome: Outcome,
    /// How long the buyer waited for the lock.
    pub(super) waited: Duration,
    /// Whether it was given the lock.
    pub(super) held: bool,
}

/// How a buyer behaves.
#[derive(Clone, Copy)]
pub(super) struct Habits {
    pub(super) shop: SocketAddr,
    pub(super) wait: Duration,
    pub(super) work: Duration,
}

/// One buyer's visit: with the lock, if there is one.
pub(super) async fn visit(lock: Option<&Lock>, habits: Habits) -> Result<Visit, Failed> {
    let mut counter = Counter::reach(habits.shop).await?;
    let Some(lock) = lock else {
        let outcome = buy(&mut counter, 0, habits.work).await?;
        return Ok(Visit {
            outcome,
            waited: Duration::ZERO,
            held: false,
        });
    };
    let arrived = Instant::now();
    let granted = lock.acquire_within(habits.wait).await?;
    let waited = arrived.elapsed();
    let Some(grant) = granted else {
        return Ok(Visit {
            outcome: Outcome::GaveUp,
            waited,
            held: false,
        });
    };
    let fence = grant
        .fence()
        .ok_or("this lock has no fence: the demo needs one")?;
    let outcome = buy(&mut counter, fence, habits.work).await?;
    grant.release().await?;
    Ok(Visit {
        outcome,
        waited,
        held: true,
    })
}

/// Reads the stock, works, writes it back: harmless for one at a time.
async fn buy(counter: &mut Counter, fence: u64, work: Duration) -> Result<Outcome, Failed> {
    let Some(stock) = counter.read(fence).await? else {
        return Ok(Outcome::Stale);
    };
    if stock == 0 {
        return Ok(Outcome::SoldOut);
    }
    tokio::time::sleep(work).await;
    let written = counter.write(fence, stock - 1).await?;
    Ok(if written { Outcome::Sold } else { Outcome::Stale })
}
