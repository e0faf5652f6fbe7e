//! The client on real servers: `python3 tests/servers run -- cargo test -p fencepost --features servers`.

#[path = "../attention/mod.rs"]
mod attention;
#[path = "../recipes/mod.rs"]
mod recipes;
#[path = "../reentry/mod.rs"]
mod reentry;
#[path = "../scenarios/mod.rs"]
mod scenarios;

mod control;

mod bad_input;
mod driver_failed;
mod ends;
mod existing;
mod faults_kinds;
mod faults_redis;
mod faults_zookeeper;
mod hub_loop;
mod idempotency;
mod once;
mod peers;
mod processes;
mod tls;
mod tokens;
mod wire;

mod on_zookeeper {
    crate::scenarios!(crate::control::zookeeper());
    crate::recipes!(crate::control::zookeeper());
    crate::reentry!(crate::control::zookeeper());
    crate::sides!(crate::control::zookeeper());
    crate::single!(crate::control::zookeeper());
    crate::attention!(crate::control::zookeeper());
}

mod on_an_ensemble {
    crate::scenarios!(crate::control::ensemble());
    crate::recipes!(crate::control::ensemble());
    crate::sides!(crate::control::ensemble());
    crate::single!(crate::control::ensemble());
}

mod on_redis_with_tls {
    crate::scenarios!(crate::tls::trusted());
}

mod on_redis {
    crate::scenarios!(crate::control::redis());
    crate::reentry!(crate::control::redis());
    crate::attention!(crate::control::redis());
}
