//! The published packages: the manifests of the crates, and the files.

use std::{collections::BTreeMap, path::PathBuf, process::Command};

const CRATES: [(&str, &str); 4] = [
    ("fencepost-core", "core"),
    ("fencepost-models", "models"),
    ("fencepost", "bindings-rs"),
    ("fencepost-cli", "cli"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The manifests of the workspace's members, by their folders, and the workspace's own.
fn manifests() -> BTreeMap<String, String> {
    let read = |folder: &str| std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let workspace = read(".");
    let members = workspace
        .lines()
        .find(|line| line.starts_with("members = "))
        .unwrap();
    let folders = members.split('"').skip(1).step_by(2).map(ToOwned::to_owned);
    let mut found: BTreeMap<_, _> = folders.map(|folder| (folder.clone(), read(&folder))).collect();
    found.insert(".".into(), workspace);
    found
}

/// Whether a line of a manifest is narrower than a caret requirement: it requires an exact version, or has an upper
/// limit.
fn is_narrow(line: &str) -> bool {
    let narrow = ["\"=", "\"~", "\"<", "\">", ", <", ",<", ", =", "*\""];
    // A generator of glue code must have the same version as the glue's library.
    narrow.iter().any(|part| line.contains(part)) && !line.starts_with("wasm-bindgen")
}

/// A narrow requirement may conflict with a requirement of the application. The lock file has exact versions. Only
/// packages that run only in this repository may require an exact version.
#[test]
fn every_requirement_of_a_library_is_a_caret() {
    let is_library = |folder: &str| {
        let published = CRATES.iter().any(|(_, published)| *published == folder);
        published || folder == "." || folder.starts_with("bindings-")
    };
    for (folder, manifest) in manifests().into_iter().filter(|(folder, _)| is_library(folder)) {
        let narrow: Vec<_> = manifest.lines().filter(|line| is_narrow(line)).collect();
        assert!(narrow.is_empty(), "{folder}: {narrow:?}");
    }
    for line in [
        "a = \"=1.2.3\"",
        "a = \"~1.2\"",
        "a = \"<2\"",
        "a = { version = \">=1, <2\" }",
        "a = \"1.*\"",
    ] {
        assert!(is_narrow(line), "{line}");
    }
    assert!(!is_narrow("a = { version = \"1.2\", features = [\"b\"] }"));
}

/// No package is published by mistake.
#[test]
fn every_member_is_published_or_private() {
    for (folder, manifest) in manifests() {
        let published = CRATES.iter().any(|(_, published)| *published == folder);
        let private = manifest.lines().any(|line| line == "publish = false");
        assert!(folder == "." || published != private, "{folder}");
    }
}

/// The tests with the oldest libraries are the client's tests on real servers.
#[test]
fn the_oldest_versions_run_both_suites() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let oldest = makefile
        .lines()
        .find(|line| line.starts_with("OLDEST := "))
        .unwrap();
    let rows = std::fs::read_to_string(root().join("bindings-rs/tests/oldest/Cargo.toml")).unwrap();
    for suite in ["servers", "outages"] {
        assert!(
            oldest
                .split(" --")
                .any(|option| option == format!("test {suite}")),
            "{oldest}"
        );
        assert!(
            rows.contains(&format!("[[test]]\nname = \"{suite}\"\n")),
            "{suite}"
        );
    }
}

/// The requirements of the client's manifest, by the names of the libraries.
fn requirements() -> BTreeMap<String, String> {
    let manifest = std::fs::read_to_string(root().join("bindings-rs/Cargo.toml")).unwrap();
    let dependencies = manifest.split("\n[dev-dependencies]").next().unwrap().lines();
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut found = BTreeMap::new();
    for line in dependencies.skip_while(|line| *line != "[dependencies]") {
        let Some((name, asked)) = line
            .split_once(" = ")
            .filter(|(name, _)| !name.starts_with("fencepost") && !name.starts_with('['))
        else {
            continue;
        };
        let asked = if asked.contains("workspace = true") {
            let of_all = workspace
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name} = ")));
            of_all.unwrap()
        } else {
            asked
        };
        let version = asked.split('"').nth(1).unwrap();
        let before = found.insert(name.to_owned(), version.to_owned());
        assert!(before.is_none_or(|before| before == version), "{name}");
    }
    found
}

