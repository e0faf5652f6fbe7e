//! Writes all cases below `tests/transcripts`; look at the difference before you commit it.

use std::{fs, path::Path};

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    for (name, text) in fencepost_tests::cases::all() {
        let path = root.join(&name);
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text)?;
        println!("recorded {name}");
    }
    Ok(())
}
