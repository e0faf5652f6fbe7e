//! Acquires locks on command. usage: fencepost-bench KIND URL LOCK. The protocol is in bench/README.md.

mod address;
mod crowd;
mod many;
// Included from the driver, because no other program needs it.
#[cfg(target_os = "linux")]
#[path = "../../../bindings-rs/src/drivers/zookeeper/nodelay.rs"]
mod nodelay;
mod operation;
mod ours;
mod raw_operation_redis;
mod raw_operation_zookeeper;
mod raw_redis;
mod raw_zookeeper;
mod serve;

use address::Address;
use crowd::Crowd;
use many::{Another, Many};
use ours::{Kind, Ours};
use raw_redis::RawRedis;
use raw_zookeeper::RawZooKeeper;
use tokio::runtime::Runtime;

/// Any error ends the program.
type Failed = Box<dyn core::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, url, name] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    // The usual runtime of a service, on as many threads as a small machine has cores. The measured code runs
    // in a task, like a service's handlers.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let address = Address::read(url)?;
    let (crowd, kind) = without("crowd-", kind);
    let (many, kind) = without("many-", kind);
    let (whose, what) = kind.split_once('-').unwrap_or((kind, "mutex"));
    if what == "operation" {
        return operations(&runtime, whose, address, url, name);
    }
    let what = match what {
        "mutex" => Kind::Mutex,
        "read" => Kind::Read,
        "write" => Kind::Write,
        "semaphore" => Kind::Semaphore,
        "single" => Kind::Single,
        "multi" => Kind::Multi,
        "election" => Kind::Election,
        _ => return Err(USAGE.into()),
    };
    match (whose, &address) {
        ("fencepost", _) if crowd => serve::serve(&runtime, Crowd::new(what, url.clone(), name.clone())),
        ("fencepost", _) => one_or_many(
            &runtime,
            many,
            name,
            Ours::connect(what, url.clone(), name.clone()),
        ),
        ("raw", Address::ZooKeeper { .. }) => {
            let connecting = RawZooKeeper::connect(what, address, name.clone());
            one_or_many(&runtime, many, name, connecting)
        }
        ("raw", Address::Redis) => {
            let connecting = RawRedis::connect(url.clone(), name.clone());
            one_or_many(&runtime, many, name, connecting)
        }
        _ => Err(USAGE.into()),
    }
}

/// Serves operations instead of a lock.
fn operations(runtime: &Runtime, whose: &str, address: Address, url: &str, name: &str) -> Result<(), Failed> {
    let (url, name) = (url.to_owned(), name.to_owned());
    match (whose, address) {
        ("fencepost", _) => serve::serve(runtime, operation::Operations::connect(url, name)),
        ("raw", Address::Redis) => {
            let connecting = raw_operation_redis::RawOperations::connect(url, name);
            serve::serve(runtime, connecting)
        }
        ("raw", zookeeper @ Address::ZooKeeper { .. }) => {
            let connecting = raw_operation_zookeeper::RawOperations::connect(zookeeper, name);
            serve::serve(runtime, connecting)
        }
        _ => Err(USAGE.into()),
    }
}

/// Whether the kind begins with `prefix`, and the rest of the kind.
fn without<'a>(prefix: &str, kind: &'a str) -> (bool, &'a str) {
    kind.strip_prefix(prefix).map_or((false, kind), |one| (true, one))
}

/// Serves the lock itself, or many tasks with locks of their own on its client.
fn one_or_many<L: serve::Lock + Another + Sync>(
    runtime: &Runtime,
    many: bool,
    name: &str,
    connecting: impl Future<Output = Result<L, Failed>> + Send + 'static,
) -> Result<(), Failed> {
    if many {
        let name = name.to_owned();
        serve::serve(runtime, async { Ok(Many::new(connecting.await?, name)) })
    } else {
        serve::serve(runtime, connecting)
    }
}

const USAGE: &str = "usage: fencepost-bench [crowd-|many-]fencepost|raw[-read|-write|-semaphore|-single|-multi|-election|-operation] URL LOCK";
