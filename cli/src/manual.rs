//! Completions for shells and manual pages, from the definitions of the options.

use std::{fs, path::PathBuf};

use clap::Args;
use clap_complete::Shell;

use crate::{
    demo::Failure,
    output::{print_bytes, unwritten},
};

/// The arguments of `completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// The arguments of `man`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Pages {
    /// The directory; created if it does not exist: /usr/local/share/man/man1, for example
    directory: PathBuf,
}

impl Completions {
    pub(crate) fn print(&self, command: &mut clap::Command) -> Result<bool, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "fencepost", &mut script);
        print_bytes(&script).map_err(|error| unwritten(&error))?;
        Ok(true)
    }
}

impl Pages {
    pub(crate) fn write(&self, command: clap::Command) -> Result<bool, Failure> {
        let directory = &self.directory;
        let written =
            fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(command, directory));
        written.map_err(|error| format!("cannot write the pages to {}: {error}", directory.display()))?;
        Ok(true)
    }
}
