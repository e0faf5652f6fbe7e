//! Locks of other kinds, with their options. Each test runs on memory: and on ZooKeeper.

pub(crate) mod sides;
pub(crate) mod single;

use std::time::Duration;

use fencepost::{Client, Error, Layout, Lock, LockOptions, Loss};

use crate::scenarios::{runs_out, soon, unique, waits};

async fn two(url: &str) -> (Client, Client) {
    (
        fencepost::connect(url).await.unwrap(),
        fencepost::connect(url).await.unwrap(),
    )
}

async fn close(clients: [Client; 2]) {
    for client in clients {
        soon(client.close()).await.unwrap();
    }
}

fn plain() -> Layout {
    Layout::Plain {
        prefix: "node_".into(),
    }
}

pub(crate) async fn readers_share_and_writers_do_not(url: &str) {
    for layout in [Layout::Curator, Layout::Kazoo] {
        let name = unique("prices");
        let (a, b) = two(url).await;
        let options = || LockOptions::new().layout(layout.clone());
        let mine = a.read_write_lock_with(&name, options()).unwrap();
        let theirs = b.read_write_lock_with(&name, options()).unwrap();
        let first = soon(mine.writer().acquire()).await.unwrap();
        assert!(soon(theirs.reader().try_acquire()).await.unwrap().is_none());
        assert!(soon(theirs.writer().try_acquire()).await.unwrap().is_none());
        let fence = first.fence();
        soon(first.release()).await.unwrap();

        let (one, other) = (
            soon(mine.reader().acquire()).await.unwrap(),
            soon(theirs.reader().acquire()).await.unwrap(),
        );
        assert!(one.fence() > fence);
        assert!(one.is_valid() && other.is_valid());
        let writer = theirs.writer().clone();
        let mut writing = tokio::spawn(async move { writer.acquire().await });
        assert!(waits(&mut writing).await);
        // A later reader does not overtake the writer.
        assert!(soon(mine.reader().try_acquire()).await.unwrap().is_none());
        soon(one.release()).await.unwrap();
        assert!(waits(&mut writing).await);
        soon(other.release()).await.unwrap();
        let writer = soon(writing).await.unwrap().unwrap();
        assert!(soon(mine.reader().try_acquire()).await.unwrap().is_none());
        assert!(writer.fence() > fence);
        soon(writer.release()).await.unwrap();
        let last = soon(mine.reader().acquire()).await.unwrap();
        soon(last.release()).await.unwrap();
        close([a, b]).await;
    }
}

pub(crate) async fn a_semaphore_has_its_permits(url: &str) {
    for layout in [Layout::Curator, Layout::Kazoo] {
        let name = unique("presses");
        let (a, b) = two(url).await;
        let options = || LockOptions::new().layout(layout.clone());
        let mine = a.semaphore_with(&name, 2, options()).unwrap();
        let theirs = b.semaphore_with(&name, 2, options()).unwrap();
        let one = soon(mine.acquire()).await.unwrap();
        // This is not a try: a try finds no permit until the first contender has left the wait queue, and another
        // server may see that later.
        let other = soon(theirs.acquire()).await.unwrap();
        assert_ne!(one.fence(), other.fence());
        assert!(soon(mine.try_acquire()).await.unwrap().is_none());
        assert!(runs_out(async |limit| theirs.acquire_within(limit).await).await);
        let mut waiting = tokio::spawn({
            let theirs = theirs.clone();
            async move { theirs.acquire().await }
        });
        assert!(waits(&mut waiting).await);
        soon(one.release()).await.unwrap();
        let third = soon(waiting).await.unwrap().unwrap();
        assert!(third.is_valid() && other.is_valid());
        // The next contender gets a dropped permit.
        drop(other);
        let fourth = soon(mine.acquire()).await.unwrap();
        assert!(soon(mine.try_acquire()).await.unwrap().is_none());
        soon(third.release()).await.unwrap();
        soon(fourth.release()).await.unwrap();
        close([a, b]).await;
    }
}

