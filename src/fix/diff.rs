//! What fixes would change, as a unified diff.

use similar::TextDiff;

/// The difference of two texts of one file, as `patch` and `git apply` read it; nothing if they are equal.
pub fn diff(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn shows_the_changed_lines() {
        let old = "a: 1\r\nb: 2\r\nc: 3";
        let new = "a: 1\r\nb: 4\r\nc: 3";
        assert_eq!(
            diff("x.yaml", old, new),
            "--- a/x.yaml\n+++ b/x.yaml\n@@ -1,3 +1,3 @@\n a: 1\r\n-b: 2\r\n+b: 4\r\n c: 3\n\\ No newline at end of file\n"
        );
        assert_eq!(diff("x.yaml", old, old), "");
    }
}
