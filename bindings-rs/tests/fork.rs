//! After a fork, calls on objects from before the fork fail at once, and do not affect the other process.

#![cfg(unix)]

use futures_util::FutureExt as _;

// std has no fork. These are the functions of POSIX.
unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Whether every call fails at once with `wrong-process`.
fn is_refused(client: &fencepost::Client, lock: &fencepost::Lock, grant: fencepost::Grant) -> bool {
    let calls = [
        client.lock("other").map(drop),
        lock.acquire().now_or_never().unwrap().map(drop),
        lock.try_acquire().now_or_never().unwrap().map(drop),
        lock.contenders().now_or_never().unwrap().map(drop),
        grant.extend().now_or_never().unwrap(),
        grant.downgrade().now_or_never().unwrap(),
        grant.release().now_or_never().unwrap(),
        client.close().now_or_never().unwrap(),
    ];
    calls
        .iter()
        .all(|result| matches!(result, Err(error) if error.code() == 502 && error.name() == "wrong-process"))
}

#[test]
fn after_a_fork_everything_says_so() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = runtime.block_on(fencepost::connect("memory:")).unwrap();
    let lock = client.lock("stock/42").unwrap();
    let grant = runtime.block_on(lock.acquire()).unwrap();
    let spare = runtime.block_on(client.lock("spare").unwrap().acquire()).unwrap();
    let child = fork();
    if child == 0 {
        let refused = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            is_refused(&client, &lock, spare)
        }));
        _exit(i32::from(!matches!(refused, Ok(true))));
    }
    let mut status = -1;
    // SAFETY: the child belongs to this process, and `status` is valid for writing.
    let ended = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0));
    runtime.block_on(grant.release()).unwrap();
    drop(spare);
    runtime.block_on(client.close()).unwrap();
}

/// The sessions of the parent's servers would never end in the child.
#[test]
fn a_child_has_named_servers_of_its_own() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let connected = runtime.block_on(fencepost::connect("memory:fork"));
    let client = connected.unwrap();
    let grant = runtime
        .block_on(client.lock("stock/42").unwrap().acquire())
        .unwrap();
    let child = fork();
    if child == 0 {
        let granted = std::panic::catch_unwind(|| {
            let own = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            own.block_on(async {
                let client = fencepost::connect("memory:fork").await.unwrap();
                let lock = client.lock("stock/42").unwrap();
                lock.try_acquire().await.unwrap().is_some()
            })
        });
        _exit(i32::from(!matches!(granted, Ok(true))));
    }
    let mut status = -1;
    // SAFETY: the child belongs to this process, and `status` is valid for writing.
    let ended = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0));
    assert!(grant.is_valid());
    runtime.block_on(grant.release()).unwrap();
    runtime.block_on(client.close()).unwrap();
}
