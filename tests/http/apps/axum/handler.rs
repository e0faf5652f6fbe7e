//! The handler: its effects and its responses. `tests/http/README.md` describes both.

use std::{collections::HashMap, convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use fencepost::Claim;
use futures_util::stream;
use redis::{AsyncCommands as _, AsyncConnectionConfig, RedisResult, aio::MultiplexedConnection};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// How long the handler waits at its gate.
const LIMIT: Duration = Duration::from_secs(60);
const PIECE: &str = "piece\n";

/// The server for the handler's traces.
#[derive(Clone)]
pub(crate) struct Effects {
    client: redis::Client,
    shared: MultiplexedConnection,
}

impl Effects {
    pub(crate) async fn connect(address: &str) -> RedisResult<Self> {
        let client = redis::Client::open(address)?;
        let shared = client.get_multiplexed_async_connection().await?;
        Ok(Self { client, shared })
    }

    /// Each waits on its own connection, because a blocking pop would delay other commands.
    async fn wait_at_gate(&self, id: &str) {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(2 * LIMIT));
        let own = self
            .client
            .get_multiplexed_async_connection_with_config(&config)
            .await;
        let opened: RedisResult<Option<(String, String)>> = own
            .unwrap()
            .blpop(format!("http:{id}:gate"), LIMIT.as_secs_f64())
            .await;
        opened.unwrap();
    }

    pub(crate) async fn handle(&self, query: &str, body: &[u8], claim: Option<&Claim>) -> Response {
        let query: HashMap<_, _> = query.split('&').filter_map(|part| part.split_once('=')).collect();
        let id = query["id"];
        let is_gated = query.get("gate") == Some(&"1");
        let pieces: usize = query.get("pieces").map_or(0, |pieces| pieces.parse().unwrap());
        let size: Option<usize> = query.get("size").map(|size| size.parse().unwrap());
        let mut shared = self.shared.clone();
        let run: usize = shared.incr(format!("http:{id}:runs"), 1).await.unwrap();
        if is_gated && pieces == 0 {
            self.wait_at_gate(id).await;
        }
        // All further runs use the last entry.
        let of_run = |name: &str| -> Option<u16> {
            let runs: Vec<_> = query.get(name)?.split(',').collect();
            Some(runs[run.min(runs.len()) - 1].parse().unwrap())
        };
        let status = of_run("statuses").unwrap_or(201);
        assert_ne!(status, 0, "run {run} of {id}");
        let is_plain = pieces > 0 || size.is_some();
        let body = match size {
            _ if pieces > 0 => self.clone().in_pieces(id.to_owned(), pieces, is_gated),
            Some(size) => Body::from("x".repeat(size)),
            None => {
                let digest = Sha256::digest(body);
                let facts = json!({
                    "run": run,
                    "length": body.len(),
                    "sha256": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
                    "takeovers": claim.map(Claim::takeovers),
                    "derived": claim.map(|claim| claim.derive("charge")),
                });
                Body::from(facts.to_string())
            }
        };
        let mut response = Response::builder().status(status);
        if let Some(length) = of_run("announced") {
            response = response.header("Content-Length", length);
        }
        response
            .header(
                "Content-Type",
                if is_plain {
                    "text/plain"
                } else {
                    "application/json"
                },
            )
            .header("Location", format!("/orders/{id}"))
            .header("Set-Cookie", format!("session={run}"))
            .header("X-Run", run)
            .body(body)
            .unwrap()
    }

    /// A body in pieces. The last one waits at the gate.
    fn in_pieces(self, id: String, count: usize, is_gated: bool) -> Body {
        Body::from_stream(stream::unfold(
            (self, id, 0),
            move |(effects, id, sent)| async move {
                if sent == count {
                    return None;
                }
                if is_gated && sent == count - 1 {
                    effects.wait_at_gate(&id).await;
                }
                Some((Ok::<_, Infallible>(PIECE), (effects, id, sent + 1)))
            },
        ))
    }
}
