//! A client's one background task: timers, notices of the server, and jobs of other tasks.

use alloc::sync::Arc;
use core::time::Duration;

use fencepost_core::Instant;
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::{
    alarm::Alarm,
    driver::{ConnectionTask, Sink},
    inputs::Engine,
    state::Awaits,
};
use crate::clock;

/// How long a closing client waits for the server's replies.
const CLEAN_UP_WITHIN: Duration = Duration::from_secs(5);

/// Runs until the client is closed. Returns the number of contenders that are left on the server.
pub(crate) fn run(
    engine: Arc<Engine>,
    connection: Arc<dyn ConnectionTask>,
) -> impl Future<Output = usize> + Send + 'static {
    // Made here, because a runtime may be shut down before it polls the task for the first time.
    let end = End(Arc::clone(&engine));
    async move {
        let _end = end;
        run_until_closed(engine, connection).await
    }
}

async fn run_until_closed(engine: Arc<Engine>, connection: Arc<dyn ConnectionTask>) -> usize {
    let mut connection_task = Arc::clone(&connection)
        .run(Arc::clone(&engine) as Arc<dyn Sink>)
        .fuse();
    let mut commands = FuturesUnordered::new();
    let mut closing: Option<Instant> = None;
    let (mut alarm, mut timed_out) = (Alarm::default(), false);
    loop {
        let turn = engine.run_background(timed_out, alarm.take_starved());
        commands.extend(turn.commands);
        if engine.failure().is_some() {
            break;
        }
        if turn.close_client && closing.is_none() {
            closing = Some(clock::now().plus(CLEAN_UP_WITHIN));
            engine.shutdown();
            continue;
        }
        if closing.is_some_and(|limit| engine.pending() == 0 || (timed_out && clock::now() >= limit)) {
            break;
        }
        let until = turn.until.into_iter().chain(closing).min();
        timed_out = false;
        // Replies come first: a timer that fires at the same time is late.
        tokio::select! {
            biased;
            Some((key, completed)) = commands.next() => commands.extend(engine.complete(Awaits::All, key, completed)),
            () = &mut connection_task => {}
            () = alarm.wait(until) => timed_out = true,
            () = engine.wake.notified() => {}
        }
    }
    let left = engine.left();
    drop((connection_task, commands));
    let limit = closing.unwrap_or_else(|| clock::now().plus(CLEAN_UP_WITHIN));
    connection.finish(limit).await;
    left
}

/// Ends all waiting calls when the task ends or its runtime is shut down.
struct End(Arc<Engine>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
