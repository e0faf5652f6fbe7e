//! Runs a command under a lock. Unix only, because of process groups and signals.

mod code;
mod descriptor;
mod elsewhere;
mod ending;
mod group;
mod messages;
mod options;
mod report;
mod right;
mod signals;
mod terminal;
mod watch;
pub(crate) mod watchdog;

use std::{
    ffi::OsString,
    io::IsTerminal as _,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use fencepost::{Client, Record, clock};
use nix::sys::signal::Signal;
use tokio::process::Command;

use crate::{
    output::{complain, unwritten},
    usage,
};
use code::Failure;
pub(crate) use code::SYSTEM;
use elsewhere::Mark;
use group::Group;
pub(crate) use options::Options;
use options::{OnLost, Plan, Wait};
use report::Report;
use right::{Acquired, Right, Sought};
use signals::Signals;
use terminal::Terminal;
use watch::Watch;
use watchdog::Watchdog;

/// The same time that every client waits for its first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The connection may not take the whole `--wait`: this part of it is reserved for the lock.
const CONNECT_RESERVE_PART: u32 = 10;
/// The client counts in microseconds.
const SHORTEST_TIMEOUT: Duration = Duration::from_micros(1);

/// How long fencepost waits until the server confirms that a lost lock is free.
const CLOSE_AFTER_LOSS: Duration = Duration::from_secs(1);
/// The outcome of a run whose lock was lost.
const LOST: &str = "lost";

/// The end of a run that has not failed.
struct Done {
    outcome: &'static str,
    code: u8,
}

/// Runs the command. `before` is the address before the name of `exec`.
pub(crate) async fn run(options: Options, before: Option<String>) -> ExitCode {
    let reporting = options.reporting();
    let mut report = match Report::new(&reporting) {
        Ok(report) => report,
        Err(error) => return refused(&Failure::system(format!("cannot start a thread: {error}"))),
    };
    let done = async { under_lock(&options.plan(before)?, &mut report).await };
    let (outcome, code) = match done.await {
        Ok(done) => (done.outcome, done.code),
        Err(failure) => {
            let code = match failure.code {
                code::CONFLICT => reporting.conflict,
                code => code,
            };
            // Exit code 0 means that it is no failure if another host runs the job, and cron would send a mail for each
            // line.
            if code != 0 || std::io::stderr().is_terminal() {
                report.complain(failure.text);
            }
            (failure.outcome, code)
        }
    };
    let finished = report.finish(outcome, code);
    if code == code::of_signal(Signal::SIGINT as i32) {
        signals::end_by_interrupt();
    }
    match finished {
        Err(error) if code == 0 => {
            complain(&unwritten(&error));
            ExitCode::from(code::REPORT)
        }
        _ => ExitCode::from(code),
    }
}

/// Ends an `exec` whose arguments the parser refused.
pub(crate) fn end(mut error: clap::Error, command: &clap::Command) -> ExitCode {
    if !error.use_stderr() {
        return usage::end(&error, command, SYSTEM);
    }
    // The parser advises to write a name such as `-x` after `--`. Here, the command comes after `--`.
    error.insert(ContextKind::Suggested, ContextValue::None);
    let text = usage::on_one_line(&error);
    let mut words = vec![text.as_str()];
    if error.kind() == ErrorKind::UnknownArgument
        && error.get(ContextKind::SuggestedArg).is_none()
        && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word.starts_with('-'))
    {
        words.push("(if it is the lock's name, write --lock=NAME)");
    }
    let is_about_words = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
    );
    if is_about_words && !std::env::args_os().any(|word| word == "--") {
        words.push("(the command comes after `--`: fencepost exec NAME -- COMMAND)");
    }
    refused(&Failure::usage(words.join(" ")))
}

fn refused(failure: &Failure) -> ExitCode {
    complain(&failure.text);
    ExitCode::from(failure.code)
}

async fn under_lock(plan: &Plan, report: &mut Report) -> Result<Done, Failure> {
    let mut signals = Signals::of_the_end().map_err(uncaught)?;
    let limit = match plan.wait {
        // If the server does not reply, fencepost reports that, and not that another contender holds the lock.
        Wait::For(limit) => CONNECT_TIMEOUT
            .min(limit - limit / CONNECT_RESERVE_PART)
            .max(SHORTEST_TIMEOUT),
        Wait::Forever | Wait::Not => CONNECT_TIMEOUT,
    };
    let client = Client::builder()
        .connect_timeout(limit)
        .connect_lazily(&plan.url)?;
    let sought = Sought::of(plan, &client)?;
    report.waiting();
    let acquired = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::interrupted(signal)),
        acquired = right::acquire(plan, &sought) => acquired,
    };
    let done = match acquired {
        Ok(Acquired::Run(right)) => {
            report.acquired(right.fence());
            with_right(plan, right, &mut signals, report).await
        }
        Ok(Acquired::Replayed(grant, record)) => {
            report.acquired(grant.fence());
            report.complain_of(grant.release().await);
            replayed(plan, &record, report)
        }
        Err(failure) => Err(failure),
    };
    let is_lost = done.as_ref().is_ok_and(|done| done.outcome == LOST);
    tokio::select! {
        biased;
        // Waits for the server's reply, to leave the queue, unless a second signal comes.
        closed = client.close() => if !is_lost { report.complain_of(closed) },
        _ = signals.next_of_the_end(), if done.is_err() => {}
        // The lock is free, or will be free when its lease ends.
        () = tokio::time::sleep(CLOSE_AFTER_LOSS), if is_lost => {}
    }
    done
}

