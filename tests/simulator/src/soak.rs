//! Many seeds on all cores, and a line for each machine in a report.

use std::{
    fmt::Write as _,
    fs::OpenOptions,
    io::Write as _,
    ops::Range,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Instant,
};

use fencepost_simulator::{
    faults::Faults,
    prove::{Provable, Report},
};

/// Seeds that a thread takes at a time.
const BATCH: u64 = 1000;

/// Runs the seeds of each machine; prints the results, and appends them to the report.
pub(crate) fn soak(
    machines: &[&'static dyn Provable],
    seeds: Range<u64>,
    faults: &Faults,
    report: Option<&Path>,
) -> Result<ExitCode, String> {
    let mut code = ExitCode::SUCCESS;
    for machine in machines {
        let started = Instant::now();
        let (found, threads) = all(*machine, &seeds, faults);
        let line = line(*machine, &seeds, &found, started.elapsed().as_secs_f64(), threads);
        println!("{line}");
        if let Some(path) = report {
            let appended = OpenOptions::new().append(true).create(true).open(path);
            appended
                .and_then(|mut file| writeln!(file, "{line}"))
                .map_err(|error| format!("cannot write to {}: {error}", path.display()))?;
        }
        if let Some(counterexample) = found.counterexample {
            println!("{counterexample}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn all(machine: &'static dyn Provable, seeds: &Range<u64>, faults: &Faults) -> (Report, usize) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, stop) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let work = || {
        let mut sum = Report::default();
        while !stop.load(Ordering::Relaxed) {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= seeds.end {
                break;
            }
            let report = machine.prove(first..seeds.end.min(first + BATCH), faults);
            sum.runs += report.runs;
            sum.seen += report.seen;
            if report.counterexample.is_some() {
                sum.counterexample = report.counterexample;
                stop.store(true, Ordering::Relaxed);
            }
        }
        sum
    };
    let reports: Vec<Report> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().ok())
            .collect()
    });
    let mut sum = Report::default();
    for report in reports {
        sum.runs += report.runs;
        sum.seen += report.seen;
        sum.counterexample = sum.counterexample.or(report.counterexample);
    }
    (sum, threads)
}

fn line(machine: &dyn Provable, seeds: &Range<u64>, report: &Report, seconds: f64, threads: usize) -> String {
    let verdict = match &report.counterexample {
        None => "every promise kept".into(),
        Some(counterexample) => format!("seed {}: {}", counterexample.seed, counterexample.violation),
    };
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = report.seen.granted as f64 / seconds / threads as f64;
    let mut line = format!(
        "- {}: {} runs from seed {}, {seconds:.0} s on {threads} threads, {rate:.0} acquisitions a second and thread: {verdict};",
        machine.name(),
        report.runs,
        seeds.start,
    );
    for (what, often) in report.seen.all() {
        let _infallible = write!(line, " {often} {what},");
    }
    line.pop();
    line
}
