//! A client of the library, with its task.
//!
//! The library has no call that ends its connection. It disconnects from a silent server only after two fifths of the
//! session timeout, and may then try the same server again. But the caller decides where the library spawns its task.
//! So the driver keeps that task, and can end it together with its socket.

use alloc::sync::Arc;
use core::{cell::RefCell, future::poll_fn};

use futures_util::FutureExt;
use spawns_core::{Spawn, Task};
use tokio::{sync::watch, task::JoinHandle};
use zookeeper_client::{Client, Connector, Error, StateWatcher};

/// Sends requests.
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

/// A client, with its task, which the driver needs to end the connection.
pub(super) struct Made {
    pub(super) connection: Arc<Connection>,
    /// The server that it is connected to, if the driver has chosen it. The library then knows no other server.
    pub(super) host: Option<String>,
    /// The changes of its state since it was made.
    pub(super) states: StateWatcher,
    ended: watch::Sender<()>,
    task: Option<JoinHandle<()>>,
}

impl Made {
    /// A client of the program. Its task belongs to the program, too.
    pub(super) fn given(client: Client) -> Self {
        Self::new(client, None, None)
    }

    /// Makes a client for these hosts.
    pub(super) async fn connect(connector: Connector, hosts: &str) -> Result<Self, Error> {
        let spawner = Spawner::default();
        let hosts = hosts.to_owned();
        let mut connecting = async move { connector.connect(&hosts).await }.boxed();
        // The scope belongs to this thread, but a task may continue on another one.
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
        let states = client.state_watcher();
        Self {
            connection: Arc::new(Connection { client, ended }),
            host,
            states,
            ended: sender,
            task,
        }
    }

    /// Ends the connection and leaves the session. After this, the library sends nothing more for the session.
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
        // Not earlier: if the client is dropped while its task runs, the task closes the session.
        drop(connection);
    }
}

/// Receives the task that the library spawns.
#[derive(Default)]
struct Spawner(RefCell<Option<JoinHandle<()>>>);

impl Spawn for Spawner {
    fn spawn(&self, task: Task) {
        self.0.replace(Some(tokio::spawn(Box::into_pin(task.future))));
    }
}
