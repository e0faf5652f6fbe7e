//! The proof from the command line: `cargo run --profile proof -p fencepost-simulator -- soak --seeds 1000000`.

mod soak;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fencepost_simulator::{
    faults::Faults,
    gallery, machines,
    prove::Provable,
    scenario::Scenario,
    step::{ClientFault, ServerFault},
};

#[derive(Parser)]
#[command(about = "Every machine under random schedules of faults", version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Run many seeds of every machine, or of one, and append to a report
    Soak {
        /// How many seeds for each machine
        #[arg(long, default_value_t = 500_000)]
        seeds: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        first: u64,
        /// The machine; the default is all machines
        #[arg(long, value_parser = machines::named)]
        machine: Option<&'static dyn Provable>,
        /// Only these faults, separated by commas (see list); the default is all faults
        #[arg(long, value_delimiter = ',')]
        faults: Option<Vec<String>>,
        /// The report to append to
        #[arg(long)]
        report: Option<std::path::PathBuf>,
    },
    /// Show the run of a seed as a sequence diagram
    Story {
        /// The machine, or the mutant of the gallery
        name: String,
        /// The seed
        seed: u64,
        /// Show the whole run, not only the part that a broken promise needs
        #[arg(long)]
        whole: bool,
        /// Also print the shortest run as a scenario, for scenarios/
        #[arg(long)]
        steps: bool,
    },
    /// Show a run from a file
    Scenario {
        /// The file, such as one of scenarios/
        file: std::path::PathBuf,
        /// Remove every step that its broken promise does not need, and write the file again
        #[arg(long)]
        shrink: bool,
    },
    /// Print the inputs of one client of a run, as a transcript that every language replays
    Transcript {
        /// The machine
        #[arg(value_parser = machines::named)]
        name: &'static dyn Provable,
        /// The seed
        seed: u64,
        /// The client, from 0
        #[arg(default_value_t = 0)]
        client: u8,
    },
    /// Show every mutant of the gallery with the shortest run that breaks its promise
    Gallery {
        /// The mutant; the default is all mutants
        name: Option<String>,
        /// The most seeds to try
        #[arg(long, default_value_t = 20_000)]
        seeds: u64,
    },
    /// List the machines, the mutants and the faults
    List,
}

fn main() -> ExitCode {
    match run(Arguments::parse().what) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(what: What) -> Result<ExitCode, String> {
    match what {
        What::Soak {
            seeds,
            first,
            machine,
            faults,
            report,
        } => {
            let faults = faults.map_or(Ok(Faults::ALL), |some| {
                Faults::only(some.iter().map(String::as_str))
            })?;
            let end = first.checked_add(seeds).ok_or_else(|| {
                format!(
                    "{first} and {seeds} seeds more are past the last seed, {}",
                    u64::MAX
                )
            })?;
            let machines = machine.map_or_else(|| machines::ALL.to_vec(), |one| vec![one]);
            soak::soak(&machines, first..end, &faults, report.as_deref())
        }
        What::Story {
            name,
            seed,
            whole,
            steps,
        } => story(&name, seed, whole, steps),
        What::Scenario { file, shrink } => scenario(&file, shrink),
        What::Transcript { name, seed, client } => {
            print!("{}", name.cut(seed, client).map_err(|error| error.to_string())?);
            Ok(ExitCode::SUCCESS)
        }
        What::Gallery { name, seeds } => show(name.as_deref(), seeds),
        What::List => {
            list();
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn story(name: &str, seed: u64, whole: bool, steps: bool) -> Result<ExitCode, String> {
    let one = machines::named(name)
        .ok()
        .or_else(|| {
            gallery::all()
                .find(|mutant| mutant.name() == name)
                .map(|mutant| mutant.machine())
        })
        .ok_or_else(|| {
            let machines = machines::ALL.iter().map(|machine| machine.name());
            let all: Vec<_> = machines
                .chain(gallery::all().map(|mutant| mutant.name()))
                .collect();
            format!(
                "there is no machine and no mutant {name:?}; there are {}",
                all.join(", ")
            )
        })?;
    if whole {
        let (story, violation) = one.story(seed);
        println!("{story}");
        println!(
            "{}",
            violation.map_or("every promise was kept".into(), |broken| broken.to_string())
        );
        return Ok(ExitCode::SUCCESS);
    }
    match one
        .prove(seed..seed.saturating_add(1), &Faults::ALL)
        .counterexample
    {
        Some(counterexample) => {
            println!("{counterexample}");
            if steps {
                let promise = format!("{:?}", counterexample.violation.property);
                let mut kept = Scenario::of(name, &promise, &counterexample.run);
                let (_, verdict) = one.walk(&kept).map_err(|error| error.to_string())?;
                kept.has_reached(&verdict.seen);
                print!("{}", kept.text()?);
            }
        }
        None => println!("{name}, seed {seed}: every promise was kept; --whole shows the run"),
    }
    Ok(ExitCode::SUCCESS)
}

fn scenario(file: &std::path::Path, shrink: bool) -> Result<ExitCode, String> {
    let mut scenario = Scenario::read(file)?;
    let machine = machines::named(&scenario.machine)?;
    if shrink {
        let run = machine
            .shorten(&scenario)
            .map_err(|error| error.to_string())?
            .ok_or("every promise is kept: there is nothing to shrink")?;
        scenario.steps = run.steps.iter().map(ToString::to_string).collect();
        scenario.drifts = run.setup.drifts;
        std::fs::write(file, scenario.text()?).map_err(|error| error.to_string())?;
    }
    let (story, verdict) = machine.walk(&scenario).map_err(|error| error.to_string())?;
    println!("{}", story.text());
    for (what, often) in verdict.seen.all().filter(|(_, often)| *often > 0) {
        println!("{often} {what}");
    }
    match verdict.violation {
        Some(violation) => {
            println!("{violation}");
            Ok(ExitCode::FAILURE)
        }
        None => {
            println!("every promise was kept");
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn show(name: Option<&str>, seeds: u64) -> Result<ExitCode, String> {
    let chosen: Vec<_> = gallery::all()
        .filter(|mutant| name.is_none_or(|name| mutant.name() == name))
        .collect();
    if chosen.is_empty() {
        let all: Vec<_> = gallery::all().map(|mutant| mutant.name()).collect();
        return Err(format!(
            "{name:?} is not in the gallery; there are {}",
            all.join(", ")
        ));
    }
    let mut code = ExitCode::SUCCESS;
    for mutant in chosen {
        println!(
            "== {}: {}\n   ({})\n",
            mutant.name(),
            mutant.mistake(),
            mutant.source()
        );
        match mutant.detect(1..seeds.saturating_add(1)) {
            Some(counterexample) => println!("{counterexample}\n"),
            None => {
                println!("{:?} was not broken in {seeds} seeds\n", mutant.breaks());
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

fn list() {
    println!("machines:");
    for machine in machines::ALL {
        println!("  {}", machine.name());
    }
    println!("mutants:");
    for mutant in gallery::all() {
        println!(
            "  {:20} {:?}  {}",
            mutant.name(),
            mutant.breaks(),
            mutant.mistake()
        );
    }
    println!("faults of a client: {}", ClientFault::NAMES.join(", "));
    println!("faults of a server: {}", ServerFault::NAMES.join(", "));
}
