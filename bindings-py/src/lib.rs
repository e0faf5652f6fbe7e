//! The hub for Python. It converts values and makes no decisions. `python/fencepost/_fencepost.pyi` has the
//! documentation for users.

mod ending;
mod errors;
mod hub;
mod memory;
mod output;
mod record;
mod redis;
mod reply;
mod scope;
mod settings;
mod zookeeper;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _fencepost {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        ending::{bound, ending},
        errors::misuse,
        hub::{Hub, check_timeout},
        memory::{MemoryMessage, MemoryNode, MemoryServer, MemorySession},
        output::{Command, Event, Wait},
        record::Record,
        redis::is_from_replica,
        scope::Scope,
        settings::{Address, Settings, option_type},
        zookeeper::handshake_timeout,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
