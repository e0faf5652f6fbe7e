//! Converts commands to requests of the library.

use alloc::sync::Arc;
use core::future::Future;

use fencepost_core::{
    Command, CommandId, SessionId,
    lowered::{ANY_VERSION, Notice, Operation, Outcome, Request, flags},
    zookeeper::{Answer, Notice as ZooKeeperNotice, Reply, Stat, WatchEvent},
};
use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use zookeeper_client::{Acl, Acls, Client, CreateMode, Error, EventType, MultiWriteResult, OneshotWatcher};

use super::{connection::Connection, errors};
use crate::engine::driver::Completed;

/// Starts a command. When this returns, the request is in the library's queue.
pub(super) fn start(
    connection: Arc<Connection>,
    session: SessionId,
    acl: Arc<[Acl]>,
    command: Command<Request>,
) -> BoxFuture<'static, Completed> {
    let Command { id, request, .. } = command;
    match request.operation {
        Operation::Create => now(async move {
            let mode = mode(request.flags);
            let numbered = mode == CreateMode::EphemeralSequential;
            let options = mode.with_acls(acls(&acl));
            let created = connection
                .client
                .create(&request.path, &request.data, &options)
                .await;
            let answer = created.map(|(stat, sequence)| Answer::Created {
                path: if numbered {
                    format!("{}{sequence}", request.path)
                } else {
                    request.path
                },
                zxid: stat.czxid,
            });
            completed(id, session, answer)
        }),
        Operation::Children if request.flags & flags::WATCH != 0 => now(async move {
            match connection.client.list_and_watch_children(&request.path).await {
                Ok((children, watcher)) => {
                    let listed = completed(id, session, Ok(Answer::Children(children)));
                    with_watch(listed, id, session, watcher, &connection)
                }
                Err(error) => completed(id, session, Err(error)),
            }
        }),
        Operation::Children => now(async move {
            let children = connection.client.list_children(&request.path).await;
            completed(id, session, children.map(Answer::Children))
        }),
        Operation::Get if request.flags & flags::WATCH != 0 => now(async move {
            match connection.client.get_and_watch_data(&request.path).await {
                Ok((data, stat, watcher)) => with_watch(
                    completed(id, session, Ok(answer(data, &stat))),
                    id,
                    session,
                    watcher,
                    &connection,
                ),
                Err(error) => completed(id, session, Err(error)),
            }
        }),
        Operation::Get => now(async move {
            let read = connection.client.get_data(&request.path).await;
            completed(id, session, read.map(|(data, stat)| answer(data, &stat)))
        }),
        Operation::Set => now(async move {
            let set = connection
                .client
                .set_data(&request.path, &request.data, None)
                .await;
            completed(id, session, set.map(|_stat| Answer::Done))
        }),
        Operation::Delete => now(async move {
            let deleted = connection.client.delete(&request.path, None).await;
            completed(id, session, deleted.map(|()| Answer::Done))
        }),
        Operation::Sync => now(async move {
            let synced = connection.client.sync(&request.path).await;
            completed(id, session, synced.map(|()| Answer::Done))
        }),
        Operation::Multi => {
            now(async move { completed(id, session, multi(&connection.client, &acl, &request.parts).await) })
        }
        // An operation of Redis or of a later core, which a ZooKeeper server does not have.
        _ => future::ready(completed(id, session, Err(Error::Unimplemented))).boxed(),
    }
}

/// The mode of a create.
const fn mode(flags: u32) -> CreateMode {
    if flags & flags::EPHEMERAL_SEQUENTIAL != 0 {
        CreateMode::EphemeralSequential
    } else if flags & flags::EPHEMERAL != 0 {
        CreateMode::Ephemeral
    } else if flags & flags::CONTAINER != 0 {
        CreateMode::Container
    } else {
        CreateMode::Persistent
    }
}

/// Executes several writes, all or none. Returns the names of the created nodes. The server's other results are not
/// reliable here (ZOOKEEPER-4667).
async fn multi(client: &Client, acl: &[Acl], parts: &[Request]) -> Result<Answer, Error> {
    let mut writer = client.new_multi_writer();
    for part in parts {
        let version = (part.version != ANY_VERSION).then_some(part.version);
        match part.operation {
            Operation::Create => {
                let options = mode(part.flags).with_acls(acls(acl));
                writer.add_create(&part.path, &part.data, &options)?;
            }
            Operation::Set => writer.add_set_data(&part.path, &part.data, version)?,
            Operation::Delete => writer.add_delete(&part.path, version)?,
            Operation::Check => writer.add_check_version(&part.path, part.version)?,
            _ => return Err(Error::Unimplemented),
        }
    }
    // The library returns the error of the first part that fails, and leaves out the parts after it.
    let done = writer.commit().await?;
    let names = done.into_iter().filter_map(|part| match part {
        MultiWriteResult::Create { path, .. } => path.rsplit('/').next().map(Into::into),
        _ => None,
    });
    Ok(Answer::Children(names.collect()))
}

/// Polls a request once, which puts it into the library's queue.
fn now(request: impl Future<Output = Completed> + Send + 'static) -> BoxFuture<'static, Completed> {
    let mut request = request.boxed();
    match (&mut request).now_or_never() {
        Some(completed) => future::ready(completed).boxed(),
        None => request,
    }
}

/// An ACL in the form of the library's requests.
fn acls(acl: &[Acl]) -> Acls<'_> {
    Acls::new(acl)
}

fn answer(data: Vec<u8>, stat: &zookeeper_client::Stat) -> Answer {
    let stat = Stat {
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        ephemeral_owner: stat.ephemeral_owner,
        version: stat.version,
        created: stat.ctime,
        modified: stat.mtime,
    };
    Answer::Data { data, stat }
}

fn completed(id: CommandId, session: SessionId, answer: Result<Answer, Error>) -> Completed {
    let (outcome, native) = match answer {
        Ok(answer) => (Outcome::ZooKeeper(Reply { session, answer }), None),
        Err(error) => (errors::outcome(session, &error), Some(Arc::new(error) as _)),
    };
    Completed::outcome(id, outcome, native)
}

fn with_watch(
    completed: Completed,
    id: CommandId,
    session: SessionId,
    watcher: OneshotWatcher,
    connection: &Connection,
) -> Completed {
    // The library's future panics if its runtime is shut down. The driver reports this as a lost watch.
    let fired = core::panic::AssertUnwindSafe(watcher.changed()).catch_unwind();
    let ended = connection.ended();
    let watch = async move {
        let fired = tokio::select! {
            biased;
            () = ended => None,
            fired = fired => fired.ok(),
        };
        let event = match fired.map(|event| event.event_type) {
            Some(EventType::NodeDeleted) => WatchEvent::Deleted,
            Some(EventType::NodeDataChanged | EventType::NodeChildrenChanged) => WatchEvent::Changed,
            Some(_) | None => WatchEvent::Gone,
        };
        Notice::ZooKeeper(ZooKeeperNotice::Watch { id, session, event })
    };
    match completed {
        Completed::Outcome {
            id, outcome, native, ..
        } => Completed::Outcome {
            id,
            outcome,
            native,
            watch: Some(watch.boxed()),
        },
        other => other,
    }
}
