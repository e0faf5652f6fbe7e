//! What is published: the crates' manifests, and the files that come along.

use std::{path::PathBuf, process::Command};

const CRATES: [(&str, &str); 4] = [
    ("fencepost-core", "core"),
    ("fencepost-models", "models"),
    ("fencepost", "bindings-rs"),
    ("fencepost-cli", "cli"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An exact version beside an application's own requirement cannot be resolved. Exact versions are in the lock file.
#[test]
fn no_crate_asks_for_an_exact_version() {
    for folder in CRATES.map(|(_, folder)| folder).into_iter().chain(["."]) {
        let path = root().join(folder).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&path).unwrap();
        // What generates glue has to be of the version of the glue's library.
        let exact = |line: &&str| line.contains("\"=") && !line.starts_with("wasm-bindgen");
        let exact: Vec<_> = manifest.lines().filter(exact).collect();
        assert!(exact.is_empty(), "{}: {exact:?}", path.display());
    }
}

#[test]
fn every_crate_has_its_license() {
    for (name, folder) in CRATES {
        let listed = Command::new(env!("CARGO"))
            .args([
                "package",
                "--list",
                "--offline",
                "--allow-dirty",
                "--package",
                name,
            ])
            .current_dir(root())
            .output()
            .unwrap();
        let files = String::from_utf8(listed.stdout).unwrap();
        let errors = String::from_utf8_lossy(&listed.stderr);
        assert!(listed.status.success(), "{name}: {errors}");
        assert!(files.lines().any(|file| file == "LICENSE"), "{name}: {files}");
        assert!(!errors.contains("warning: manifest has no"), "{name}: {errors}");
        let license = std::fs::read_to_string(root().join(folder).join("LICENSE")).unwrap();
        assert_eq!(license, std::fs::read_to_string(root().join("LICENSE")).unwrap());
    }
}
