//! Acquires fencepost's locks on command: the protocol is in ../../README.md.
//! usage: peer LAYOUT HOSTS SESSION_MS [LOGIN]

mod belief;
mod counter;
mod hold;
mod look;
mod password;
mod recipes;
mod worker;
mod workload;

use std::{io::BufRead as _, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use zookeeper_client::{Acl, AuthId, Permission};

use look::Look;
use recipes::Recipes;
use worker::{Waiting, Worker};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Prints one line in one write, from any task.
fn say(line: &Value) {
    println!("{line}");
}

/// Answers a command.
fn reply(command: &str, answer: Result<Value, Failed>) {
    let line = match answer {
        Ok(Value::Object(mut fields)) => {
            fields.insert("answer".into(), command.into());
            fields.insert("ok".into(), true.into());
            Value::Object(fields)
        }
        Ok(other) => json!({"answer": command, "ok": true, "value": other}),
        Err(error) => json!({"answer": command, "ok": false, "error": error.to_string()}),
    };
    say(&line);
}

/// The commands that the peer answers while it waits for locks.
async fn now(
    words: &[String],
    look: &Look,
    recipes: &Arc<Recipes>,
    waiting: &Waiting,
) -> Result<Value, Failed> {
    match words {
        [verb] if verb == "session" => recipes.session(look).await,
        [verb] if verb == "stop" => {
            waiting.stop();
            Ok(json!({}))
        }
        [verb, kind, path] if verb == "wait" => {
            tokio::spawn(wait(Arc::clone(recipes), kind.clone(), path.clone()));
            Ok(json!({}))
        }
        [verb, node] if verb == "revoke" => recipes.revoke(node).await,
        [verb] if verb == "cancel" => Ok(json!({"cancelled": waiting.cancel()})),
        [verb, kind, path] if verb == "contenders" => {
            Ok(json!({"nodes": look.contenders(recipes.layout(), kind, path).await?}))
        }
        _ => Err("no such command of ours; see tests/interop/README.md".into()),
    }
}

/// Acquires a lock concurrently with all other commands, reports the time of the grant, and releases it.
async fn wait(recipes: Arc<Recipes>, kind: String, path: String) {
    let granted = async {
        let grant = recipes.acquire(&kind, &path, None).await?.ok_or("not granted")?;
        let at = belief::now();
        let fence = grant.fence().unwrap_or_default().to_string();
        say(&json!({"event": "granted", "path": path, "czxid": fence, "at": at}));
        grant.release().await?;
        Ok::<(), Failed>(())
    };
    if let Err(error) = granted.await {
        say(&json!({"event": "failed", "path": path, "error": error.to_string()}));
    }
}

/// A client on a connection that the peer makes. Only its user may change its nodes; all users may read them.
async fn given(hosts: &str, session_ms: &str, login: &str) -> Result<fencepost::Client, Failed> {
    let timeout = Duration::from_millis(session_ms.parse()?);
    let theirs = zookeeper_client::Client::connector()
        .with_session_timeout(timeout)
        .with_auth("digest", login.as_bytes())
        .connect(hosts)
        .await?;
    let acl = [
        Acl::new(Permission::ALL, AuthId::authed()),
        Acl::new(Permission::READ, AuthId::anyone()),
    ];
    Ok(fencepost::Client::builder().acl(acl).from_zookeeper(theirs)?)
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (layout, hosts, client) = match arguments.as_slice() {
        [layout, hosts, session_ms] => {
            let url = format!("zk://{hosts}?session_timeout={session_ms}");
            (layout, hosts, fencepost::connect(&url).await?)
        }
        [layout, hosts, session_ms, login] => (layout, hosts, given(hosts, session_ms, login).await?),
        _ => return Err("usage: peer LAYOUT HOSTS SESSION_MS [LOGIN]".into()),
    };
    let look = Arc::new(Look::new(hosts).await?);
    let recipes = Arc::new(Recipes::new(client.clone(), layout)?);
    say(
        &json!({"answer": "ready", "ok": true, "peer": format!("rust-{layout}"), "version": env!("CARGO_PKG_VERSION")}),
    );
    let (later, orders) = mpsc::unbounded_channel();
    let waiting = Arc::new(Waiting::default());
    let worker = Worker::new(Arc::clone(&recipes), Arc::clone(&look), Arc::clone(&waiting));
    tokio::spawn(worker.run(orders));
    let (lines, mut commands) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
            if lines.send(words).is_err() {
                return;
            }
        }
    });
    while let Some(words) = commands.recv().await {
        match words.first().map(String::as_str) {
            None => {}
            Some("quit") => break,
            Some("acquire" | "release" | "downgrade" | "increment" | "work" | "workload") => {
                waiting.asked(&words);
                later.send(words)?;
            }
            Some(verb) => reply(verb, now(&words, &look, &recipes, &waiting).await),
        }
    }
    client.close().await?;
    // A thread that still reads standard input would keep the process alive.
    std::process::exit(0);
}
