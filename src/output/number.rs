//! Numbers of things, as a sentence says them.

/// `1 file`, `2 files`.
pub fn number(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
