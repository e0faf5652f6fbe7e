//! A flash sale: many buyers, few items, and a shop that reads its stock, works, and writes it back.
//!
//! Without a lock, two buyers may read the same stock, and the shop sells more than its stock. With a lock, it sells
//! exactly its stock.

mod buyer;
mod crowd;
mod options;
mod processes;
mod report;
mod shop;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{print, unwritten};
pub(crate) use options::Options;
use report::{Report, Run};

/// Any error of the demo.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Runs the sale twice. Returns whether the shop sold too many items only without the lock.
pub(crate) async fn run(options: Options) -> Result<bool, Failure> {
    options.check()?;
    let without = sale(&options, false).await?;
    let with = sale(&options, true).await?;
    let report = Report::new(&options, without, with);
    let text = if options.json {
        serde_json::to_string_pretty(&report)?
    } else {
        report.table()
    };
    print(&text).map_err(|error| unwritten(&error))?;
    Ok(report.is_convincing())
}

/// Runs the buyers of one process. The demo that started this process reads their visits from standard output.
pub(crate) async fn run_buyers(options: Options) -> Result<bool, Failure> {
    processes::child(&options).await.map(|()| true)
}

async fn sale(options: &Options, locked: bool) -> Result<Run, Failure> {
    let progress = progress(options, locked)?;
    let run = if options.processes == 1 {
        crowd::one_process(options, locked, &progress).await
    } else {
        processes::several(options, locked, &progress).await
    };
    progress.finish_and_clear();
    run
}

/// A progress bar on standard error, if it is a terminal.
fn progress(options: &Options, locked: bool) -> Result<ProgressBar, Failure> {
    let style = ProgressStyle::with_template("{msg:14} {bar:40} {pos}/{len} buyers, {elapsed}")?;
    let bar = ProgressBar::with_draw_target(Some(options.buyers.into()), ProgressDrawTarget::stderr());
    if options.json {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(style);
    bar.set_message(if locked { "with a lock" } else { "without a lock" });
    Ok(bar)
}
