//! What fixes would change, as a unified diff.

use similar::{Algorithm, ChangeTag, TextDiff};

/// The difference of two texts of one file, as `patch` and `git apply` read it; nothing if they are equal.
///
/// `show` writes out what must not reach a terminal; tabs and the ends of lines stay. With `color`, lines are painted.
pub fn diff(
    path: &str,
    old: &str,
    new: &str,
    color: bool,
    show: impl Fn(&str) -> String,
) -> String {
    if old == new {
        return String::new();
    }
    let path = show(path);
    let paint = |out: &mut String, code: &str, text: &str| match color {
        true => out.push_str(&format!("\x1b[{code}m{text}\x1b[0m")),
        false => out.push_str(text),
    };
    let mut out = String::new();
    for (sign, side) in [("---", "a"), ("+++", "b")] {
        paint(&mut out, "1", &format!("{sign} {side}/{path}"));
        out.push('\n');
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .diff_lines(old, new);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        paint(&mut out, "36", &hunk.header().to_string());
        out.push('\n');
        for change in hunk.iter_changes() {
            let line = change.value();
            let text = line.trim_end_matches(['\r', '\n']);
            let end = line.get(text.len()..).unwrap_or("");
            let text = text.split('\t').map(&show).collect::<Vec<_>>().join("\t");
            match change.tag() {
                ChangeTag::Delete => paint(&mut out, "31", &format!("-{text}")),
                ChangeTag::Insert => paint(&mut out, "32", &format!("+{text}")),
                ChangeTag::Equal => out.push_str(&format!(" {text}")),
            }
            out.push_str(end);
            if change.missing_newline() {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_changed_lines() {
        let diff = |old: &str, new: &str| {
            diff("x.yaml", old, new, false, |text| {
                text.replace('\x1b', "ESC")
            })
        };
        let old = "a: 1\r\nb:\t2\r\nc: 3 # \x1b";
        let new = "a: 1\r\nb:\t4\r\nc: 3 # \x1b";
        assert_eq!(
            diff(old, new),
            "--- a/x.yaml\n+++ b/x.yaml\n@@ -1,3 +1,3 @@\n a: 1\r\n-b:\t2\r\n+b:\t4\r\n c: 3 # ESC\n\\ No newline at end of file\n"
        );
        assert_eq!(diff(old, old), "");
    }
}