pub(crate) async fn contenders_are_listed_asked_and_broken(url: &str) {
    let name = unique("inspected");
    let (a, b) = two(url).await;
    let with = |text: &str| LockOptions::new().identifier(text).revocable(true);
    let mine = a.lock_with(&name, with("till-7")).unwrap();
    let theirs = b.lock_with(&name, with("till-8")).unwrap();
    assert_eq!(soon(mine.contenders()).await.unwrap(), []);
    let grant = soon(mine.acquire()).await.unwrap();
    let mut waiting = tokio::spawn(async move { theirs.acquire().await });
    assert!(waits(&mut waiting).await);
    let found = soon(mine.contenders()).await.unwrap();
    let [holder, waiter] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((holder.holds, waiter.holds), (true, false));
    assert_eq!((holder.shared, waiter.shared), (false, false));
    assert_eq!(
        (holder.identifier.as_str(), waiter.identifier.as_str()),
        ("till-7", "till-8")
    );
    assert_eq!(Some(holder.fence), grant.fence());
    assert!(holder.fence < waiter.fence && holder.session != waiter.session);
    assert!(holder.node.contains(&name) && holder.since <= waiter.since);

    soon(mine.revoke(holder)).await.unwrap();
    soon(grant.revoke_requested()).await;
    assert!(grant.is_valid());
    soon(mine.break_contender(holder)).await.unwrap();
    assert_eq!(soon(grant.lost()).await.reason(), Loss::Deleted);
    let next = soon(waiting).await.unwrap().unwrap();
    assert_eq!(next.fence(), Some(waiter.fence));
    for refused in [
        soon(mine.break_contender(holder)).await,
        soon(mine.revoke(holder)).await,
    ] {
        let error = refused.unwrap_err();
        assert_eq!((error.code(), error.name()), (316, "no-contender"), "{error}");
    }
    let other = a.lock(&unique("other")).unwrap();
    let error = soon(other.break_contender(waiter)).await.unwrap_err();
    assert_eq!(error.name(), "invalid-option", "{error}");
    soon(next.release()).await.unwrap();
    close([a, b]).await;
    let error = soon(mine.contenders()).await.unwrap_err();
    assert_eq!(error.name(), "client-closed", "{error}");
}

pub(crate) async fn every_kind_can_be_looked_at(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let both = client.read_write_lock(&unique("prices")).unwrap();
    let readers = (
        soon(both.reader().acquire()).await.unwrap(),
        soon(both.reader().acquire()).await.unwrap(),
    );
    for side in [both.reader(), both.writer()] {
        let found = soon(side.contenders()).await.unwrap();
        assert!(found.len() == 2 && found.iter().all(|reader| reader.holds && reader.shared));
    }
    let term = soon(client.election(&unique("leader")).unwrap().campaign())
        .await
        .unwrap();
    let presses = client.semaphore(&unique("presses"), 2).unwrap();
    let permit = soon(presses.acquire()).await.unwrap();
    let found = soon(presses.contenders()).await.unwrap();
    assert!(
        found
            .iter()
            .any(|holder| holder.holds && Some(holder.fence) == permit.fence())
    );
    drop((readers, term, permit));
    soon(client.close()).await.unwrap();
}

pub(crate) async fn every_layout_excludes_its_own_kind(url: &str) {
    for layout in [Layout::Curator, Layout::Kazoo, plain()] {
        let name = unique("layout");
        let (a, b) = two(url).await;
        let lock = |client: &Client| -> Lock {
            let options = LockOptions::new().layout(layout.clone()).identifier("till-7");
            client.lock_with(&name, options).unwrap()
        };
        let (mine, theirs) = (lock(&a), lock(&b));
        let grant = soon(mine.acquire()).await.unwrap();
        assert_eq!(grant.mixed_layouts(), None);
        assert!(!grant.is_revoke_requested());
        assert!(waits(grant.revoke_requested()).await);
        assert!(soon(theirs.try_acquire()).await.unwrap().is_none());
        let waiting = tokio::spawn(async move { theirs.acquire().await });
        soon(grant.release()).await.unwrap();
        let next = soon(waiting).await.unwrap().unwrap();
        soon(next.release()).await.unwrap();
        close([a, b]).await;
    }
}

