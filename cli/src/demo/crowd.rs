//! Letting buyers in: so many at once, in this process or in several.

use core::time::Duration;
use std::{
    process::Stdio,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use fencepost::Client;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, Command},
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use super::{
    Failed,
    buyers::{self, Habits, Visit},
    options::{BuyersOptions, Options},
    shop::Shop,
};

/// Lets all buyers in, and tells of each when it leaves. Gives all visits and the time that it took.
pub(super) async fn let_in(
    options: &Options,
    locked: bool,
    shop: &Shop,
    mut left: impl FnMut(&Visit),
) -> Result<(Vec<Visit>, Duration), Failed> {
    let (tell, mut told) = mpsc::unbounded_channel();
    // A name of its own: two demos at once do not meet.
    let lock = format!("fencepost-demo/{}-{}", std::process::id(), nanoseconds());
    let started = Instant::now();
    let mut crowds = JoinSet::new();
    for index in 0..options.processes {
        let part = BuyersOptions {
            url: locked.then(|| options.url.clone()),
            lock: lock.clone(),
            shop: shop.address,
            buyers: share(options.buyers, options.processes, index),
            at_once: share(options.at_once, options.processes, index),
            patience: options.patience,
            work: options.work,
        };
        let tell = tell.clone();
        if options.processes == 1 {
            crowds.spawn(here(part, tell));
        } else {
            crowds.spawn(elsewhere(part, tell));
        }
    }
    drop(tell);
    let mut visits = Vec::new();
    while let Some(visit) = told.recv().await {
        left(&visit);
        visits.push(visit);
    }
    let took = started.elapsed();
    while let Some(crowd) = crowds.join_next().await {
        crowd??;
    }
    Ok((visits, took))
}

/// A process of buyers: each visit is a line of JSON on standard output.
pub(super) async fn serve(options: BuyersOptions) -> Result<(), Failed> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let crowd = tokio::spawn(here(options, tell));
    while let Some(visit) = told.recv().await {
        println!("{}", serde_json::to_string(&visit)?);
    }
    crowd.await?
}

/// Buyers in this process.
async fn here(options: BuyersOptions, tell: mpsc::UnboundedSender<Visit>) -> Result<(), Failed> {
    let client = match &options.url {
        Some(url) => Some(fencepost::connect(url).await?),
        None => None,
    };
    let lock = client
        .as_ref()
        .map(|client| client.lock(&options.lock))
        .transpose()?;
    let habits = Habits {
        shop: options.shop,
        patience: options.patience,
        work: options.work,
    };
    let doors = Arc::new(Semaphore::new(options.at_once as usize));
    let mut buyers = JoinSet::new();
    for _ in 0..options.buyers {
        let door = Arc::clone(&doors).acquire_owned().await?;
        let (lock, tell) = (lock.clone(), tell.clone());
        buyers.spawn(async move {
            let visit = buyers::visit(lock.as_ref(), habits).await?;
            drop(door);
            // Nobody listens any more once one of the others has failed.
            let _heard = tell.send(visit);
            Ok::<(), Failed>(())
        });
    }
    drop(tell);
    while let Some(buyer) = buyers.join_next().await {
        buyer??;
    }
    close(client).await
}

async fn close(client: Option<Client>) -> Result<(), Failed> {
    match client {
        Some(client) => Ok(client.close().await?),
        None => Ok(()),
    }
}

/// Buyers in a process of their own.
async fn elsewhere(options: BuyersOptions, tell: mpsc::UnboundedSender<Visit>) -> Result<(), Failed> {
    let mut child = start(&options)?;
    let (Some(out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("the buyers' process has no output".into());
    };
    let mut lines = BufReader::new(out).lines();
    while let Some(line) = lines.next_line().await? {
        let _heard = tell.send(serde_json::from_str(&line)?);
    }
    let mut complaint = String::new();
    err.read_to_string(&mut complaint).await?;
    let status = child.wait().await?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{status}: {}", complaint.trim()).into())
    }
}

fn start(options: &BuyersOptions) -> Result<Child, Failed> {
    let millis = |time: Duration| (time.as_secs_f64() * 1e3).to_string();
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("demo-buyers");
    if let Some(url) = &options.url {
        command.args(["--url", url]);
    }
    command
        .args(["--lock", &options.lock, "--shop", &options.shop.to_string()])
        .args([
            "--buyers",
            &options.buyers.to_string(),
            "--at-once",
            &options.at_once.to_string(),
        ])
        .args([
            "--patience",
            &millis(options.patience),
            "--work",
            &millis(options.work),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Ok(command.spawn()?)
}

/// The n-th of so many nearly equal parts.
const fn share(whole: u32, parts: u32, index: u32) -> u32 {
    let extra = if index < whole % parts { 1 } else { 0 };
    whole / parts + extra
}

fn nanoseconds() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos()
}
