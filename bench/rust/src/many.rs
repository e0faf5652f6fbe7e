//! Many tasks on one client, each with a lock of its own.

use core::{future::Future, time::Duration};
use std::fs;

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinHandle;

use crate::{
    Failed,
    serve::{Lock, Obey, clock},
};

/// Makes further locks on the same client.
pub(crate) trait Another: Sized {
    fn another(&self, name: &str) -> impl Future<Output = Result<Self, Failed>> + Send;
}

/// Tasks, and the client that they share.
pub(crate) struct Many<L> {
    first: L,
    name: String,
    locks: Vec<L>,
    /// The tasks that wait for locks of another process.
    waiting: Vec<JoinHandle<()>>,
}

impl<L: Lock + Another + Sync> Many<L> {
    pub(crate) const fn new(first: L, name: String) -> Self {
        Self {
            first,
            name,
            locks: Vec::new(),
            waiting: Vec::new(),
        }
    }

    async fn open(&mut self, count: usize) -> Result<(), Failed> {
        for number in self.locks.len()..self.locks.len() + count {
            let lock = self.first.another(&format!("{}-{number}", self.name)).await?;
            self.locks.push(lock);
        }
        Ok(())
    }

    /// Acquires and releases in a loop in every task. Returns the number of cycles, their time and their
    /// processor time.
    async fn run(&mut self, milliseconds: i64) -> Result<[i64; 3], Failed> {
        let (start, before) = (clock(), processor_time());
        let end = start + milliseconds * 1_000_000;
        let tasks = self.each(move |mut lock| async move {
            let mut cycles = 0;
            while cycles == 0 || clock() < end {
                lock.acquire().await?;
                lock.release().await?;
                cycles += 1;
            }
            Ok::<_, Failed>((lock, cycles))
        });
        let mut all = 0;
        for task in tasks {
            let (lock, cycles) = task.await??;
            self.locks.push(lock);
            all += cycles;
        }
        Ok([all, clock() - start, processor_time() - before])
    }

    /// Acquires the locks of all tasks, which then hold them.
    async fn hold(&mut self) -> Result<(), Failed> {
        let tasks = self.each(|mut lock| async move { lock.acquire().await.map(|()| lock) });
        for task in tasks {
            self.locks.push(task.await??);
        }
        Ok(())
    }

    /// Starts an acquire in every task, for a lock that another process holds.
    fn wait(&mut self) {
        self.waiting = self.each(|mut lock| async move {
            // The acquire ends with the worker.
            let _ended = lock.acquire().await;
        });
    }

    /// Starts a task for each lock.
    fn each<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &mut self,
        work: impl Fn(L) -> F,
    ) -> Vec<JoinHandle<T>> {
        self.locks
            .drain(..)
            .map(|lock| tokio::spawn(work(lock)))
            .collect()
    }
}

impl<L: Lock + Another + Sync> Obey for Many<L> {
    async fn obey(&mut self, line: &str) -> Result<String, Failed> {
        let (verb, number) = line.split_once(' ').unwrap_or((line, "0"));
        match verb {
            "open" => self.open(number.parse()?).await.map(|()| "[]".into()),
            "run" => Ok(format!("{:?}", self.run(number.parse()?).await?)),
            "hold" => self.hold().await.map(|()| "[]".into()),
            "wait" => {
                self.wait();
                tokio::time::sleep(Duration::from_millis(number.parse()?)).await;
                Ok("[]".into())
            }
            "memory" => Ok(format!("[{}]", memory()?)),
            _ => Err(format!("unknown command: {line}").into()),
        }
    }

    async fn quit(self) -> Result<(), Failed> {
        for task in self.waiting {
            task.abort();
        }
        drop(self.locks);
        self.first.close().await
    }
}

/// The processor time of the process, in nanoseconds.
fn processor_time() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The memory of the process, in bytes.
fn memory() -> Result<usize, Failed> {
    let text = fs::read_to_string("/proc/self/statm")?;
    let pages: usize = text.split(' ').nth(1).ok_or("statm is short")?.parse()?;
    Ok(pages * rustix::param::page_size())
}
