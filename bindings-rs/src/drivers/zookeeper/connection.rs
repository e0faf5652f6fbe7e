//! A client of the library's, with the task that serves it.
//!
//! The library has no call that ends its connection. It leaves a silent server only after two fifths of the session's timeout, and may look for
//! the next connection at the same server. But it spawns its task where its caller says. So the driver has that task, and ends it with its socket.

use alloc::sync::Arc;
use core::{cell::RefCell, future::poll_fn};

use futures_util::FutureExt;
use spawns_core::{Spawn, Task};
use tokio::{sync::watch, task::JoinHandle};
use zookeeper_client::{Client, Connector, Error};

/// What requests are sent on.
pub(super) struct Connection {
    pub(super) client: Client,
    ended: watch::Receiver<()>,
}

impl Connection {
    /// Completes when the driver has ended this connection. The library's watches panic then.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.ended.clone();
        async move { while ended.changed().await.is_ok() {} }
    }
}

/// A client, and what it takes to end its connection.
pub(super) struct Made {
    pub(super) connection: Arc<Connection>,
    /// The server that it is connected to, if the driver has chosen it. The library knows no other one then.
    pub(super) host: Option<String>,
    ended: watch::Sender<()>,
    task: Option<JoinHandle<()>>,
}

impl Made {
    /// A client of the program's. Its task is the program's, too.
    pub(super) fn given(client: Client) -> Self {
        Self::new(client, None, None)
    }

    /// A client of these hosts.
    pub(super) async fn connect(connector: Connector, hosts: &str) -> Result<Self, Error> {
        let spawner = Spawner::default();
        let hosts = hosts.to_owned();
        let mut connecting = async move { connector.connect(&hosts).await }.boxed();
        // The scope is this thread's, and a task may go on on another one.
        let connected = poll_fn(move |cx| {
            let _scope = spawns_core::enter(&spawner);
            connecting
                .poll_unpin(cx)
                .map_ok(|client| (client, spawner.0.take()))
        });
        let (client, task) = connected.await?;
        Ok(Self::new(client, None, task))
    }

    fn new(client: Client, host: Option<String>, task: Option<JoinHandle<()>>) -> Self {
        let (sender, ended) = watch::channel(());
        Self {
            connection: Arc::new(Connection { client, ended }),
            host,
            ended: sender,
            task,
        }
    }

    /// Ends the connection and leaves the session: when this returns, the library does nothing more for it.
    pub(super) async fn cut(self) {
        let Self {
            connection,
            ended,
            task,
            ..
        } = self;
        drop(ended);
        if let Some(task) = task {
            task.abort();
            let _cancelled = task.await;
        }
        // Not before: a task that goes on when its client is dropped closes the session.
        drop(connection);
    }
}

/// Takes the task that the library spawns.
#[derive(Default)]
struct Spawner(RefCell<Option<JoinHandle<()>>>);

impl Spawn for Spawner {
    fn spawn(&self, task: Task) {
        self.0.replace(Some(tokio::spawn(Box::into_pin(task.future))));
    }
}
