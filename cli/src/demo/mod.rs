//! The demo: a flash sale, first without a lock, then with one.
//!
//! The shop reads the stock, works, and writes it back: two buyers at once both read the same stock, and both get the same item.
//! `shop` is the resource, `buyers` what they do, `crowd` how they are let in, `report` what came of it.

mod buyers;
mod crowd;
mod options;
mod report;
mod shop;

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use options::{BuyersOptions, Options};
use report::{Report, Run};
use shop::Shop;

/// What can go wrong, for people.
pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Runs the sale without and with the lock; whether it went as it has to.
pub(crate) async fn run(options: Options) -> Result<bool, Failed> {
    options.check()?;
    let without = sale(&options, false).await?;
    let with = sale(&options, true).await?;
    let report = Report {
        options: &options,
        without,
        with,
    };
    if options.json {
        println!("{}", report.json()?);
    } else {
        println!("{report}");
    }
    let verdict = report.verdict();
    if let Err(why) = &verdict {
        eprintln!("fencepost: {why}");
    }
    Ok(verdict.is_ok())
}

/// Runs some of a sale's buyers, for another process; what they do goes to standard output, line by line.
pub(crate) async fn run_buyers(options: BuyersOptions) -> Result<bool, Failed> {
    crowd::serve(options).await?;
    Ok(true)
}

async fn sale(options: &Options, locked: bool) -> Result<Run, Failed> {
    let shop = Shop::open(options.items).await?;
    let bar = progress(
        options,
        if locked {
            "with the lock   "
        } else {
            "without a lock  "
        },
    );
    let run = crowd::let_in(options, locked, &shop, |visit| {
        bar.inc(1);
        bar.set_message(format!(
            "last in line for {:.1} ms",
            visit.waited.as_secs_f64() * 1e3
        ));
    })
    .await;
    bar.finish_and_clear();
    let (visits, took) = run?;
    Ok(Run {
        visits,
        took,
        fences: shop.fences(),
        stale: shop.stale(),
    })
}

fn progress(options: &Options, name: &'static str) -> ProgressBar {
    if options.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} {bar:40} {pos}/{len} buyers, {msg}");
    ProgressBar::new(options.buyers.into())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(name)
}
