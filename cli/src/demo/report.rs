//! The results in numbers.

use std::time::Duration;

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;

use super::{
    Options,
    buyer::{Outcome, Visit},
};

/// One sale.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    locked: bool,
    pub(super) sold: u64,
    /// Buyers without an item: no item was left, or they waited too long.
    refused: u64,
    gave_up: u64,
    /// The number of sold items that did not exist.
    pub(super) oversold: u64,
    /// In microseconds.
    waits: Option<Waits>,
    acquisitions_per_second: Option<f64>,
    /// The fences of the sales, in the order of the grants.
    fences: Vec<u64>,
    /// Whether the fences increased with every grant.
    fences_in_order: Option<bool>,
    seconds: f64,
}

/// How long the buyers waited for the lock, in microseconds.
#[derive(Debug, Serialize)]
struct Waits {
    p50: u64,
    p99: u64,
    longest: u64,
}

impl Run {
    pub(super) fn new(options: &Options, locked: bool, mut visits: Vec<Visit>, took: Duration) -> Self {
        let count = |outcome| visits.iter().filter(|visit| visit.outcome == outcome).count() as u64;
        let (sold, sold_out, gave_up) = (
            count(Outcome::Sold),
            count(Outcome::SoldOut),
            count(Outcome::GaveUp),
        );
        let mut waits: Vec<u64> = visits.iter().map(|visit| visit.waited).collect();
        waits.sort_unstable();
        visits.retain(|visit| visit.fence.is_some());
        visits.sort_by_key(|visit| visit.granted);
        let in_order = visits.is_sorted_by(|earlier, later| earlier.fence < later.fence);
        let sales = visits.iter().filter(|visit| visit.outcome == Outcome::Sold);
        Self {
            locked,
            sold,
            refused: sold_out + gave_up,
            gave_up,
            oversold: sold.saturating_sub(options.items.into()),
            waits: locked.then(|| Waits {
                p50: percentile(&waits, 50),
                p99: percentile(&waits, 99),
                longest: percentile(&waits, 100),
            }),
            acquisitions_per_second: locked.then(|| visits.len() as f64 / took.as_secs_f64()),
            fences: sales.filter_map(|visit| visit.fence).collect(),
            fences_in_order: locked.then_some(in_order),
            seconds: took.as_secs_f64(),
        }
    }
}

/// The smallest value that so many percent of the values do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Both sales.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    place: String,
    buyers: u32,
    at_once: u32,
    items: u32,
    processes: u32,
    without: Run,
    with: Run,
}

impl Report {
    pub(super) fn new(options: &Options, without: Run, with: Run) -> Self {
        Self {
            place: options.place(),
            buyers: options.buyers,
            at_once: options.at_once,
            items: options.items,
            processes: options.processes,
            without,
            with,
        }
    }

    /// Whether the shop sold too many items without the lock, but not with it.
    pub(super) const fn is_convincing(&self) -> bool {
        self.without.oversold > 0 && self.with.oversold == 0
    }

    pub(super) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        table.set_header(["", "without a lock", "with a lock"]);
        let mut row = |name: &str, show: &dyn Fn(&Run) -> String| {
            let cells = [&self.without, &self.with]
                .map(|run| Cell::new(show(run)).set_alignment(CellAlignment::Right));
            table.add_row([Cell::new(name)].into_iter().chain(cells));
        };
        row("sold", &|run| run.sold.to_string());
        row("refused", &|run| run.refused.to_string());
        row("  of these timed out", &|run| locked(run, run.gave_up));
        row("oversold", &|run| run.oversold.to_string());
        row("wait for the lock, p50", &|run| wait(run, |waits| waits.p50));
        row("wait for the lock, p99", &|run| wait(run, |waits| waits.p99));
        row("longest wait", &|run| wait(run, |waits| waits.longest));
        row("acquisitions a second", &|run| {
            run.acquisitions_per_second
                .map_or_else(none, |rate| format!("{rate:.0}"))
        });
        row("fences in order", &|run| {
            run.fences_in_order
                .map_or_else(none, |order| if order { "yes" } else { "NO" }.into())
        });
        let Self {
            place,
            buyers,
            at_once,
            items,
            processes,
            ..
        } = self;
        let from = match processes {
            1 => String::new(),
            processes => format!(" from {processes} processes"),
        };
        let mut text = format!(
            "{buyers} buyers{from}, {at_once} at a time, {items} items; the lock is at {place}\n{table}"
        );
        if !self.with.fences.is_empty() && self.with.fences.len() <= MOST_FENCES {
            let fences: Vec<_> = self.with.fences.iter().map(u64::to_string).collect();
            text += &format!("\nfences of the sales: {}", fences.join(" < "));
        }
        text + "\n" + self.verdict()
    }

    const fn verdict(&self) -> &'static str {
        match (self.without.oversold > 0, self.with.oversold > 0) {
            (true, false) => {
                "Without the lock, the shop sold more than its stock. With the lock, it did not."
            }
            (_, true) => "The shop has oversold in spite of the lock: this is a bug, please report it.",
            (false, false) => {
                "The shop has not oversold without the lock either: let more buyers in at a time, or let it work longer."
            }
        }
    }
}

/// The report shows no more fences than this.
const MOST_FENCES: usize = 8;

fn none() -> String {
    "-".into()
}

fn locked(run: &Run, number: u64) -> String {
    if run.locked { number.to_string() } else { none() }
}

fn wait(run: &Run, pick: impl Fn(&Waits) -> u64) -> String {
    let shown = |waits| {
        format!(
            "{:.1} ms",
            Duration::from_micros(pick(waits)).as_secs_f64() * 1000.0
        )
    };
    run.waits.as_ref().map_or_else(none, shown)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<u64> = (1..=100).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 99)), (50, 99));
        assert_eq!(percentile(&values, 100), 100);
        assert_eq!((percentile(&[7], 50), percentile(&[], 50)), (7, 0));
    }
}
