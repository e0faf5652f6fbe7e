//! Who holds a lock on ZooKeeper and who waits; asking one of them for the lock, or breaking its place.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use fencepost::{Client, Found, Layout, Lock, LockOptions};
use serde_json::{Value, json};

use crate::{demo::Failure, output::print};

/// Which lock.
#[derive(Args, Clone, Debug)]
pub(crate) struct Which {
    /// Where the lock is: zk://HOST:PORT/PREFIX
    url: String,
    /// The lock's name
    name: String,
    /// What kind of lock it is
    #[arg(long, value_name = "KIND", default_value = "mutex")]
    of: Kind,
    /// How many permits the semaphore has
    #[arg(long, value_name = "N", required_if_eq("of", "semaphore"))]
    permits: Option<u32>,
    /// The names that its contenders have on the server; usually Curator's
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<Names>,
    /// What the names of its contenders begin with, in the layout plain; usually node_
    #[arg(long, value_name = "PREFIX")]
    node_prefix: Option<String>,
}

const NODE_PREFIX: &str = "node_";

/// What is to be seen of the contenders.
#[derive(Args, Clone, Debug)]
pub(crate) struct List {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One of the contenders.
#[derive(Args, Clone, Debug)]
pub(crate) struct One {
    #[command(flatten)]
    which: Which,
    /// Its fence, as `contenders` shows it
    fence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Mutex,
    /// An unfair lock: one node
    Single,
    ReadWrite,
    Election,
    Semaphore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Names {
    Curator,
    Kazoo,
    Plain,
}

/// Prints who holds and who waits.
pub(crate) async fn list(list: List) -> Result<bool, Failure> {
    let (client, lock) = list.which.open().await?;
    let found = lock.contenders().await?;
    client.close().await?;
    let text = if list.json {
        let found: Vec<Value> = found.iter().map(as_json).collect();
        serde_json::to_string_pretty(&found)?
    } else if found.is_empty() {
        format!("nobody holds {:?} or waits for it", list.which.name)
    } else {
        table(&found).to_string()
    };
    print(&text)?;
    Ok(true)
}

/// Takes a contender's place from it.
pub(crate) async fn break_one(one: One) -> Result<bool, Failure> {
    let (client, lock, found) = one.find().await?;
    lock.break_contender(&found).await?;
    client.close().await?;
    print(&format!("broken: {}", found.node))?;
    Ok(true)
}

/// Asks a contender for the lock.
pub(crate) async fn revoke_one(one: One) -> Result<bool, Failure> {
    let (client, lock, found) = one.find().await?;
    lock.revoke(&found).await?;
    client.close().await?;
    print(&format!("asked: {}", found.node))?;
    Ok(true)
}

impl Which {
    /// Fails for what would look at another lock than the one that is meant, and find nobody.
    fn check(&self) -> Result<(), Failure> {
        let (scheme, _) = self.url.split_once(':').unwrap_or_default();
        if scheme.eq_ignore_ascii_case("memory") {
            return Err("memory: locks within one process, and no other process sees them: give the address of a server, such as zk://HOST:PORT/PREFIX".into());
        }
        if self.node_prefix.is_some() && self.layout != Some(Names::Plain) {
            return Err(
                "--node-prefix is for the layout plain alone: add --layout plain, or leave it out".into(),
            );
        }
        if self.permits.is_some() && self.of != Kind::Semaphore {
            return Err("--permits is for semaphores alone: add --of semaphore, or leave it out".into());
        }
        Ok(())
    }

    async fn open(&self) -> Result<(Client, Lock), Failure> {
        self.check()?;
        let client = fencepost::connect(&self.url).await?;
        let mut options = LockOptions::new();
        if let Some(layout) = self.layout {
            options = options.layout(match layout {
                Names::Curator => Layout::Curator,
                Names::Kazoo => Layout::Kazoo,
                Names::Plain => Layout::Plain {
                    prefix: self.node_prefix.as_deref().unwrap_or(NODE_PREFIX).into(),
                },
            });
        }
        let lock = match self.of {
            Kind::Mutex => client.lock_with(&self.name, options)?,
            Kind::Single => client.lock_with(&self.name, options.fair(false))?,
            Kind::ReadWrite => client.read_write_lock_with(&self.name, options)?.writer().clone(),
            Kind::Election => client.election_with(&self.name, options)?,
            Kind::Semaphore => {
                client.semaphore_with(&self.name, self.permits.unwrap_or_default(), options)?
            }
        };
        Ok((client, lock))
    }
}

impl One {
    async fn find(&self) -> Result<(Client, Lock, Found), Failure> {
        let (client, lock) = self.which.open().await?;
        let found = lock.contenders().await?;
        match found.into_iter().find(|found| found.fence == self.fence) {
            Some(found) => Ok((client, lock, found)),
            None => Err(format!(
                "no contender for {:?} has the fence {}: see `fencepost contenders`",
                self.which.name, self.fence
            )
            .into()),
        }
    }
}

fn table(found: &[Found]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["", "fence", "for", "says", "session", "node"]);
    for one in found {
        let what = match (one.holds, one.shared) {
            (true, false) => "holds",
            (true, true) => "shares",
            (false, false) => "waits",
            (false, true) => "waits to share",
        };
        let age = SystemTime::now().duration_since(one.since).unwrap_or_default();
        table.add_row([
            Cell::new(what),
            Cell::new(one.fence).set_alignment(CellAlignment::Right),
            Cell::new(spoken(age)).set_alignment(CellAlignment::Right),
            Cell::new(&one.identifier),
            Cell::new(format!("{:#x}", one.session)),
            Cell::new(&one.node),
        ]);
    }
    table
}

/// As exact as it is of use: clocks differ.
fn spoken(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

fn as_json(found: &Found) -> Value {
    let since = found.since.duration_since(UNIX_EPOCH).unwrap_or_default();
    // Whole numbers of 64 bits are strings in JSON: many readers round them.
    json!({
        "node": found.node,
        "holds": found.holds,
        "shared": found.shared,
        "session": format!("{:#x}", found.session),
        "since_ms": u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        "fence": found.fence.to_string(),
        "identifier": found.identifier,
    })
}
