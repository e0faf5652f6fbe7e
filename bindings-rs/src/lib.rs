//! Distributed locks on ZooKeeper and Redis for async Rust.
