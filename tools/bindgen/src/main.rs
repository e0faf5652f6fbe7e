//! Generates the code between Rust and other languages. This tool uses the generators' libraries, because
//! their commands take minutes to install and must have exactly the version of the library in a crate. Here,
//! Cargo.lock ensures this.

mod header;
mod options;
mod wasm;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str =
    "usage: fencepost-bindgen wasm IN.wasm OUTDIR     the JavaScript glue of a WebAssembly module
       fencepost-bindgen header CRATE_DIR OUT.h  the C header of a crate, after its cbindgen.toml
       fencepost-bindgen options [--check]       the options of locks, in all languages and the reference, and its errors";

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let done = match arguments.as_slice() {
        [verb, input, output] if verb == Path::new("wasm") => wasm::glue(input, output),
        [verb, input, output] if verb == Path::new("header") => header::write(input, output),
        [verb] if verb == Path::new("options") => options::write(false),
        [verb, flag] if verb == Path::new("options") && flag == Path::new("--check") => options::write(true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("fencepost-bindgen: {why}");
            ExitCode::FAILURE
        }
    }
}
