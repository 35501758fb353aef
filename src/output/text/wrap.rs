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
    for word in words(text) {
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

/// What stands between spaces; a number and its unit are one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let mut end = all.find(' ');
        if let Some(space) = end
            && all[..space].ends_with(|c: char| c.is_ascii_digit())
        {
            let behind = &all[space + 1..];
            let next = behind.split(' ').next().unwrap_or_default();
            if UNITS.contains(&next.trim_end_matches([',', '.', ':', ';', ')'])) {
                let wide = space + 1 + next.len();
                end = (wide < all.len()).then_some(wide);
            }
        }
        let (word, later) = match end {
            Some(end) => (&all[..end], Some(&all[end + 1..])),
            None => (all, None),
        };
        rest = later;
        Some(word)
    })
}

const UNITS: [&str; 5] = ["ms", "s", "min", "h", "%"];

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrap("it takes 10 s", 11, 11), ["it takes", "10 s"]);
        assert_eq!(wrap("a 10 %, b", 5, 5), ["a", "10 %,", "b"]);
        assert_eq!(wrap("is 5 short", 4, 5), ["is 5", "short"]);
        assert_eq!(wrap("5 ", 4, 5), ["5 "]);
    }

    #[test]
    fn breaks_at_spaces_and_inside_of_long_words() {
        assert_eq!(wrap("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3, 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("가나다라", 4, 4), ["가나", "다라"]);
        assert_eq!(wrap("", 10, 10), [""]);
        assert_eq!(wrap("aaaa ::error::x", 4, 20), ["aaaa", r"\x3a:error::x"]);
    }
}