/// The versions of that library in a lock file.
fn locked(lock_file: &str, name: &str) -> Vec<Vec<u64>> {
    let text = std::fs::read_to_string(root().join(lock_file)).unwrap();
    let entry = format!("name = \"{name}\"\nversion = \"");
    let versions = text.split(&entry).skip(1);
    versions
        .map(|rest| numbers(rest.split('"').next().unwrap()))
        .collect()
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap()).collect()
}

/// The suites run with two lock files. One has the oldest version of every library that the client's manifest allows; the other has newer
/// ones.
#[test]
fn the_oldest_versions_and_newer_ones_are_in_the_suites() {
    let rows = std::fs::read_to_string(root().join("bindings-rs/tests/oldest/Cargo.toml")).unwrap();
    let requirements = requirements();
    for name in ["redis", "tokio", "tokio-rustls", "zookeeper-client"] {
        assert!(requirements.contains_key(name), "{name}: {requirements:?}");
    }
    for (name, version) in requirements {
        let row = rows
            .lines()
            .find(|line| line.starts_with(&format!("{name} = ")))
            .unwrap_or_else(|| panic!("{name} has no row"));
        assert!(row.contains(&format!("\"{version}\"")), "{name}: {row:?}");
        let mut oldest = numbers(&version);
        oldest.resize(3, 0);
        assert!(
            locked("bindings-rs/tests/oldest/Cargo.lock", &name).contains(&oldest),
            "{name} {version}"
        );
        let newest = locked("Cargo.lock", &name).into_iter().max().unwrap();
        // Libraries that are not in SERVERS may have no newer version yet.
        assert!(
            newest > oldest || newest == oldest && !SERVERS.contains(&&*name),
            "{name}"
        );
    }
}

/// The client libraries of the servers.
const SERVERS: [&str; 2] = ["redis", "zookeeper-client"];

/// The metadata of a crate that a registry shows.
#[test]
fn every_crate_describes_itself() {
    for (name, folder) in CRATES {
        let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        for key in ["description", "readme", "documentation", "keywords", "categories"] {
            let line = format!("\n{key} = ");
            assert!(manifest.contains(&line), "{name} has no {key}");
        }
        for key in ["license", "repository", "rust-version"] {
            let line = format!("\n{key}.workspace = true");
            assert!(manifest.contains(&line), "{name} has no {key}");
        }
        let keywords = manifest
            .lines()
            .find(|line| line.starts_with("keywords = "))
            .unwrap();
        // A registry accepts no more than five.
        assert!(
            (1..=5).contains(&(keywords.matches('"').count() / 2)),
            "{name}: {keywords}"
        );
    }
}

/// A registry shows only the README, so its links must not point to other files of the project.
#[test]
fn every_readme_stands_alone() {
    let in_repository = "https://github.com/fencepost/fencepost/blob/main/";
    for (name, folder) in CRATES {
        let readme = std::fs::read_to_string(root().join(folder).join("README.md")).unwrap();
        assert!(readme.starts_with(&format!(
            "# {}",
            if name == "fencepost" {
                "fencepost for Rust"
            } else {
                name
            }
        )));
        for link in readme.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            assert!(link.starts_with("https://"), "{name}: {link}");
            if let Some(path) = link.strip_prefix(in_repository) {
                let path = path.split('#').next().unwrap();
                assert!(root().join(path).exists(), "{name}: {link}");
            }
        }
    }
}

/// The suite with the oldest libraries also runs with the oldest compiler.
#[test]
fn the_oldest_compiler_runs_the_suites() {
    let workspace = manifests().remove(".").unwrap();
    let rows = workspace
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "));
    let oldest = rows.unwrap().trim_matches('"');
    let readme = std::fs::read_to_string(root().join("bindings-rs/README.md")).unwrap();
    assert!(readme.contains(&format!("needs Rust {oldest}.")), "{oldest}");
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let runs: Vec<_> = makefile
        .lines()
        .filter(|line| line.contains("test $(OLDEST)"))
        .collect();
    assert!(!runs.is_empty());
    assert!(
        runs.iter()
            .all(|line| line.contains("cargo +$(MSRV) test $(OLDEST)")),
        "{runs:?}"
    );
}

#[test]
fn every_crate_has_its_license_and_readme() {
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
        for needed in ["LICENSE", "README.md"] {
            assert!(files.lines().any(|file| file == needed), "{name}: {files}");
        }
        assert!(!errors.contains("warning: manifest has no"), "{name}: {errors}");
        let license = std::fs::read_to_string(root().join(folder).join("LICENSE")).unwrap();
        assert_eq!(license, std::fs::read_to_string(root().join("LICENSE")).unwrap());
    }
}
