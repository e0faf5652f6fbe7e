//! The memory of a waiting contender: its machine in a hub, with its routes and its timers, needs at most two
//! kibibytes.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Mutex,
        atomic::{AtomicIsize, Ordering},
    },
};

use fencepost_core::{
    AcquireTimeout, CommandId, ContenderId, Instant, Intent, Output, RawSettings, SessionId, Settings,
    lowered::{Hub, Notice, Operation, Outcome, Request},
    redis::Reply as Redis,
    zookeeper::{self, Answer, SessionState, Stat},
};

/// The system's allocator, which counts the allocated bytes.
struct Counting;

static ALIVE: AtomicIsize = AtomicIsize::new(0);

fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALIVE.fetch_add(signed(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller's promises are those of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ALIVE.fetch_sub(signed(layout.size()), Ordering::Relaxed);
        // SAFETY: the caller's promises are those of this call.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MOST: isize = 2048;
const NOW: Instant = Instant::from_micros(1_000_000);

fn settings(family: &str, number: usize) -> Settings {
    let name = format!("stock/{number}");
    let raw = if family == "redis" {
        RawSettings::machine("redis-string")
    } else {
        RawSettings::machine("zookeeper-mutex").with("prefix", "shop")
    };
    Settings::try_from(raw.with("name", name)).unwrap()
}

/// A server on which another client holds every lock.
fn answer(request: &Request) -> Outcome {
    let other = "_c_00000000-0000-4000-8000-000000000000-lock-0000000001";
    let answer = match request.operation {
        Operation::Create => Answer::Created {
            path: format!("{}0000000002", request.path),
            zxid: 7,
        },
        Operation::Children => Answer::Children(vec![other.into(), own_of(&request.path)]),
        Operation::Get => Answer::Data {
            data: Vec::new(),
            stat: Stat {
                czxid: 7,
                mzxid: 7,
                ephemeral_owner: 1,
                version: 0,
                created: 0,
                modified: 0,
            },
        },
        Operation::Call => {
            return Outcome::Redis(Redis::Array(vec![
                Redis::Int(0),
                Redis::Int(5000),
                Redis::Bytes(b"6f74686572206f6e6520697320686572-1".to_vec()),
            ]));
        }
        Operation::Subscribe | Operation::Unsubscribe => return Outcome::Redis(Redis::Nil),
        _ => Answer::Done,
    };
    Outcome::ZooKeeper(zookeeper::Reply {
        session: SessionId(1),
        answer,
    })
}

/// The name of the only contender in a directory: its owner is the directory's number.
fn own_of(directory: &str) -> String {
    let number: u128 = directory.rsplit('/').next().unwrap().parse().unwrap();
    let hex = format!("{:032x}", number + 1);
    let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    format!("_c_{uuid}-lock-0000000002")
}

/// A hub with `contenders` waiting contenders, and the allocated bytes.
fn waiting(family: &str, contenders: usize) -> (Hub, isize) {
    let before = ALIVE.load(Ordering::Relaxed);
    let mut hub = Hub::new(family, 1).unwrap();
    if family == "zookeeper" {
        let connected = zookeeper::Notice::Session {
            state: SessionState::Connected,
            session: SessionId(1),
            timeout: core::time::Duration::from_secs(9),
        };
        hub.handle_notice(NOW, Notice::ZooKeeper(connected)).unwrap();
    }
    for number in 0..contenders {
        let owner = ContenderId((number as u128).to_be_bytes());
        let key = hub.open(NOW, &settings(family, number), owner, 1).unwrap();
        let acquire_timeout = AcquireTimeout::For(core::time::Duration::from_secs(60));
        hub.intent(NOW, key, Intent::Acquire(acquire_timeout)).unwrap();
        settle(&mut hub);
    }
    (hub, ALIVE.load(Ordering::Relaxed) - before)
}

fn settle(hub: &mut Hub) {
    let mut commands: Vec<(CommandId, Request)> = Vec::new();
    loop {
        match hub.poll_output(None) {
            (_, Output::Command(command)) => commands.push((command.id, command.request)),
            (_, Output::Wait(_)) if commands.is_empty() => return,
            (_, Output::Wait(_)) => {
                for (id, request) in core::mem::take(&mut commands) {
                    hub.handle_outcome(NOW, id, answer(&request)).unwrap();
                }
            }
            _ => {}
        }
    }
}

/// Tests run in parallel, and the allocator counts for all of them.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_waiting_contender_takes_at_most_two_kibibytes() {
    let _alone = ALONE.lock();
    for family in ["zookeeper", "redis"] {
        // Just above and below the sizes at which the hub's collections grow.
        let worst = [100, 1000, 1024, 1025, 1100, 2049]
            .map(|contenders| {
                let (hub, alive) = waiting(family, contenders);
                assert_eq!(hub.pending(), contenders);
                alive / signed(contenders)
            })
            .into_iter()
            .max()
            .unwrap();
        println!("{family}: a waiting contender takes {worst} bytes");
        assert!((400..=MOST).contains(&worst), "{family}: {worst} bytes");
    }
}

#[test]
fn contenders_that_have_gone_leave_no_machine_behind() {
    let _alone = ALONE.lock();
    for family in ["zookeeper", "redis"] {
        let before = ALIVE.load(Ordering::Relaxed);
        let contenders = 1000;
        let (mut hub, _) = waiting(family, contenders);
        hub.shutdown(NOW);
        settle(&mut hub);
        // The hub keeps unused subscriptions for a second.
        hub.handle_timeout(NOW.plus(core::time::Duration::from_secs(2)));
        settle(&mut hub);
        assert_eq!(hub.pending(), 0);
        let left = (ALIVE.load(Ordering::Relaxed) - before) / signed(contenders);
        println!("{family}: a contender that has gone leaves {left} bytes of room in the hub");
        assert!(left < 300, "{family}: {left} bytes");
    }
}
