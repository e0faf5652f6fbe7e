//! A relay to a server. A test can direct it to another server, like a DNS name, and make it silent, like a network
//! fault.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

/// Which connections are silent.
#[derive(Clone, Copy)]
enum Silence {
    None,
    /// This one, by its number.
    Of(usize),
    /// All connections, present and later ones.
    All,
}

impl Silence {
    fn is_of(self, number: usize) -> bool {
        match self {
            Self::None => false,
            Self::Of(silent) => silent == number,
            Self::All => true,
        }
    }
}

/// When it is dropped, it accepts no more connections.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<String>>,
    silent: watch::Sender<Silence>,
    accepted: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(server: String) -> Self {
        Self::at("127.0.0.1:0", server).await
    }

    /// The same at another address than the IPv4 address.
    pub(crate) async fn at(address: &str, server: String) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(server));
        let (silent, _) = watch::channel(Silence::None);
        let accepted = Arc::<AtomicUsize>::default();
        let accepting = tokio::spawn({
            let (target, silent, accepted) = (Arc::clone(&target), silent.clone(), Arc::clone(&accepted));
            async move {
                for number in 0.. {
                    let (near, _) = listener.accept().await.unwrap();
                    accepted.fetch_add(1, Ordering::Relaxed);
                    let server = target.lock().unwrap().clone();
                    let far = TcpStream::connect(server).await.unwrap();
                    let (near, far) = (near.into_split(), far.into_split());
                    tokio::spawn(pass(near.0, far.1, number, silent.subscribe()));
                    tokio::spawn(pass(far.0, near.1, number, silent.subscribe()));
                }
            }
        });
        Self {
            address,
            target,
            silent,
            accepted,
            accepting,
        }
    }

    /// Directs new connections to another server. Existing connections do not change.
    pub(crate) fn turn(&self, server: String) {
        *self.target.lock().unwrap() = server;
    }

    /// Makes a connection silent, and keeps it open. The first connection has the number 0.
    pub(crate) fn silence(&self, number: usize) {
        self.silent.send_replace(Silence::Of(number));
    }

    /// Makes all connections silent. New ones are accepted, and are silent, too.
    pub(crate) fn silence_all(&self) {
        self.silent.send_replace(Silence::All);
    }

    /// The number of connections that it has accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: usize,
    mut silent: watch::Receiver<Silence>,
) {
    let mut bytes = [0; 4096];
    loop {
        tokio::select! {
            asked = async { silent.wait_for(|silent| silent.is_of(number)).await.is_ok() } => {
                if !asked {
                    return;
                }
                // The connection stays silent and open until the other end closes it.
                while from.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
                return;
            }
            read = from.read(&mut bytes) => match read {
                Ok(read) if read > 0 && to.write_all(&bytes[..read]).await.is_ok() => {}
                _ => return,
            },
        }
    }
}
