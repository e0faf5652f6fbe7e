//! After the command: its result, the rest of `--min-hold`, the release, and the exit code.

use std::os::unix::process::ExitStatusExt as _;

use fencepost::{Error, clock};
use fencepost_core::Instant;

use super::{
    Done, LOST,
    code::{self, Failure},
    options::{OnLost, Plan},
    report::Report,
    right::Right,
    signals::Signals,
    watch::{Ended, Why},
};

/// Ends the right to run, when no process of the command is left.
pub(super) async fn settle(
    plan: &Plan,
    mut right: Right,
    ended: &Ended,
    started: Instant,
    signals: &mut Signals,
    report: &mut Report,
) -> Result<Done, Failure> {
    let (status, signal) = (ended.status.code(), ended.status.signal());
    report.ended(status, signal);
    let only_warned = plan.on_lost == OnLost::Warn;
    // Whether fencepost has ended the command.
    let was_cut = match ended.why {
        None => false,
        Some(Why::Lost) => !only_warned,
        Some(Why::MaxHold) => true,
    };
    let mut is_lost = ended.why == Some(Why::Lost);
    let stored = match status {
        Some(0) if !was_cut => right.complete().await,
        Some(_) if !was_cut => {
            report.complain_of(right.give_back().await);
            Ok(())
        }
        // The command may have had its effect, or a part of it. The client leaves the claim when it
        // is dropped.
        _ if is_lost => Ok(()),
        _ => {
            report.complain_of(right.leave().await);
            Ok(())
        }
    };
    if !is_lost {
        hold_on(&right, started.plus(plan.min_hold), signals).await;
        match right.release().await {
            Err(Error::Lost(lost)) => {
                is_lost = true;
                report.lost(lost.reason().name());
                report.complain_of(Err(lost.into()));
            }
            released => report.complain_of(released),
        }
    }
    stored?;
    let code = match (status, signal) {
        _ if was_cut || (is_lost && !only_warned) => code::LOST,
        (Some(status), _) => u8::try_from(status).unwrap_or(u8::MAX),
        (None, signal) => code::of_signal(signal.unwrap_or_default()),
    };
    let outcome = match (ended.why, signal) {
        (Some(Why::MaxHold), _) => "max-hold",
        _ if is_lost => LOST,
        (_, Some(_)) => "signalled",
        _ => "exited",
    };
    Ok(Done { outcome, code })
}

/// Keeps the lock until this time, unless fencepost gets a signal that ends processes, or the lock
/// is lost.
async fn hold_on(right: &Right, until: Instant, signals: &mut Signals) {
    while clock::now() < until {
        let left = until.since(clock::now());
        tokio::select! {
            biased;
            _ = signals.next_of_the_end() => return,
            _ = right.lost() => return,
            () = tokio::time::sleep(left) => {}
        }
    }
}
