//! Takes locks on command. usage: fencepost-bench KIND URL LOCK. The protocol is in bench/README.md.

mod address;
mod crowd;
// Read from there: nobody else has a use for it.
#[cfg(target_os = "linux")]
#[path = "../../../bindings-rs/src/drivers/zookeeper/nodelay.rs"]
mod nodelay;
mod ours;
mod raw_redis;
mod raw_zookeeper;
mod serve;

use address::Address;
use crowd::Crowd;
use ours::{Kind, Ours};
use raw_redis::RawRedis;
use raw_zookeeper::RawZooKeeper;

/// Whatever goes wrong ends the program.
type Failed = Box<dyn core::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, url, name] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    // The usual runtime of a service, on as many threads as a small machine has cores. What is measured runs in a task, as a service's
    // handlers do.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let address = Address::read(url)?;
    let (crowd, kind) = kind
        .strip_prefix("crowd-")
        .map_or((false, kind.as_str()), |one| (true, one));
    let (whose, what) = kind.split_once('-').unwrap_or((kind, "mutex"));
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
        ("fencepost", _) => serve::serve(&runtime, Ours::connect(what, url.clone(), name.clone())),
        ("raw", Address::ZooKeeper { .. }) => {
            serve::serve(&runtime, RawZooKeeper::connect(what, address, name.clone()))
        }
        ("raw", Address::Redis) => serve::serve(&runtime, RawRedis::connect(url.clone(), name.clone())),
        _ => Err(USAGE.into()),
    }
}

const USAGE: &str =
    "usage: fencepost-bench [crowd-]fencepost|raw[-read|-write|-semaphore|-single|-multi|-election] URL LOCK";
