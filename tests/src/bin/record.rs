//! Records all cases below `tests/transcripts`; read the difference before you commit it. Reports a case that
//! fails, and does not change its file.

use std::{fs, panic, path::Path, process::ExitCode};

fn main() -> std::io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut failed = 0;
    for case in fencepost_tests::cases::all() {
        let path = root.join(case.file());
        let Ok(text) = panic::catch_unwind(|| case.text()) else {
            println!("FAILED {}", case.file());
            failed += 1;
            continue;
        };
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text)?;
        println!("recorded {}", case.file());
    }
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
