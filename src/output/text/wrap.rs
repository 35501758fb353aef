//! Breaks sentences into lines of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub(in crate::output) fn width(text: &str) -> usize {
    text.width()
}

/// Breaks at spaces, or inside of a word that is wider than a line: `first` columns for the first line, `rest` for the others.
pub(in crate::output) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let room = |lines: &Vec<String>| if lines.is_empty() { first } else { rest }.max(1);
    for word in text.split(' ') {
        let wide = word.width();
        let gap = usize::from(!line.is_empty());
        if used + gap + wide <= room(&lines) {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(word);
            used += gap + wide;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > room(&lines) && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += wide;
        }
    }
    lines.push(line);
    for line in &mut lines {
        // No line may be a workflow command that the input smuggled in.
        if line.starts_with("::") {
            line.replace_range(..1, r"\x3a");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn breaks_at_spaces_and_inside_of_long_words() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3, 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("가나다라", 4, 4), ["가나", "다라"]);
        assert_eq!(wrap("", 10, 10), [""]);
        assert_eq!(wrap("aaaa ::error::x", 4, 20), ["aaaa", r"\x3a:error::x"]);
    }
}
