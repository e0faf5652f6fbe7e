//! The C header of a crate.

use std::path::Path;

use cbindgen::{Builder, Config};

/// Writes the header of the crate in `folder`, according to its `cbindgen.toml`.
///
/// # Errors
/// A text that describes the fault of the crate, its `cbindgen.toml` or the output.
pub(crate) fn write(folder: &Path, header: &Path) -> Result<String, String> {
    let config = folder.join("cbindgen.toml");
    let config = Config::from_file(&config).map_err(|error| format!("{}: {error}", config.display()))?;
    let bindings = Builder::new()
        .with_crate(folder)
        .with_config(config)
        .generate()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    std::fs::write(header, text).map_err(|error| format!("{}: {error}", header.display()))?;
    Ok(format!("{} → {}", folder.display(), header.display()))
}
