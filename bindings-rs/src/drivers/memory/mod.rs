//! `memory:`: a server inside the process.

mod driver;

pub(crate) use driver::open;