async fn with_right(
    plan: &Plan,
    mut right: Right,
    signals: &mut Signals,
    report: &mut Report,
) -> Result<Done, Failure> {
    let ready = tokio::select! {
        biased;
        signal = signals.next() => Err(Failure::interrupted(signal)),
        ready = right.freshen(plan) => ready,
    };
    let started = ready
        .and_then(|()| signals.add_harmless().map_err(uncaught))
        .and_then(|()| start(plan, &right));
    let (group, watchdog) = match started {
        Ok(started) => started,
        Err(failure) => {
            // The command has not run.
            report.complain_of(right.give_back().await);
            report.complain_of(right.release().await);
            return Err(failure);
        }
    };
    let started = clock::now();
    report.started(group.id().as_raw());
    let watch = Watch::new(plan, &mut right, group, watchdog, report, started);
    let ended = watch.until_dead(signals).await;
    let ended = ended.map_err(|error| Failure::system(format!("cannot wait for the command: {error}")))?;
    ending::settle(plan, right, &ended, started, signals, report).await
}

/// Starts the watchdog, and then the command.
fn start(plan: &Plan, right: &Right) -> Result<(Group, Option<Watchdog>), Failure> {
    let mark = Mark::new().map_err(|error| Failure::system(format!("cannot get random bytes: {error}")))?;
    let mut watchdog = match plan.on_lost {
        OnLost::Warn => None,
        OnLost::Term | OnLost::Kill => Some(Watchdog::start(&mark).map_err(unwatched)?),
    };
    let (program, arguments) = plan
        .command
        .split_first()
        .ok_or_else(|| Failure::usage("there is no command"))?;
    let mut command = Command::new(program);
    // An outer `fencepost exec` may have set these.
    command.env_remove("FENCEPOST_FENCE");
    command.env_remove("FENCEPOST_KEY");
    command.env_remove("FENCEPOST_TAKEOVERS");
    command.args(arguments).envs(environment(plan, right));
    if let Some(watchdog) = &mut watchdog {
        let kill_by = right.kill_by(plan);
        watchdog
            .watch_from_the_start(&mut command, || kill_by.since(clock::now()))
            .map_err(unwatched)?;
    }
    Terminal::of_this_process().let_it_stop_the_command();
    match Group::start(&mut command, mark) {
        Ok(group) => Ok((group, watchdog)),
        Err(error) => {
            if let Some(watchdog) = watchdog {
                watchdog.dismiss();
            }
            Err(Failure::not_executed(&program.to_string_lossy(), &error))
        }
    }
}

/// The variables in the command's environment.
fn environment(plan: &Plan, right: &Right) -> Vec<(&'static str, OsString)> {
    let left = plan.max_hold.unwrap_or(Duration::MAX).min(right.remaining());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let deadline = now.saturating_add(left).as_millis();
    let mut variables = vec![
        ("FENCEPOST_LOCK", plan.name.clone().into()),
        ("FENCEPOST_DEADLINE_MS", deadline.to_string().into()),
    ];
    if let Some(fence) = right.fence() {
        variables.push(("FENCEPOST_FENCE", fence.to_string().into()));
    }
    if let (Some(once), Some(takeovers)) = (&plan.once, right.takeovers()) {
        variables.push(("FENCEPOST_KEY", once.key.clone().into()));
        variables.push(("FENCEPOST_TAKEOVERS", takeovers.to_string().into()));
    }
    variables
}

/// The exit status of an earlier run.
fn replayed(plan: &Plan, record: &Record, report: &Report) -> Result<Done, Failure> {
    let key = plan.once.as_ref().map_or("", |once| &once.key);
    let stored = serde_json::from_slice::<serde_json::Value>(&record.result);
    let status = stored.ok().and_then(|stored| stored.get("status")?.as_u64());
    match status.and_then(|status| u8::try_from(status).ok()) {
        Some(code) => {
            // Scripts read the report, and a job without work prints nothing.
            if std::io::stderr().is_terminal() {
                report.complain(format!(
                    "the command was not run: an earlier run of {key:?} has ended with exit code {code}"
                ));
            }
            Ok(Done {
                outcome: "replayed",
                code,
            })
        }
        None => Err(Failure::record(format!(
            "operation {key:?} of {:?} has a result without an exit status: another program has stored it",
            plan.name
        ))),
    }
}

fn unwatched(error: std::io::Error) -> Failure {
    let lacks = match error.kind() {
        std::io::ErrorKind::NotFound => ", which needs /proc and /dev/null",
        _ => "",
    };
    Failure::system(format!(
        "cannot start the watchdog of the command{lacks}: {error}"
    ))
}

fn uncaught(error: std::io::Error) -> Failure {
    Failure::system(format!("cannot catch signals: {error}"))
}
