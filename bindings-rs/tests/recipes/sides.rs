//! Owners and the two sides of a read/write lock. Each test runs on memory: and on ZooKeeper.

use fencepost::{Client, Layout, Lock, LockOptions, ReadWriteLock};

use crate::{
    reentry::{close, held, of, two},
    scenarios::{soon, unique, waits},
};

/// The same lock with an owner, and on another client without an owner.
async fn sides(url: &str) -> (ReadWriteLock, ReadWriteLock, [Client; 2]) {
    let name = unique("prices");
    let (a, b) = two(url).await;
    let mine = a.read_write_lock_with(&name, of("request-17")).unwrap();
    let theirs = b.read_write_lock(&name).unwrap();
    (mine, theirs, [a, b])
}

async fn is_free(lock: &Lock) -> bool {
    soon(lock.try_acquire()).await.unwrap().is_some()
}

pub(crate) async fn each_side_enters_itself(url: &str) {
    let (mine, theirs, clients) = sides(url).await;
    for side in [mine.reader(), mine.writer()] {
        let (outer, inner) = (held(side).await, held(side).await);
        assert_eq!(outer.fence(), inner.fence());
        assert_eq!(soon(side.contenders()).await.unwrap().len(), 1);
        soon(outer.release()).await.unwrap();
        assert!(!is_free(theirs.writer()).await);
        soon(inner.release()).await.unwrap();
        let next = held(theirs.writer()).await;
        soon(next.release()).await.unwrap();
    }
    close(clients).await;
}

pub(crate) async fn a_writer_reads_and_becomes_a_reader(url: &str) {
    let (mine, theirs, clients) = sides(url).await;
    for dropped in [false, true] {
        let writer = held(mine.writer()).await;
        let share = held(mine.reader()).await;
        let again = held(mine.writer()).await;
        assert_eq!((writer.fence(), writer.fence()), (share.fence(), again.fence()));
        let found = soon(mine.reader().contenders()).await.unwrap();
        assert!(found.len() == 1 && !found[0].shared, "{found:?}");
        let mut reading = tokio::spawn({
            let reader = theirs.reader().clone();
            async move { reader.acquire().await }
        });
        assert!(waits(&mut reading).await);
        soon(writer.release()).await.unwrap();
        // The owner is still a writer.
        assert!(waits(&mut reading).await);
        if dropped {
            drop(again);
        } else {
            soon(again.release()).await.unwrap();
        }
        let other = soon(reading).await.unwrap().unwrap();
        assert!(share.is_valid());
        let found = soon(mine.reader().contenders()).await.unwrap();
        assert!(
            found.len() == 2 && found.iter().all(|one| one.shared && one.holds),
            "{found:?}"
        );
        let error = soon(mine.writer().acquire()).await.unwrap_err();
        assert_eq!(error.name(), "upgrade");
        // From now on, the grant is a reader's.
        let more = held(mine.reader()).await;
        assert_eq!(more.fence(), share.fence());
        soon(share.release()).await.unwrap();
        soon(other.release()).await.unwrap();
        assert!(!is_free(theirs.writer()).await);
        soon(more.release()).await.unwrap();
        let next = held(theirs.writer()).await;
        soon(next.release()).await.unwrap();
    }
    close(clients).await;
}

pub(crate) async fn readers_get_in_at_a_downgrade_and_writers_do_not(url: &str) {
    for layout in [Layout::Curator, Layout::Kazoo] {
        let name = unique("prices");
        let (a, b) = two(url).await;
        let with = || LockOptions::new().layout(layout.clone());
        let mine = a
            .read_write_lock_with(&name, with().identifier("till-7"))
            .unwrap();
        let theirs = b.read_write_lock_with(&name, with()).unwrap();
        let grant = held(mine.writer()).await;
        let fence = grant.fence();
        let mut reading = tokio::spawn({
            let reader = theirs.reader().clone();
            async move { reader.acquire().await }
        });
        assert!(waits(&mut reading).await);
        let mut writing = tokio::spawn({
            let writer = theirs.writer().clone();
            async move { writer.acquire().await }
        });
        assert!(waits(&mut writing).await);
        soon(grant.downgrade()).await.unwrap();
        let reader = soon(reading).await.unwrap().unwrap();
        assert!(waits(&mut writing).await);
        assert!(grant.is_valid() && waits(grant.lost()).await);
        assert_eq!(grant.fence(), fence);
        let found = soon(theirs.reader().contenders()).await.unwrap();
        let readers: Vec<_> = found.iter().filter(|one| one.shared && one.holds).collect();
        assert!(found.len() == 3 && readers.len() == 2, "{found:?}");
        assert!(
            readers
                .iter()
                .any(|one| one.identifier == "till-7" && Some(one.fence) > fence),
            "{found:?}"
        );
        soon(grant.extend()).await.unwrap();
        let error = soon(grant.downgrade()).await.unwrap_err();
        assert_eq!((error.code(), error.name()), (210, "not-a-writer"));
        // The writer waits for both.
        soon(reader.release()).await.unwrap();
        assert!(waits(&mut writing).await);
        soon(grant.release()).await.unwrap();
        let next = soon(writing).await.unwrap().unwrap();
        assert!(next.fence() > fence);
        soon(next.release()).await.unwrap();
        assert_eq!(soon(theirs.reader().contenders()).await.unwrap(), []);
        close([a, b]).await;
    }
}

pub(crate) async fn a_writer_whose_client_is_closed_is_not_downgraded(url: &str) {
    let client = fencepost::connect(url).await.unwrap();
    let both = client.read_write_lock(&unique("prices")).unwrap();
    let grant = held(both.writer()).await;
    soon(client.close()).await.unwrap();
    let error = soon(grant.downgrade()).await.unwrap_err();
    assert_eq!(error.name(), "lost-connection-closed");
}

pub(crate) async fn a_downgrade_whose_caller_has_gone_goes_on(url: &str) {
    let (mine, theirs, clients) = sides(url).await;
    let grant = held(mine.writer()).await;
    let mut downgrade = Box::pin(grant.downgrade());
    let _begun = futures_util::poll!(&mut downgrade);
    drop(downgrade);
    let other = held(theirs.reader()).await;
    assert!(grant.is_valid());
    soon(other.release()).await.unwrap();
    // A downgrade in progress does not prevent a release.
    soon(grant.release()).await.unwrap();
    let grant = held(mine.writer()).await;
    let mut downgrade = Box::pin(grant.downgrade());
    let _begun = futures_util::poll!(&mut downgrade);
    drop(downgrade);
    soon(grant.release()).await.unwrap();
    let next = held(theirs.writer()).await;
    soon(next.release()).await.unwrap();
    close(clients).await;
}

/// One test for each scenario, on the server at the address of the expression.
#[macro_export]
macro_rules! sides {
    ($url:expr) => {
        $crate::sides!($url;
            each_side_enters_itself, a_writer_reads_and_becomes_a_reader, readers_get_in_at_a_downgrade_and_writers_do_not,
            a_writer_whose_client_is_closed_is_not_downgraded, a_downgrade_whose_caller_has_gone_goes_on);
    };
    ($url:expr; $($name:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::recipes::sides::$name(&$url).await;
            }
        )*
    };
}
