//! Many buyers, a few at a time.

use std::{sync::Arc, time::Instant};

use fencepost::{Client, Lock};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;

use super::{
    Failure, Options,
    buyer::{self, Visit},
    report::Run,
    shop::Shop,
};

/// A sale whose buyers are all in this process.
pub(super) async fn one_process(
    options: &Options,
    locked: bool,
    progress: &ProgressBar,
) -> Result<Run, Failure> {
    let entrance = Entrance::open(options, locked).await?;
    let shop = Shop::new(options.items);
    let start = Instant::now();
    let mut visits = Vec::new();
    entrance
        .admit(options, options.buyers, options.at_once, &shop, |visit| {
            visits.push(visit);
            progress.inc(1);
            Ok(())
        })
        .await?;
    let took = start.elapsed();
    entrance.close().await?;
    Ok(Run::new(options, locked, visits, took))
}

/// Lets buyers into the shop, with or without the lock.
pub(super) struct Entrance(Option<(Client, Lock)>);

impl Entrance {
    pub(super) async fn open(options: &Options, locked: bool) -> Result<Self, Failure> {
        if !locked {
            return Ok(Self(None));
        }
        let client = fencepost::connect(&options.url).await?;
        let lock = client.lock(&options.lock)?;
        // The first acquire creates directories and sends scripts. No buyer should wait for that.
        if let Some(grant) = lock.acquire_within(WARM_UP).await? {
            grant.release().await?;
        }
        Ok(Self(Some((client, lock))))
    }

    /// Lets buyers in, at most so many at a time.
    pub(super) async fn admit(
        &self,
        options: &Options,
        buyers: u32,
        at_once: u32,
        shop: &Shop,
        mut seen: impl FnMut(Visit) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let lock = self.0.as_ref().map(|(_, lock)| Arc::new(lock.clone()));
        let (work, wait) = (options.work, options.wait);
        let visits = stream::iter(0..buyers).map(|_| {
            let (shop, lock) = (shop.clone(), lock.clone());
            // Each buyer is a separate task, like independent clients.
            let visit = tokio::spawn(async move {
                match lock {
                    Some(lock) => buyer::protected(&shop, work, &lock, wait).await,
                    None => buyer::unprotected(&shop, work).await,
                }
            });
            async move { visit.await? }
        });
        let mut visits = visits.buffer_unordered(usize::try_from(at_once)?);
        while let Some(visit) = visits.try_next().await? {
            seen(visit)?;
        }
        Ok(())
    }

    pub(super) async fn close(self) -> Result<(), Failure> {
        if let Some((client, _)) = self.0 {
            client.close().await?;
        }
        Ok(())
    }
}

/// How long the first acquire may take.
const WARM_UP: std::time::Duration = std::time::Duration::from_secs(5);
