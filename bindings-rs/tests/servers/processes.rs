//! A holder whose process is killed.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::{
    control::{redis, zookeeper},
    scenarios::{soon, unique},
};

/// Not a separate test: the process that is killed runs this.
#[tokio::test]
#[ignore = "run by the tests of this file, in a process of its own"]
async fn hold_until_killed() {
    let client = fencepost::connect(&std::env::var("HOLD_URL").unwrap())
        .await
        .unwrap();
    let options = if client_is_on_redis() {
        fencepost::LockOptions::new().ttl(std::time::Duration::from_secs(2))
    } else {
        of_kind(std::env::var("HOLD_UNFAIR").is_ok())
    };
    let lock = client
        .lock_with(&std::env::var("HOLD_NAME").unwrap(), options)
        .unwrap();
    let grant = lock.acquire().await.unwrap();
    println!("held with fence {}", grant.fence().unwrap());
    grant.lost().await;
}

fn client_is_on_redis() -> bool {
    std::env::var("HOLD_URL").unwrap().starts_with("redis:")
}

fn of_kind(unfair: bool) -> fencepost::LockOptions {
    let usual = fencepost::LockOptions::new();
    if unfair { usual.fair(false) } else { usual }
}

async fn survives(url: String, unfair: bool) {
    let name = unique("killed");
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "processes::hold_until_killed",
        ])
        .env("HOLD_URL", &url)
        .env("HOLD_NAME", &name)
        .envs(unfair.then_some(("HOLD_UNFAIR", "yes")))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let fence: u64 = soon(async {
        loop {
            let line = lines.next_line().await.unwrap().expect("the holder has ended");
            if let Some((_, fence)) = line.split_once("held with fence ") {
                break fence.parse().unwrap();
            }
        }
    })
    .await;
    let client = fencepost::connect(&url).await.unwrap();
    let lock = client.lock_with(&name, of_kind(unfair)).unwrap();
    assert!(soon(lock.try_acquire()).await.unwrap().is_none());
    let waiting = tokio::spawn(async move { lock.acquire().await });
    // SIGKILL ends the holder at once.
    holder.start_kill().unwrap();
    soon(holder.wait()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    assert!(next.fence().unwrap() > fence);
    soon(next.release()).await.unwrap();
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn a_killed_holder_on_zookeeper_leaves_the_lock_to_the_waiter() {
    survives(zookeeper() + "?session_timeout=3000", false).await;
}

#[tokio::test]
async fn a_killed_holder_of_a_single_node_leaves_it_to_the_waiter() {
    survives(zookeeper() + "?session_timeout=3000", true).await;
}

#[tokio::test]
async fn a_killed_holder_on_redis_leaves_the_lock_to_the_waiter() {
    survives(redis(), false).await;
}
