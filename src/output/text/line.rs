//! One line of a file as it is drawn: cut around what matters, nothing hidden, and where its bytes went.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::super::visible;

/// A drawn line.
pub(super) struct DrawnLine {
    pub(super) text: String,
    /// Where the focus went.
    pub(super) focus: Range<usize>,
}

/// Columns of a tab.
const TAB: usize = 4;

/// Draws `line` in at most about `width` columns, so that the bytes of `focus` are seen.
///
/// Costs what is drawn, not what the line is long.
pub(super) fn draw(line: &str, focus: &Range<usize>, width: usize) -> DrawnLine {
    let focus = boundary(line, focus.start)..boundary(line, focus.end.max(focus.start));
    let (from, to) = window(line, &focus, width);
    let mut text = String::new();
    if from > 0 {
        text.push('…');
    }
    let mut start = None;
    let mut end = None;
    for (at, c) in line[from..to].char_indices() {
        let at = from + at;
        if at >= focus.start {
            start.get_or_insert(text.len());
        }
        if at >= focus.end {
            end.get_or_insert(text.len());
        }
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', TAB)),
            _ => visible::push(&mut text, c),
        }
    }
    let done = text.len();
    if to < line.len() {
        text.push('…');
    }
    DrawnLine {
        text,
        focus: start.unwrap_or(done)..end.unwrap_or(done),
    }
}

/// The next character boundary at or before `at`.
fn boundary(line: &str, at: usize) -> usize {
    line.floor_char_boundary(at)
}

/// The bytes to draw.
fn window(line: &str, focus: &Range<usize>, width: usize) -> (usize, usize) {
    if line.len() <= width && line.is_ascii() {
        return (0, line.len());
    }
    let whole = take(line.char_indices(), width);
    if whole.is_none() {
        return (0, line.len());
    }
    let room = width.saturating_sub(2);
    // A third of the room for what stands before, if it is needed, and the rest from there on.
    let wanted = take(line[focus.clone()].char_indices(), room)
        .map_or_else(|| line[focus.clone()].chars().map(columns).sum(), |_| room);
    let before = (room - wanted.min(room)).min(room.max(3) * 2 / 3);
    let fits = take(line[..focus.end].char_indices(), room).is_none();
    let from = if fits {
        0
    } else {
        take(line[..focus.start].char_indices().rev(), before)
            .map_or(0, |(at, c)| at + c.len_utf8())
    };
    let to = take(line[from..].char_indices(), room).map_or(line.len(), |(at, _)| from + at);
    (from, to)
}

/// The first character that no longer fits into `width` columns.
fn take(characters: impl Iterator<Item = (usize, char)>, width: usize) -> Option<(usize, char)> {
    let mut used = 0;
    for (count, (at, c)) in characters.enumerate() {
        used += columns(c);
        // Marks that take no column are bounded too.
        if used > width || count > 4 * width {
            return Some((at, c));
        }
    }
    None
}

fn columns(c: char) -> usize {
    match c {
        '\t' => TAB,
        _ => c.width().unwrap_or(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(line: &str, focus: Range<usize>, width: usize) -> (String, String) {
        let drawn = draw(line, &focus, width);
        let focused = drawn.text[drawn.focus.clone()].to_owned();
        (drawn.text, focused)
    }

    #[test]
    fn short_lines_stay_whole() {
        assert_eq!(
            drawn("a: b # 한글", 3..4, 40),
            ("a: b # 한글".into(), "b".into())
        );
        assert_eq!(drawn("", 0..0, 40), (String::new(), String::new()));
        assert_eq!(
            drawn("a:\tb\x1b", 3..5, 40),
            ("a:    b\\x1b".into(), "b\\x1b".into())
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_focus() {
        let line = format!("{}VALUE{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
        let (text, focused) = drawn(&line, 1_000_000..1_000_005, 40);
        assert_eq!(focused, "VALUE");
        assert!(
            text.starts_with("…x") && text.ends_with("y…") && text.chars().count() <= 40,
            "{text}"
        );
        let (text, focused) = drawn(&line, 3..5, 40);
        assert!(text.starts_with("xxx") && focused == "xx", "{text}");
        let (text, focused) = drawn(&line, 0..2_000_005, 40);
        assert!(text.chars().count() <= 40 && focused.len() > 30, "{text}");
        let (text, _) = drawn(&format!("e{}", "\u{301}".repeat(100_000)), 0..1, 40);
        assert!(text.chars().count() < 200);
    }
}