pub(crate) async fn an_earlier_foreign_contender_is_reported(url: &str) {
    let name = unique("mixed");
    let (a, b) = two(url).await;
    let kazoo = a
        .lock_with(&name, LockOptions::new().layout(Layout::Kazoo))
        .unwrap();
    let curator = b.lock(&name).unwrap();
    let grant = soon(kazoo.acquire()).await.unwrap();
    assert_eq!(grant.mixed_layouts(), None);
    let mut waiting = tokio::spawn(async move { curator.acquire().await });
    assert!(waits(&mut waiting).await);
    soon(grant.release()).await.unwrap();
    let next = soon(waiting).await.unwrap().unwrap();
    let foreign = next.mixed_layouts().unwrap();
    assert!(foreign.contains("__lock__"), "{foreign}");
    soon(next.release()).await.unwrap();
    close([a, b]).await;
}

pub(crate) async fn options_that_make_no_sense_are_refused(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let is = |refused: Result<(), Error>, name: &str, word: &str| {
        let error = refused.unwrap_err();
        assert_eq!(error.name(), name, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    };
    let plain = || LockOptions::new().layout(plain());
    is(
        client.read_write_lock_with("x", plain()).map(drop),
        "invalid-option",
        "plain",
    );
    is(
        client.semaphore_with("x", 2, plain()).map(drop),
        "invalid-option",
        "plain",
    );
    is(client.semaphore("x", 0).map(drop), "invalid-option", "permits");
    let long = LockOptions::new().identifier("i".repeat(1025));
    is(
        client.lock_with("x", long).map(drop),
        "invalid-option",
        "identifier",
    );
    let prefix = LockOptions::new().layout(Layout::Plain { prefix: "a/b".into() });
    is(
        client.election_with("x", prefix).map(drop),
        "invalid-option",
        "a/b",
    );
    let nothing: [&str; 0] = [];
    is(client.multi_lock(nothing).map(drop), "invalid-option", "names");
    is(
        client.multi_lock(["x", "y", "x"]).map(drop),
        "invalid-option",
        "twice",
    );
    is(client.multi_lock(["x", "a//b"]).map(drop), "invalid-name", "a//b");
    for refused in [
        client.read_write_lock("").map(drop),
        client.election("").map(drop),
        client.semaphore("", 1).map(drop),
    ] {
        is(refused, "empty-name", "name");
    }
    is(client.read_write_lock("a//b").map(drop), "invalid-name", "a//b");
    let ttl = LockOptions::new().ttl(Duration::from_secs(1));
    is(client.election_with("x", ttl).map(drop), "unknown-option", "ttl");
    let longest = LockOptions::new().identifier("i".repeat(1024));
    let lock = client.lock_with(&unique("long"), longest).unwrap();
    soon(soon(lock.acquire()).await.unwrap().release()).await.unwrap();
    soon(client.close()).await.unwrap();
    for refused in [
        client.read_write_lock("x").map(drop),
        client.election("x").map(drop),
        client.semaphore("x", 1).map(drop),
    ] {
        is(refused, "client-closed", "closed");
    }
}

/// One test for each scenario, on the server at the address of the expression.
#[macro_export]
macro_rules! recipes {
    ($url:expr) => {
        $crate::recipes!($url;
            readers_share_and_writers_do_not, a_semaphore_has_its_permits, contenders_are_listed_asked_and_broken, every_kind_can_be_looked_at, every_layout_excludes_its_own_kind,
            an_earlier_foreign_contender_is_reported, options_that_make_no_sense_are_refused);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::recipes::$name(&$url).await;
            }
        )*
    };
}
