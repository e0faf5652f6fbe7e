//! The fencepost command.

fn main() {}
