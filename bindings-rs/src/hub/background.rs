//! A client's one background task: timers, what the server says unasked, and what others have left behind.

use alloc::sync::Arc;
use core::time::Duration;

use fencepost_core::Instant;
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::{alarm::Alarm, engine::Engine, machines::Keep, state::Mine};
use crate::clock;

/// How long a closing client waits for the server's answers.
const CLEAN_UP_WITHIN: Duration = Duration::from_secs(5);

/// Runs until the client has been closed or hung up; gives how many contenders it has to leave behind.
pub(crate) async fn run(engine: Arc<Engine>, keep: Arc<dyn Keep>) -> usize {
    let _end = End(Arc::clone(&engine));
    let mut keeping = Arc::clone(&keep).run(Arc::clone(&engine)).fuse();
    let mut flights = FuturesUnordered::new();
    let mut closing: Option<Instant> = None;
    let (mut alarm, mut rung) = (Alarm::default(), false);
    loop {
        let turn = engine.tend(rung);
        flights.extend(turn.flights);
        if engine.failure().is_some() {
            break;
        }
        if turn.hang_up && closing.is_none() {
            closing = Some(clock::now().plus(CLEAN_UP_WITHIN));
            engine.shutdown();
            continue;
        }
        if closing.is_some_and(|limit| engine.pending() == 0 || (rung && clock::now() >= limit)) {
            break;
        }
        let until = turn.until.into_iter().chain(closing).min();
        rung = false;
        // Answers first: a timer that rings beside them is late.
        tokio::select! {
            biased;
            Some((key, landed)) = flights.next() => flights.extend(engine.land(Mine::All, key, landed)),
            () = &mut keeping => {}
            () = alarm.ring(until) => rung = true,
            () = engine.bell.notified() => {}
        }
    }
    let left = engine.left();
    drop((keeping, flights));
    let limit = closing.unwrap_or_else(|| clock::now().plus(CLEAN_UP_WITHIN));
    keep.finish(limit).await;
    left
}

/// The task has ended, or its runtime was shut down under it: no caller may go on waiting.
struct End(Arc<Engine>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
