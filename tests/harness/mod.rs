//! Runs the program on inputs in a folder of its own and reads its report.

// Each test program uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::expect_used)]

pub mod bless;
pub mod documents;
pub mod facts;
pub mod marks;
pub mod run;

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The entries of a folder by name; none where there is no folder.
pub fn list(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    all.sort();
    all
}

/// The last part of a path.
pub fn name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .expect("a name in UTF-8")
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
