//! Tests the example of a program with its own event loop.

use std::time::Duration;

use crate::{
    control::redis,
    scenarios::{soon, unique},
};

#[path = "../../examples/hub_loop.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it is a program: its main is not called here"
)]
mod example;

#[tokio::test]
async fn an_own_event_loop_shares_locks_with_clients() {
    let name = unique("loop");
    let run = |acquire_timeout| {
        let name = name.clone();
        let blocking =
            move || example::run(&redis(), &name, acquire_timeout).map_err(|error| error.to_string());
        soon(tokio::task::spawn_blocking(blocking))
    };
    let first = run(Duration::from_secs(5)).await.unwrap().unwrap().unwrap();
    let client = fencepost::connect(&redis()).await.unwrap();
    let grant = soon(client.lock(&name).unwrap().acquire()).await.unwrap();
    assert!(grant.fence().unwrap() > first);
    assert_eq!(run(Duration::from_millis(50)).await.unwrap().unwrap(), None);
    let fence = grant.fence().unwrap();
    let waiting = run(Duration::from_secs(10));
    soon(grant.release()).await.unwrap();
    assert!(waiting.await.unwrap().unwrap().unwrap() > fence);
    soon(client.close()).await.unwrap();
}

#[tokio::test]
async fn its_errors_are_reported() {
    let run = |url: &'static str, name: &'static str| {
        tokio::task::spawn_blocking(move || {
            example::run(url, name, Duration::from_secs(1)).map_err(|error| error.to_string())
        })
    };
    let url: &'static str = redis().leak();
    assert!(soon(run(url, "")).await.unwrap().unwrap_err().contains("empty"));
    assert!(soon(run("redis://127.0.0.1:1", "x")).await.unwrap().is_err());
}
