//! Executors: runtimes without timers or I/O, and tasks that another executor polls.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
    thread::{self, Thread},
    time::Duration,
};

use fencepost::{Client, Error, Grant, Lock, LockOptions, Loss, Refusal};
use tokio::runtime::Builder;

/// A minimal executor.
fn elsewhere<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// The compiler checks the traits of every type and every future.
#[test]
fn threads_may_share_everything_and_move_every_future() {
    const fn shared<T: Send + Sync>() {}
    const fn moved<T: Send>(_: &T) {}
    shared::<(Client, Lock, Grant, LockOptions, Error)>();
    shared::<(fencepost::Builder, fencepost::Found, fencepost::ReadWriteLock)>();
    shared::<(fencepost::hub::Hub, fencepost::hub::Settings)>();
    let _futures = async |client: Client, lock: Lock, grant: Grant| {
        moved(&fencepost::connect(""));
        moved(&client.close());
        moved(&lock.acquire());
        moved(&lock.acquire_within(Duration::ZERO));
        moved(&lock.try_acquire());
        moved(&lock.contenders());
        for found in lock.contenders().await.unwrap_or_default() {
            moved(&lock.revoke(&found));
            moved(&lock.break_contender(&found));
        }
        moved(&grant.lost());
        moved(&grant.revoke_requested());
        moved(&grant.extend());
        moved(&grant.downgrade());
        moved(&grant.release());
    };
}

#[test]
fn a_runtime_that_lacks_something_is_an_error() {
    let no_runtime = |error| {
        assert!(matches!(error, Error::NoRuntime), "{error:?}");
        assert!(error.to_string().contains("enable_all"), "{error}");
    };
    no_runtime(elsewhere(fencepost::connect("memory:")).unwrap_err());
    let bare = Builder::new_current_thread().build().unwrap();
    no_runtime(bare.block_on(fencepost::connect("memory:")).unwrap_err());
    let timers = Builder::new_current_thread().enable_time().build().unwrap();
    for url in ["redis://127.0.0.1:1", "zk://127.0.0.1:1"] {
        no_runtime(timers.block_on(fencepost::connect(url)).unwrap_err());
    }
    let client = timers.block_on(fencepost::connect("memory:")).unwrap();
    timers.block_on(client.close()).unwrap();
}

#[test]
fn a_runtime_without_timers_may_use_a_client_of_another_one() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let inside = runtime.enter();
    let client = Client::builder()
        .connect_timeout(Duration::from_millis(100))
        .connect_lazily("redis://127.0.0.1:1")
        .unwrap();
    drop(inside);
    let lock = client.lock("stock").unwrap();
    let tried = thread::spawn(move || {
        let bare = Builder::new_current_thread().build().unwrap();
        bare.block_on(lock.acquire()).map(drop)
    });
    let error = tried.join().unwrap().unwrap_err();
    assert_eq!(error.name(), "unreachable", "{error}");
}

#[test]
fn any_executor_may_wait_for_the_first_connection() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    for url in ["redis://127.0.0.1:1", "zk://127.0.0.1:1"] {
        let client = {
            let _inside = runtime.enter();
            let builder = Client::builder().connect_timeout(Duration::from_millis(50));
            builder.connect_lazily(url).unwrap()
        };
        let lock = client.lock("x").unwrap();
        let Err(Error::Refused(refused)) = elsewhere(lock.acquire()) else {
            panic!("there is no server");
        };
        assert_eq!(refused.reason(), Refusal::Unreachable);
        elsewhere(client.close()).unwrap();
    }
}

#[test]
fn any_executor_may_acquire_and_release() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let client = runtime.block_on(fencepost::connect("memory:")).unwrap();
    let prices = client.read_write_lock("prices").unwrap();
    let grant = elsewhere(prices.writer().acquire()).unwrap();
    elsewhere(grant.downgrade()).unwrap();
    elsewhere(grant.release()).unwrap();
    elsewhere(client.close()).unwrap();
}

#[test]
fn a_grant_is_lost_when_its_runtime_ends_however_early() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    // These calls do not wait, so the runtime ends before it has polled the client's task.
    let (client, lock, grant) = runtime.block_on(async {
        let client = fencepost::connect("memory:").await.unwrap();
        let lock = client.lock("early").unwrap();
        let grant = lock.acquire().await.unwrap();
        (client, lock, grant)
    });
    drop(runtime);
    assert!(!grant.is_valid());
    let lost = elsewhere(grant.lost());
    assert_eq!(lost.reason(), Loss::ConnectionClosed);
    // The program has not closed the client, so later calls have the same reason.
    let why =
        "its runtime was shut down or a driver panicked: make the client in a runtime that lives as long";
    for text in [
        lost.to_string(),
        elsewhere(lock.acquire()).unwrap_err().to_string(),
        client.lock("late").unwrap_err().to_string(),
        client.idempotency("late").unwrap_err().to_string(),
    ] {
        assert!(text.contains(why), "{text}");
    }
    elsewhere(client.close()).unwrap();
    assert_eq!(client.lock("late").unwrap_err().name(), "client-closed");
}
