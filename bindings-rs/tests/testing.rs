//! Control over `memory:NAME`, and its effects on clients.

use core::time::Duration;

use fencepost::{
    Client, Error, Loss, Misuse, connect,
    testing::{MemoryServer, MessageKind, SessionState},
};

async fn pair(name: &str) -> (MemoryServer, Client, Client) {
    let address = format!("memory:{name}");
    let server = MemoryServer::open(&address).unwrap();
    let clients = (connect(&address).await.unwrap(), connect(&address).await.unwrap());
    (server, clients.0, clients.1)
}

#[tokio::test]
async fn an_expired_session_passes_the_lock_on() {
    let (server, holder, other) = pair("expired").await;
    let grant = holder.lock("stock").unwrap().acquire().await.unwrap();
    let session = server.session(&holder).unwrap();
    let before = session.id().unwrap();
    let lock = other.lock("stock").unwrap();
    let waiting = tokio::spawn(async move { lock.acquire().await });
    session.expire().unwrap();
    assert_eq!(grant.lost().await.reason(), Loss::SessionExpired);
    let next = waiting.await.unwrap().unwrap();
    assert!(next.fence() > grant.fence());
    assert_ne!(session.id().unwrap(), before);
    assert_eq!(session.state().unwrap(), SessionState::Connected);
}

#[tokio::test]
async fn a_suspended_client_keeps_its_grant() {
    let (server, holder, other) = pair("suspended").await;
    let grant = holder.lock("stock").unwrap().acquire().await.unwrap();
    let session = server.session(&holder).unwrap();
    session.suspend().unwrap();
    assert_eq!(session.state().unwrap(), SessionState::Suspended);
    assert!(
        other
            .lock("stock")
            .unwrap()
            .try_acquire()
            .await
            .unwrap()
            .is_none()
    );
    session.reconnect().unwrap();
    grant.release().await.unwrap();
    session.suspend().unwrap();
    session.expire().unwrap();
    assert_eq!(session.state().unwrap(), SessionState::Expired);
    session.reconnect().unwrap();
    let _grant = holder.lock("stock").unwrap().acquire().await.unwrap();
}

#[tokio::test]
async fn a_paused_holder_believes_in_its_grant() {
    let (server, holder, other) = pair("paused").await;
    let late = holder.lock("stock").unwrap().acquire().await.unwrap();
    let session = server.session(&holder).unwrap();
    session.pause().unwrap();
    session.expire().unwrap();
    let next = other.lock("stock").unwrap().acquire().await.unwrap();
    assert!(late.is_valid() && late.fence() < next.fence());
    assert!(session.is_paused().unwrap());
    session.resume().unwrap();
    assert_eq!(late.lost().await.reason(), Loss::SessionExpired);
}

#[tokio::test]
async fn a_paused_client_closes() {
    let (server, holder, other) = pair("closing").await;
    let _grant = holder.lock("stock").unwrap().acquire().await.unwrap();
    let session = server.session(&holder).unwrap();
    session.pause().unwrap();
    holder.close().await.unwrap();
    let _grant = other.lock("stock").unwrap().acquire().await.unwrap();
    for refused in [session.expire(), session.resume(), session.state().map(drop)] {
        assert!(
            matches!(refused, Err(Error::Misuse(Misuse::Closed))),
            "{refused:?}"
        );
    }
    assert!(matches!(
        server.session(&holder),
        Err(Error::Misuse(Misuse::Closed))
    ));
    assert_eq!(server.sessions().len(), 1);
}

#[tokio::test]
async fn a_session_timeout_is_the_clients_own() {
    let server = MemoryServer::open("memory:short").unwrap();
    let client = connect("memory:short?session_timeout=300").await.unwrap();
    let grant = client.lock("stock").unwrap().acquire().await.unwrap();
    assert!(grant.remaining() < Duration::from_millis(300));
    let session = server.session(&client).unwrap();
    session.suspend().unwrap();
    assert_eq!(grant.lost().await.reason(), Loss::LeaseEnded);
    session.reconnect().unwrap();
}

#[tokio::test]
async fn a_server_tells_what_it_has_and_what_was_sent() {
    let (server, client, _other) = pair("told").await;
    assert_eq!(server.messages(0), []);
    server.record(true);
    let grant = client.lock("stock").unwrap().acquire().await.unwrap();
    let hub = server.session(&client).unwrap().hub();
    let own: Vec<_> = server
        .nodes()
        .into_iter()
        .filter(|node| node.hub == Some(hub))
        .collect();
    assert!(own.len() == 1 && own[0].path.starts_with("/stock/"), "{own:?}");
    grant.release().await.unwrap();
    let messages = server.messages(0);
    let created = messages.iter().find(|message| message.name == "created").unwrap();
    assert_eq!((created.kind, created.hub), (MessageKind::Reply, hub));
    assert_eq!(
        server.messages(created.number).len() as u64,
        messages.len() as u64 - created.number
    );
}

#[tokio::test]
async fn what_is_no_server_or_client_of_it_is_refused() {
    for url in ["memory:", "redis://localhost", "memory:a/b", "shop"] {
        let refused = MemoryServer::open(url);
        assert!(matches!(refused, Err(Error::Config(_))), "{refused:?}");
    }
    let server = MemoryServer::open("memory:refused").unwrap();
    let other = connect("memory:").await.unwrap();
    let refused = server.session(&other);
    assert!(
        matches!(&refused, Err(Error::Config(why)) if why.code() == 110),
        "{refused:?}"
    );
}
