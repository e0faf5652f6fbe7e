//! Every machine in the weather of a fixed budget of seeds.

use fencepost_simulator::{checker::Seen, machines, run, shrink::shrink, story::Story};

#[test]
fn zookeeper() {
    let mut seen = Seen::default();
    let started = std::time::Instant::now();
    for seed in 0..2000 {
        let (run, verdict) = run::by_seed(&machines::ZOOKEEPER_MUTEX, seed);
        seen += verdict.seen;
        if let Some(violation) = verdict.violation {
            let short = shrink(&machines::ZOOKEEPER_MUTEX, &run, violation.property);
            let mut story = Story::new(short.setup.drifts.len());
            let verdict = run::again(&machines::ZOOKEEPER_MUTEX, &short, &mut story);
            panic!("seed {seed}: {violation}\n{} steps, {:?}\n{}", short.steps.len(), verdict.violation, story.text());
        }
    }
    println!("{:?} {seen:?}", started.elapsed());
}
