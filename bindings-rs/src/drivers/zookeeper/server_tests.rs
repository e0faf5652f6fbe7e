//! Tests each request on a real server: `python3 tests/servers run -- cargo test -p fencepost --features servers`.

use alloc::sync::Arc;
use core::{future::Future, time::Duration};

use fencepost_core::{
    Command, CommandId, SessionId, Target,
    lowered::{Notice, Outcome},
    zookeeper::{Answer, CreateMode, Notice as ZooKeeperNotice, Request, WatchEvent, Write, code},
};
use futures_util::{FutureExt, future::BoxFuture};
use zookeeper_client::Client;

use super::{connection::Made, requests, state::open_acl};
use crate::engine::driver::Completed;

const SESSION: SessionId = SessionId(7);

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what)
        .await
        .expect("it should have happened by now")
}

async fn connect() -> Client {
    let address = std::env::var("FENCEPOST_ZOOKEEPER").expect("python3 tests/servers run -- ...");
    soon(Client::connect(&address)).await.unwrap()
}

/// The result of a request, with its watch.
async fn does(client: &Client, request: Request) -> (Answer, Option<BoxFuture<'static, Notice>>) {
    let command = Command {
        id: CommandId(3),
        target: Target::Any,
        deadline: None,
        request: request.into(),
    };
    let acl = Arc::from(open_acl());
    let made = Made::given(client.clone());
    match soon(requests::start(
        Arc::clone(&made.connection),
        SESSION,
        acl,
        command,
    ))
    .await
    {
        Completed::Outcome {
            id: CommandId(3),
            outcome: Outcome::ZooKeeper(reply),
            watch,
            ..
        } if reply.session == SESSION => {
            // The watch ends with the connection, so this keeps the connection.
            let kept = watch.map(|watch| async move { (made, watch.await).1 }.boxed());
            (reply.answer, kept)
        }
        _ => panic!("no reply"),
    }
}

async fn answer(client: &Client, request: Request) -> Answer {
    does(client, request).await.0
}

async fn saw(watch: Option<BoxFuture<'static, Notice>>) -> WatchEvent {
    match soon(watch.expect("a watch")).await {
        Notice::ZooKeeper(ZooKeeperNotice::Watch {
            id: CommandId(3),
            session: SESSION,
            event,
        }) => event,
        other => panic!("{other:?}"),
    }
}

fn create(path: &str, mode: CreateMode) -> Request {
    let (path, data) = (path.into(), b"x".to_vec());
    Request::Create { path, data, mode }
}

fn directory() -> String {
    format!("/rs-{:016x}", getrandom::u64().unwrap())
}

#[tokio::test]
async fn nodes_that_go_with_their_session_and_data_that_change() {
    let (client, other) = (connect().await, connect().await);
    let path = directory();
    let created = answer(&client, create(&path, CreateMode::Ephemeral)).await;
    assert!(
        matches!(&created, Answer::Created { path: at, zxid } if *at == path && *zxid > 0),
        "{created:?}"
    );
    let again = answer(&other, create(&path, CreateMode::Ephemeral)).await;
    assert_eq!(again, Answer::Error(code::NODE_EXISTS));
    let get = Request::Get {
        path: path.clone(),
        watch: true,
    };
    let (read, changed) = does(&other, get.clone()).await;
    let Answer::Data { data, stat } = read else {
        panic!("{read:?}")
    };
    assert_eq!((data.as_slice(), stat.version), (&b"x"[..], 0));
    assert_eq!(stat.ephemeral_owner, client.session_id().0);
    assert!(stat.created > 1_600_000_000_000, "{stat:?}");
    assert_eq!((stat.mzxid, stat.modified), (stat.czxid, stat.created));
    let set = |data: &[u8]| Request::Set {
        path: path.clone(),
        data: data.into(),
    };
    assert_eq!(answer(&client, set(b"y")).await, Answer::Done);
    assert_eq!(saw(changed).await, WatchEvent::Changed);
    let (read, gone) = does(&other, get).await;
    assert!(
        matches!(&read, Answer::Data { data, stat } if data == b"y" && stat.version == 1
            && stat.mzxid > stat.czxid && stat.modified >= stat.created),
        "{read:?}"
    );
    drop(client);
    assert_eq!(saw(gone).await, WatchEvent::Deleted);
    assert_eq!(answer(&other, set(b"z")).await, Answer::Error(code::NO_NODE));
}

#[tokio::test]
async fn lists_tell_of_others() {
    let client = connect().await;
    let path = directory();
    let list = Request::Children {
        path: path.clone(),
        watch: true,
    };
    let (none, watch) = does(&client, list.clone()).await;
    assert_eq!(none, Answer::Error(code::NO_NODE));
    assert!(watch.is_none());
    answer(&client, create(&path, CreateMode::Persistent)).await;
    let (empty, changed) = does(&client, list.clone()).await;
    assert_eq!(empty, Answer::Children(Vec::new()));
    answer(&client, create(&format!("{path}/a"), CreateMode::Ephemeral)).await;
    assert_eq!(saw(changed).await, WatchEvent::Changed);
    let delete = |path: String| Request::Delete { path };
    assert_eq!(answer(&client, delete(format!("{path}/a"))).await, Answer::Done);
    let (_, gone) = does(&client, list).await;
    assert_eq!(answer(&client, delete(path)).await, Answer::Done);
    assert_eq!(saw(gone).await, WatchEvent::Deleted);
}

