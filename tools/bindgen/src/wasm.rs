//! The JavaScript glue of a WebAssembly module.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

/// Writes `NAME.js` and `NAME_bg.wasm` for the module `NAME.wasm`. One glue serves every runtime: it loads nothing by itself. Its types are
/// written by hand, more precisely than they would be here.
///
/// # Errors
/// What is wrong with the module or the folder, as text.
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
