//! Buyers in several processes, and a shop that all of them can reach.

use std::{
    process::Stdio,
    sync::{Arc, atomic::AtomicI64},
    time::Instant,
};

use futures_util::future;
use indicatif::ProgressBar;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpListener,
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{
    Failure, Options,
    buyer::Visit,
    crowd::Entrance,
    report::Run,
    shop::{self, Shop},
};

/// The line that a child process prints when its buyers are ready, and the line that it then waits for.
const READY: &str = "ready";
const GO: &[u8] = b"go\n";

/// A sale with buyers in several processes.
pub(super) async fn several(options: &Options, locked: bool, progress: &ProgressBar) -> Result<Run, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let stock = Arc::new(AtomicI64::new(options.items.into()));
    let serving = tokio::spawn(shop::serve(listener, stock));
    let started = (0..options.processes).map(|process| Crowd::start(options, locked, process, &address));
    let mut crowds = future::try_join_all(started).await?;
    let start = Instant::now();
    let visits = crowds.iter_mut().map(|crowd| crowd.watch(progress));
    let visits = future::try_join_all(visits).await?.concat();
    let took = start.elapsed();
    future::try_join_all(crowds.iter_mut().map(Crowd::end)).await?;
    serving.abort();
    Ok(Run::new(options, locked, visits, took))
}

/// The buyers of another process.
struct Crowd {
    child: Child,
    door: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    buyers: u32,
}

impl Crowd {
    async fn start(options: &Options, locked: bool, process: u32, shop: &str) -> Result<Self, Failure> {
        let buyers = options.share(options.buyers, process);
        let at_once = options.share(options.at_once, process);
        let micros = |time: std::time::Duration| format!("{}us", time.as_micros());
        let mut child = Command::new(std::env::current_exe()?)
            .arg("buyers")
            .args(["--url", &options.url, "--lock", &options.lock, "--shop", shop])
            .args(["--buyers", &buyers.to_string(), "--at-once", &at_once.to_string()])
            .args(["--wait", &micros(options.wait), "--work", &micros(options.work)])
            .args(locked.then_some("--locked"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let door = child.stdin.take().ok_or("a process without standard input")?;
        let output = child.stdout.take().ok_or("a process without standard output")?;
        let mut crowd = Self {
            child,
            door,
            lines: BufReader::new(output).lines(),
            buyers,
        };
        match crowd.lines.next_line().await? {
            Some(line) if line == READY => Ok(crowd),
            _ => {
                Err("a process of the demo has ended before its buyers came in; its message is above".into())
            }
        }
    }

    async fn watch(&mut self, progress: &ProgressBar) -> Result<Vec<Visit>, Failure> {
        self.door.write_all(GO).await?;
        let mut visits = Vec::new();
        while let Some(line) = self.lines.next_line().await? {
            visits.push(serde_json::from_str(&line)?);
            progress.inc(1);
        }
        if visits.len() != usize::try_from(self.buyers)? {
            return Err("a process of the demo has ended before its buyers had left".into());
        }
        Ok(visits)
    }

    async fn end(&mut self) -> Result<(), Failure> {
        let status = self.child.wait().await?;
        status
            .success()
            .then_some(())
            .ok_or_else(|| format!("a process of the demo has failed: {status}").into())
    }
}

/// Runs the buyers of this process.
pub(super) async fn child(options: &Options) -> Result<(), Failure> {
    let address = options
        .shop
        .as_deref()
        .ok_or("there is no shop: only the demo starts this command")?;
    let shop = Shop::at(address).await?;
    let entrance = Entrance::open(options, options.locked).await?;
    println!("{READY}");
    let mut line = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut line).await?;
    entrance
        .admit(options, options.buyers, options.at_once, &shop, |visit| {
            println!("{}", serde_json::to_string(&visit)?);
            Ok(())
        })
        .await?;
    entrance.close().await
}
