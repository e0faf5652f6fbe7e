//! The commands that run one after the other.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use fencepost::Grant;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc::UnboundedReceiver};

use crate::{Failed, counter::Counter, hold::Hold, look::Look, recipes::Recipes, reply, workload::workload};

/// The pending acquires, and the means to end the waiting one.
#[derive(Default)]
pub(crate) struct Waiting {
    acquires: AtomicUsize,
    enough: Notify,
    stopped: AtomicBool,
}

impl Waiting {
    /// Records that a command has arrived.
    pub(crate) fn asked(&self, words: &[String]) {
        if words.first().is_some_and(|verb| verb == "workload") {
            self.stopped.store(false, Ordering::SeqCst);
        }
        if words.first().is_some_and(|verb| verb == "acquire") {
            self.acquires.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Ends the workload.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Ends the waiting acquire; returns whether there was one.
    pub(crate) fn cancel(&self) -> bool {
        self.enough.notify_waiters();
        self.acquires.load(Ordering::SeqCst) > 0
    }
}

/// Runs commands in their order.
pub(crate) struct Worker {
    recipes: Arc<Recipes>,
    look: Arc<Look>,
    waiting: Arc<Waiting>,
    holds: Vec<Hold>,
    counters: HashMap<String, Counter>,
}

impl Worker {
    pub(crate) fn new(recipes: Arc<Recipes>, look: Arc<Look>, waiting: Arc<Waiting>) -> Self {
        Self {
            recipes,
            look,
            waiting,
            holds: Vec::new(),
            counters: HashMap::new(),
        }
    }

    pub(crate) async fn run(mut self, mut orders: UnboundedReceiver<Vec<String>>) {
        while let Some(words) = orders.recv().await {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let answer = match words[1..] {
                [kind, path] if words[0] == "acquire" => self.acquire(kind, path, None).await,
                [kind, path, timeout] if words[0] == "acquire" => {
                    self.acquire(kind, path, Some(timeout)).await
                }
                [] if words[0] == "release" => self.release(None).await,
                [what] if words[0] == "release" => self.release(Some(what)).await,
                [] if words[0] == "downgrade" => self.downgrade(None).await,
                [what] if words[0] == "downgrade" => self.downgrade(Some(what)).await,
                [address] if words[0] == "increment" => self.increment(address).await,
                [kind, path, address, rounds] if words[0] == "work" => {
                    self.work(kind, path, address, rounds).await
                }
                [kind, path, address, hold_ms] if words[0] == "workload" => {
                    let (recipes, waiting) = (Arc::clone(&self.recipes), Arc::clone(&self.waiting));
                    match self.counter(address).await {
                        Ok(resource) => {
                            workload(&recipes, kind, path, resource, hold_ms, &waiting.stopped).await
                        }
                        Err(error) => Err(error),
                    }
                }
                _ => Err("that makes no sense; see tests/interop/README.md".into()),
            };
            if words[0] == "acquire" {
                self.waiting.acquires.fetch_sub(1, Ordering::SeqCst);
            }
            reply(words[0], answer);
        }
    }

    async fn acquire(&mut self, kind: &str, path: &str, timeout: Option<&str>) -> Result<Value, Failed> {
        let waiting = Arc::clone(&self.waiting);
        let grant = tokio::select! {
            grant = self.recipes.acquire(kind, path, timeout) => grant?,
            () = waiting.enough.notified() => return Ok(json!({"granted": false, "cancelled": true})),
        };
        let Some(grant) = grant else {
            return Ok(json!({"granted": false, "cancelled": false}));
        };
        let fence = fence(&grant)?;
        let nodes = self.look.nodes(path, fence).await?;
        let hold = Hold::new(kind, path, nodes, fence, grant);
        let mut answer = hold.describe();
        answer["granted"] = true.into();
        self.holds.push(hold);
        Ok(answer)
    }

    async fn release(&mut self, what: Option<&str>) -> Result<Value, Failed> {
        let at = self.find(what)?;
        let hold = self.holds.remove(at);
        let answer = hold.describe();
        hold.release().await?;
        Ok(answer)
    }

    async fn downgrade(&mut self, what: Option<&str>) -> Result<Value, Failed> {
        let hold = &self.holds[self.find(what)?];
        hold.downgrade().await?;
        Ok(hold.describe())
    }

    async fn increment(&mut self, address: &str) -> Result<Value, Failed> {
        let fence = self.holds[self.find(None)?].fence();
        let accepted = self.counter(address).await?.increment(fence).await?;
        Ok(json!({"accepted": accepted}))
    }

    /// Rounds of acquire, increment and release. A round counts if the counter accepts it, even if its grant
    /// is lost.
    async fn work(&mut self, kind: &str, path: &str, address: &str, rounds: &str) -> Result<Value, Failed> {
        let (rounds, mut done, mut stale, mut lost) = (rounds.parse::<u32>()?, 0, 0, 0);
        let recipes = Arc::clone(&self.recipes);
        let counter = self.counter(address).await?;
        while done < rounds {
            let Some(grant) = recipes.take(kind, path).await? else {
                lost += 1;
                continue;
            };
            if counter.increment(fence(&grant)?).await? {
                done += 1;
            } else {
                stale += 1;
            }
            match grant.release().await {
                Ok(()) => {}
                Err(fencepost::Error::Lost(_)) => lost += 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(json!({"done": done, "stale": stale, "lost": lost}))
    }

    fn find(&self, what: Option<&str>) -> Result<usize, Failed> {
        let found = self
            .holds
            .iter()
            .rposition(|hold| what.is_none_or(|what| hold.is(what)));
        found.ok_or_else(|| match what {
            Some(what) => format!("nothing is held at {what}").into(),
            None => "nothing is held".into(),
        })
    }

    async fn counter(&mut self, address: &str) -> Result<&mut Counter, Failed> {
        if !self.counters.contains_key(address) {
            self.counters
                .insert(address.into(), Counter::connect(address).await?);
        }
        self.counters.get_mut(address).ok_or_else(|| "no counter".into())
    }
}

fn fence(grant: &Grant) -> Result<u64, Failed> {
    grant.fence().ok_or_else(|| "a grant without a fence".into())
}
