//! Keeps ZooKeeper sessions open until its input ends, for `bench/python/sessions.py`.
//! usage: sessions raw|idle|held URL NUMBER

use std::io::Write as _;

use fencepost::{Client, Grant};
use zookeeper_client as raw;

/// Any error ends the program.
type Failed = Box<dyn core::error::Error + Send + Sync>;

/// A session, and the object that keeps it open.
enum Session {
    /// A session of the client library alone, which only pings.
    Raw(#[expect(dead_code, reason = "it is kept open")] raw::Client),
    /// A client of fencepost without a lock.
    Idle(Client),
    /// A client of fencepost that holds a lock.
    Held(Client, Grant),
}

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, url, number] = arguments.as_slice() else {
        return Err("usage: sessions raw|idle|held URL NUMBER".into());
    };
    let number: usize = number.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut sessions = Vec::with_capacity(number);
    for index in 0..number {
        sessions.push(runtime.block_on(open(kind, url, index))?);
    }
    println!("ready");
    std::io::stdout().flush()?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    for session in sessions {
        runtime.block_on(close(session))?;
    }
    Ok(())
}

async fn open(kind: &str, url: &str, index: usize) -> Result<Session, Failed> {
    match kind {
        "raw" => {
            let hosts = url.trim_start_matches("zk://");
            Ok(Session::Raw(
                raw::Client::connector()
                    .with_session_timeout(core::time::Duration::from_secs(10))
                    .connect(hosts)
                    .await?,
            ))
        }
        "idle" => {
            let client = fencepost::connect(url).await?;
            // A client by address connects at its first request.
            let lock = client.lock(&format!("sessions/{index}"))?;
            lock.acquire().await?.release().await?;
            Ok(Session::Idle(client))
        }
        "held" => {
            let client = fencepost::connect(url).await?;
            let grant = client.lock(&format!("sessions/{index}"))?.acquire().await?;
            Ok(Session::Held(client, grant))
        }
        _ => Err("raw, idle or held".into()),
    }
}

async fn close(session: Session) -> Result<(), Failed> {
    match session {
        Session::Raw(_) => {}
        Session::Idle(client) => client.close().await?,
        Session::Held(client, grant) => {
            grant.release().await?;
            client.close().await?;
        }
    }
    Ok(())
}
