//! Servers that become silent without closing their connections.

use std::time::Duration;

use fencepost::Grant;
use futures_util::future::join_all;

use crate::{
    ONE_AT_A_TIME,
    control::{ensemble, path_of, until, variable},
    relay::Relay,
    scenarios::{soon, unique, waits},
};

const SESSION: Duration = Duration::from_secs(10);

/// Waits until the client has proved the session of a grant once more.
async fn proved(grant: &Grant) {
    let mut before = grant.remaining();
    until(|| {
        let now = grant.remaining();
        let grown = now > before;
        before = now;
        std::future::ready(grown)
    })
    .await;
}

/// A session with two members of the ensemble. The first one becomes silent at this time after a proof.
async fn falls_silent(at: &str, after: Duration) {
    let members = variable("FENCEPOST_ZOOKEEPER_ENSEMBLE");
    let mut members = members.split(',').map(ToOwned::to_owned);
    let relays = [
        Relay::to(members.next().unwrap()).await,
        Relay::to(members.next().unwrap()).await,
    ];
    let url = format!(
        "zk://{},{}{}?session_timeout={}",
        relays[0].address,
        relays[1].address,
        path_of(at),
        SESSION.as_millis()
    );
    let (far, near) = (
        fencepost::connect(&url).await.unwrap(),
        fencepost::connect(at).await.unwrap(),
    );
    let name = unique("silent");
    let grant = soon(far.lock(&name).unwrap().acquire()).await.unwrap();
    // The same client waits for another lock, with a watch.
    let theirs = soon(near.lock("theirs").unwrap().acquire()).await.unwrap();
    let wanted = far.lock("theirs").unwrap();
    let waiting = tokio::spawn(async move { wanted.acquire().await });
    let [silent, _] = relays.each_ref().map(Relay::accepted);
    let (silent, other) = if silent > 0 { (0, 1) } else { (1, 0) };
    assert_eq!((relays[silent].accepted(), relays[other].accepted()), (1, 0));

    proved(&grant).await;
    tokio::time::sleep(after).await;
    relays[silent].silence_all();
    relays[silent].silence_all();
    let lost = tokio::time::timeout(SESSION * 3 / 2, grant.lost()).await;
    assert!(lost.is_err(), "{after:?}: {lost:?}");
    assert!(grant.is_valid());
    // The library may also begin to connect there before the driver ends it.
    let accepted = relays[other].accepted();
    assert!((1..=2).contains(&accepted), "{accepted}");
    soon(theirs.release()).await.unwrap();
    soon(soon(waiting).await.unwrap().unwrap().release())
        .await
        .unwrap();
    // The session was the same all the time.
    assert!(waits(near.lock(&name).unwrap().acquire()).await);
    soon(grant.release()).await.unwrap();
    soon(soon(near.lock(&name).unwrap().acquire()).await.unwrap().release())
        .await
        .unwrap();
    soon(far.close()).await.unwrap();
    soon(near.close()).await.unwrap();
}

#[tokio::test]
async fn a_zookeeper_server_that_falls_silent_costs_no_grant() {
    let _alone = ONE_AT_A_TIME.lock().await;
    // Two probes are a third of the session's timeout apart. Each phase occurs several times, because the library
    // chooses the servers in random order.
    let phases = [0, 1600, 3100].repeat(3);
    let silent = phases.into_iter().map(|after| async move {
        falls_silent(&ensemble(), Duration::from_millis(after)).await;
    });
    join_all(silent).await;
}
