//! Every machine in the weather of a fixed budget of seeds.

use fencepost_simulator::{
    backend::{Backend, Subject},
    checker::Seen,
    machines,
    run::{self, Machine},
    shrink::shrink,
    story::Story,
};

fn weather<B: Backend, S: Subject<B>>(machine: &Machine<B, S>) {
    let mut seen = Seen::default();
    let started = std::time::Instant::now();
    for seed in 0..20000 {
        let (run, verdict) = run::by_seed(machine, seed);
        seen += verdict.seen;
        if let Some(violation) = verdict.violation {
            let short = shrink(machine, &run, violation.property);
            let mut story = Story::new(short.setup.drifts.len());
            let verdict = run::again(machine, &short, &mut story);
            panic!(
                "seed {seed}: {violation}\n{:?}, {:?}\n{}",
                short,
                verdict.violation,
                story.text()
            );
        }
    }
    println!("{:?} {seen:?}", started.elapsed());
}

#[test]
fn zookeeper() {
    weather(&machines::ZOOKEEPER_MUTEX);
}

#[test]
fn redis() {
    weather(&machines::REDIS_STRING);
}