#[tokio::test]
async fn several_writes_are_all_or_none() {
    let client = connect().await;
    let path = directory();
    let make = |name: &str, mode| Write::Create {
        path: format!("{path}{name}"),
        data: b"x".to_vec(),
        mode,
    };
    let delete = |name: &str| delete(&format!("{path}{name}"), None);
    let multi = |writes: Vec<Write>| Request::Multi { writes };
    let list = Request::Children {
        path: path.clone(),
        watch: false,
    };
    let made = answer(
        &client,
        multi(vec![
            make("", CreateMode::Container),
            make("/n-", CreateMode::EphemeralSequential),
            make("/e", CreateMode::Ephemeral),
            delete("/e"),
            make("/n-", CreateMode::EphemeralSequential),
        ]),
    )
    .await;
    // A deletion also increases the parent's number.
    let Answer::Children(names) = &made else {
        panic!("{made:?}")
    };
    let [directory, first, gone, second] = names.as_slice() else {
        panic!("{names:?}")
    };
    assert_eq!((format!("/{directory}"), gone.as_str()), (path.clone(), "e"));
    assert!(first.starts_with("n-0") && first < second, "{names:?}");
    let refused = answer(
        &client,
        multi(vec![
            delete(&format!("/{first}")),
            make("/f", CreateMode::Persistent),
            delete("/nowhere"),
            make("/f", CreateMode::Persistent),
        ]),
    )
    .await;
    assert_eq!(refused, Answer::Error(code::NO_NODE));
    let checked = answer(&client, multi(vec![check("/", None)])).await;
    assert_eq!(checked, Answer::Children(vec![]));
    let missing = answer(&client, multi(vec![check("/nowhere", None)])).await;
    assert_eq!(missing, Answer::Error(code::NO_NODE));
    let exists = answer(&client, multi(vec![make("", CreateMode::Persistent)])).await;
    assert_eq!(exists, Answer::Error(code::NODE_EXISTS));
    let Answer::Children(mut left) = answer(&client, list).await else {
        panic!("it is there")
    };
    left.sort();
    assert_eq!(left, [first.clone(), second.clone()]);
    let tidy = multi(vec![
        delete(&format!("/{first}")),
        delete(&format!("/{second}")),
        delete(""),
    ]);
    assert_eq!(answer(&client, tidy).await, Answer::Children(Vec::new()));
}

/// The data and the version of a node.
async fn node(client: &Client, path: &str) -> (Vec<u8>, i32) {
    let get = Request::Get {
        path: path.into(),
        watch: false,
    };
    match answer(client, get).await {
        Answer::Data { data, stat } => (data, stat.version),
        other => panic!("{other:?}"),
    }
}

fn set(path: &str, data: &[u8], version: Option<i32>) -> Write {
    let (path, data) = (path.into(), data.into());
    Write::Set { path, data, version }
}

fn delete(path: &str, version: Option<i32>) -> Write {
    let path = path.into();
    Write::Delete { path, version }
}

fn check(path: &str, version: Option<i32>) -> Write {
    let path = path.into();
    Write::Check { path, version }
}

#[tokio::test]
async fn the_error_is_that_of_the_first_write_that_fails() {
    let client = connect().await;
    let path = directory();
    let (here, none) = (format!("{path}/here"), format!("{path}/none"));
    answer(&client, create(&path, CreateMode::Persistent)).await;
    answer(&client, create(&here, CreateMode::Persistent)).await;
    let exists = Write::Create {
        path: here.clone(),
        data: Vec::new(),
        mode: CreateMode::Persistent,
    };
    let rows = [
        (set(&here, b"", Some(7)), code::BAD_VERSION),
        (delete(&here, Some(7)), code::BAD_VERSION),
        (check(&here, Some(7)), code::BAD_VERSION),
        (delete(&path, None), code::NOT_EMPTY),
        (exists, code::NODE_EXISTS),
        (set(&none, b"", Some(0)), code::NO_NODE),
        (delete(&none, None), code::NO_NODE),
        (check(&none, Some(0)), code::NO_NODE),
    ];
    for (row, (bad, expected)) in rows.iter().enumerate() {
        let (other, _) = &rows[(row + 3) % rows.len()];
        for at in 0..3 {
            let mut writes = vec![
                check(&here, Some(0)),
                set(&here, b"y", Some(0)),
                check(&here, Some(1)),
            ];
            writes.splice(at..at, [bad.clone(), other.clone()]);
            let answered = answer(&client, Request::Multi { writes }).await;
            assert_eq!(answered, Answer::Error(*expected), "{bad:?} at {at}");
        }
    }
    assert_eq!(node(&client, &here).await, (b"x".to_vec(), 0));
    let writes = vec![delete(&here, Some(0)), delete(&path, Some(0))];
    let tidy = answer(&client, Request::Multi { writes }).await;
    assert_eq!(tidy, Answer::Children(vec![]));
}

#[tokio::test]
async fn a_set_among_several_writes_has_any_data() {
    let client = connect().await;
    let path = directory();
    answer(&client, create(&path, CreateMode::Persistent)).await;
    let multi = async |writes| answer(&client, Request::Multi { writes }).await;
    let mut version = 0;
    // The second one is almost the maximum that a server accepts in one packet.
    for size in [256, 1_000_000, 0] {
        let data: Vec<u8> = (0..=u8::MAX).cycle().take(size).collect();
        let sets = vec![
            set(&path, b"between", Some(version)),
            check(&path, Some(version + 1)),
            set(&path, &data, Some(version + 1)),
        ];
        version += 2;
        assert_eq!(multi(sets).await, Answer::Children(vec![]));
        assert!(node(&client, &path).await == (data, version), "{size} bytes");
    }
    assert_eq!(multi(vec![set(&path, b"", None)]).await, Answer::Children(vec![]));
    let early = multi(vec![delete(&path, Some(version))]).await;
    assert_eq!(early, Answer::Error(code::BAD_VERSION));
    assert_eq!(
        multi(vec![delete(&path, Some(version + 1))]).await,
        Answer::Children(vec![])
    );
}
