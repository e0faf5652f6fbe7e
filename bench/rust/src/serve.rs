//! The worker's side of the protocol.

use core::{future::Future, time::Duration};
use std::io::{BufRead as _, Write as _};

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;

use crate::Failed;

/// A way to acquire a lock.
pub(crate) trait Lock: Send + 'static {
    fn acquire(&mut self) -> impl Future<Output = Result<(), Failed>> + Send;
    fn release(&mut self) -> impl Future<Output = Result<(), Failed>> + Send;
    fn close(self) -> impl Future<Output = Result<(), Failed>> + Send;
}

/// Nanoseconds of `CLOCK_MONOTONIC`, which all processes of a machine share.
pub(crate) fn clock() -> i64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Runs the worker's commands: returns a line of reply for a line of input.
pub(crate) trait Obey: Send + 'static {
    fn obey(&mut self, line: &str) -> impl Future<Output = Result<String, Failed>> + Send;
    fn quit(self) -> impl Future<Output = Result<(), Failed>> + Send;
}

impl<L: Lock> Obey for L {
    async fn obey(&mut self, line: &str) -> Result<String, Failed> {
        obey(self, line).await
    }

    async fn quit(self) -> Result<(), Failed> {
        self.close().await
    }
}

/// Prints "ready" and runs commands until "quit".
pub(crate) fn serve<O: Obey>(
    runtime: &Runtime,
    connecting: impl Future<Output = Result<O, Failed>> + Send + 'static,
) -> Result<(), Failed> {
    let mut servant = runtime.block_on(runtime.spawn(connecting))??;
    let mut out = std::io::stdout().lock();
    writeln!(out, "ready")?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if line == "quit" {
            break;
        }
        let task = runtime.spawn(async move {
            let answer = servant.obey(&line).await;
            (servant, answer)
        });
        let (back, answer) = runtime.block_on(task)?;
        servant = back;
        writeln!(out, "{}", answer?)?;
        out.flush()?;
    }
    runtime.block_on(runtime.spawn(servant.quit()))?
}

async fn obey<L: Lock>(lock: &mut L, line: &str) -> Result<String, Failed> {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["cycle", times] => cycle(lock, times.parse()?).await,
        ["contend", milliseconds, hold] => {
            let hold = Duration::from_micros(hold.parse()?);
            contend(lock, milliseconds.parse()?, hold).await
        }
        ["acquire"] => {
            let called = clock();
            lock.acquire().await?;
            Ok(format!("{:?}", [called, clock()]))
        }
        ["release"] => {
            let called = clock();
            lock.release().await?;
            Ok(format!("{:?}", [called, clock()]))
        }
        _ => Err(format!("unknown command: {line}").into()),
    }
}

async fn cycle<L: Lock>(lock: &mut L, times: usize) -> Result<String, Failed> {
    let mut taken = Vec::with_capacity(times);
    for _ in 0..times {
        let start = clock();
        lock.acquire().await?;
        lock.release().await?;
        taken.push(clock() - start);
    }
    Ok(format!("{taken:?}"))
}

async fn contend<L: Lock>(lock: &mut L, milliseconds: i64, hold: Duration) -> Result<String, Failed> {
    let mut turns = Vec::new();
    let end = clock() + milliseconds * 1_000_000;
    loop {
        let called = clock();
        if called >= end {
            return Ok(format!("{turns:?}"));
        }
        lock.acquire().await?;
        let granted = clock();
        // tokio's timer counts whole milliseconds, so a hold would take three.
        tokio::task::spawn_blocking(move || std::thread::sleep(hold)).await?;
        turns.push([called, granted, clock()]);
        lock.release().await?;
    }
}
