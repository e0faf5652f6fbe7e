//! Many contenders in one process, on few connections.

use std::collections::BTreeMap;

use fencepost::{Client, Grant, Lock};
use tokio::sync::mpsc;

use crate::{
    Failed,
    ours::Kind,
    serve::{Obey, clock},
};

/// A contender's number, the time of its grant, and the result.
type Granted = (usize, i64, Result<Grant, fencepost::Error>);

/// Contenders for one lock, numbered in the order in which they join.
pub(crate) struct Crowd {
    kind: Kind,
    url: String,
    name: String,
    clients: Vec<(Client, Lock)>,
    joined: usize,
    granting: mpsc::UnboundedSender<Granted>,
    granted: mpsc::UnboundedReceiver<Granted>,
    holding: BTreeMap<usize, Grant>,
}

impl Crowd {
    #[expect(clippy::unused_async, reason = "other workers connect here")]
    pub(crate) async fn new(kind: Kind, url: String, name: String) -> Result<Self, Failed> {
        let (granting, granted) = mpsc::unbounded_channel();
        Ok(Self {
            kind,
            url,
            name,
            clients: Vec::new(),
            joined: 0,
            granting,
            granted,
            holding: BTreeMap::new(),
        })
    }

    async fn open(&mut self, count: usize) -> Result<(), Failed> {
        for _ in 0..count {
            let client = fencepost::connect(&self.url).await?;
            let lock = self.kind.lock(&client, &self.name)?;
            self.clients.push((client, lock));
        }
        Ok(())
    }

    /// Adds contenders, on one client after the other.
    fn join(&mut self, count: usize) -> Result<(), Failed> {
        for number in self.joined..self.joined + count {
            let (_, lock) = self
                .clients
                .get(number % self.clients.len().max(1))
                .ok_or("join before open")?;
            let (lock, granting) = (lock.clone(), self.granting.clone());
            tokio::spawn(async move {
                let grant = lock.acquire().await;
                // The receiver is gone when the worker ends.
                let _ = granting.send((number, clock(), grant));
            });
        }
        self.joined += count;
        Ok(())
    }

    /// Waits for the next grant, and returns its time.
    async fn next(&mut self) -> Result<i64, Failed> {
        let next = self.granted.recv().await.ok_or("no contender waits")?;
        self.keep(next)
    }

    fn keep(&mut self, (number, moment, grant): Granted) -> Result<i64, Failed> {
        self.holding.insert(number, grant?);
        Ok(moment)
    }

    /// Hands the lock over `count` times. Returns the times of the call of release and of the return of the
    /// next acquire.
    async fn pass(&mut self, count: usize) -> Result<Vec<[i64; 2]>, Failed> {
        let mut turns = Vec::with_capacity(count);
        for _ in 0..count {
            while self.holding.is_empty() {
                self.next().await?;
            }
            let (_, grant) = self.holding.pop_first().ok_or("no contender holds")?;
            let called = clock();
            grant.release().await?;
            turns.push([called, self.next().await?]);
        }
        Ok(turns)
    }

    /// Lists the contenders `count` times. Returns the times of the call and of its return, and the number of
    /// contenders.
    async fn look(&self, count: usize) -> Result<Vec<[i64; 3]>, Failed> {
        let (_, lock) = self.clients.first().ok_or("look before open")?;
        let mut looks = Vec::with_capacity(count);
        for _ in 0..count {
            let called = clock();
            let found = lock.contenders().await?;
            looks.push([called, clock(), found.len().try_into()?]);
        }
        Ok(looks)
    }

    fn held(&mut self) -> Result<usize, Failed> {
        while let Ok(next) = self.granted.try_recv() {
            self.keep(next)?;
        }
        Ok(self.holding.len())
    }

    async fn release(&mut self, number: usize) -> Result<[i64; 2], Failed> {
        let grant = loop {
            if let Some(grant) = self.holding.remove(&number) {
                break grant;
            }
            self.next().await?;
        };
        let called = clock();
        grant.release().await?;
        Ok([called, clock()])
    }
}

impl Obey for Crowd {
    async fn obey(&mut self, line: &str) -> Result<String, Failed> {
        let (verb, number) = line.split_once(' ').unwrap_or((line, "0"));
        let number = number.parse()?;
        match verb {
            "open" => self.open(number).await.map(|()| "[]".into()),
            "join" => self.join(number).map(|()| "[]".into()),
            "pass" => Ok(format!("{:?}", self.pass(number).await?)),
            "look" => Ok(format!("{:?}", self.look(number).await?)),
            "held" => Ok(format!("[{}]", self.held()?)),
            "release" => Ok(format!("{:?}", self.release(number).await?)),
            _ => Err(format!("unknown command: {line}").into()),
        }
    }

    /// Closing the clients ends the contenders that still wait.
    async fn quit(self) -> Result<(), Failed> {
        let closing: Vec<_> = self
            .clients
            .into_iter()
            .map(|(client, _)| tokio::spawn(async move { client.close().await }))
            .collect();
        for closed in closing {
            closed.await??;
        }
        Ok(())
    }
}
