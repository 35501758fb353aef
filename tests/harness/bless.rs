//! Generated texts that are kept in the repository: a test compares, `BLESS=1` writes.

use std::path::Path;

/// Whether `BLESS=1 cargo test` was said.
pub fn blessing() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Compares `file` with what it should hold, or writes it.
pub fn compare(file: &Path, wanted: &str) -> Result<(), String> {
    let found = std::fs::read_to_string(file).unwrap_or_default();
    if found == wanted {
        return Ok(());
    }
    if blessing() {
        std::fs::write(file, wanted).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(found.as_str(), wanted)
        .unified_diff()
        .header("kept", "now")
        .to_string();
    Err(format!(
        "{} is out of date; BLESS=1 writes it\n{diff}",
        file.display()
    ))
}
