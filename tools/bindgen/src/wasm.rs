//! The JavaScript glue of a WebAssembly module.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

/// Writes `NAME.js` and `NAME_bg.wasm` for the module `NAME.wasm`. The same glue works in every runtime,
/// because it loads nothing by itself. Its types are hand-written, because the generated ones are less
/// precise.
///
/// # Errors
/// A text that describes the fault of the module or the folder.
pub(crate) fn glue(module: &Path, folder: &Path) -> Result<String, String> {
    if !module.is_file() {
        return Err(format!("there is no file {}", module.display()));
    }
    Bindgen::new()
        .input_path(module)
        .web(true)
        .and_then(|bindgen| {
            bindgen
                .typescript(false)
                .omit_default_module_path(true)
                .remove_name_section(true)
                .remove_producers_section(true)
                .generate(folder)
        })
        .map_err(|error| format!("{}: {error:#}", module.display()))?;
    Ok(format!("{} → {}", module.display(), folder.display()))
}
