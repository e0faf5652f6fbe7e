//! What came of the two sales.

use core::{fmt, time::Duration};

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;

use super::{
    Failed, Options,
    buyers::{Outcome, Visit},
};

/// One sale.
pub(super) struct Run {
    pub(super) visits: Vec<Visit>,
    pub(super) took: Duration,
    pub(super) fences: Vec<u64>,
    pub(super) stale: u32,
}

/// Both sales.
pub(super) struct Report<'a> {
    pub(super) options: &'a Options,
    pub(super) without: Run,
    pub(super) with: Run,
}

/// A sale's numbers.
#[derive(Serialize)]
struct Numbers {
    buyers: usize,
    sold: usize,
    refused_sold_out: usize,
    refused_after_waiting: usize,
    refused_fences: u32,
    oversold: usize,
    acquisitions: usize,
    acquisitions_per_second: f64,
    wait_ms_p50: f64,
    wait_ms_p99: f64,
    wait_ms_longest: f64,
    seconds: f64,
    /// Decimal strings: they may need more digits than a JSON number keeps.
    fences: Vec<String>,
    fences_in_order: bool,
}

impl Run {
    fn numbers(&self, items: u32) -> Numbers {
        let count = |wanted| self.visits.iter().filter(|visit| visit.outcome == wanted).count();
        let mut waits: Vec<Duration> = self
            .visits
            .iter()
            .filter(|visit| visit.held)
            .map(|visit| visit.waited)
            .collect();
        waits.sort_unstable();
        let quantile = |part: usize| {
            let index = (waits.len() * part).div_ceil(100).saturating_sub(1);
            waits.get(index).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
        };
        let (sold, acquisitions) = (count(Outcome::Sold), waits.len());
        Numbers {
            buyers: self.visits.len(),
            sold,
            refused_sold_out: count(Outcome::SoldOut),
            refused_after_waiting: count(Outcome::GaveUp),
            refused_fences: self.stale,
            oversold: sold.saturating_sub(items as usize),
            acquisitions,
            acquisitions_per_second: acquisitions as f64 / self.took.as_secs_f64(),
            wait_ms_p50: quantile(50),
            wait_ms_p99: quantile(99),
            wait_ms_longest: quantile(100),
            seconds: self.took.as_secs_f64(),
            fences: self.fences.iter().map(u64::to_string).collect(),
            fences_in_order: self.fences.is_sorted(),
        }
    }
}

impl Report<'_> {
    fn numbers(&self) -> [Numbers; 2] {
        [
            self.without.numbers(self.options.items),
            self.with.numbers(self.options.items),
        ]
    }

    /// Whether the sale without the lock has oversold, and the one with it has sold exactly what there was.
    pub(super) fn verdict(&self) -> Result<(), String> {
        let [without, with] = self.numbers();
        let items = self.options.items as usize;
        if with.oversold > 0 || with.refused_fences > 0 || !with.fences_in_order {
            return Err(format!("the lock has not held: {} sold of {items}", with.sold));
        }
        if with.sold < items.min(with.buyers) {
            return Err(format!(
                "{} of {items} were sold, {} buyers had no patience: give them more (--patience), or the shop less work",
                with.sold, with.refused_after_waiting
            ));
        }
        if without.oversold == 0 {
            return Err("the sale without a lock has not oversold: let more buyers in at once (--at-once), or have the shop work longer (--work)".into());
        }
        Ok(())
    }

    /// The numbers, for programs.
    pub(super) fn json(&self) -> Result<String, Failed> {
        let [without, with] = self.numbers();
        Ok(serde_json::to_string_pretty(&serde_json::json!({
            "url": shown(&self.options.url),
            "items": self.options.items,
            "processes": self.options.processes,
            "without_lock": without,
            "with_lock": with,
        }))?)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options {
            buyers,
            at_once,
            items,
            processes,
            ..
        } = self.options;
        let patience = self.options.patience.as_secs_f64() * 1e3;
        let place = shown(&self.options.url);
        let crowd = if *processes == 1 {
            String::new()
        } else {
            format!(" in {processes} processes")
        };
        writeln!(
            f,
            "{buyers} buyers, {at_once} at a time{crowd}; {items} items; each waits at most {patience} ms"
        )?;
        let [without, with] = self.numbers();
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        table.set_header([
            String::new(),
            "without a lock".into(),
            format!("with a lock on {place}"),
        ]);
        let mut row = |name: &str, value: fn(&Numbers) -> String, before: bool| {
            let first = if before { value(&without) } else { "–".into() };
            table.add_row([
                Cell::new(name),
                Cell::new(first).set_alignment(CellAlignment::Right),
                Cell::new(value(&with)).set_alignment(CellAlignment::Right),
            ]);
        };
        row("sold", |numbers| numbers.sold.to_string(), true);
        row("oversold", |numbers| numbers.oversold.to_string(), true);
        row(
            "refused: sold out",
            |numbers| numbers.refused_sold_out.to_string(),
            true,
        );
        row(
            "refused: waited too long",
            |numbers| numbers.refused_after_waiting.to_string(),
            false,
        );
        row(
            "wait, p50",
            |numbers| format!("{:.2} ms", numbers.wait_ms_p50),
            false,
        );
        row(
            "wait, p99",
            |numbers| format!("{:.2} ms", numbers.wait_ms_p99),
            false,
        );
        row(
            "wait, longest",
            |numbers| format!("{:.2} ms", numbers.wait_ms_longest),
            false,
        );
        row(
            "acquisitions",
            |numbers| format!("{:.0} / s", numbers.acquisitions_per_second),
            false,
        );
        row("fences", |numbers| fences(&numbers.fences), false);
        writeln!(f, "{table}")?;
        let order = if with.fences_in_order {
            "in order"
        } else {
            "NOT in order"
        };
        write!(f, "{} fences, {order}", with.fences.len())
    }
}

/// The first and the last of the fences.
fn fences(all: &[String]) -> String {
    match all {
        [first, second, third, .., last] => format!("{first} < {second} < {third} < … < {last}"),
        few => few.join(" < "),
    }
}

/// An address without the password in it.
fn shown(url: &str) -> String {
    match (url.split_once("//"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}//***@{place}"),
        _ => url.into(),
    }
}
