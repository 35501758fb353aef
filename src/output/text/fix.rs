//! What a fix would change, as the lines before and after.

use super::finding::note;
use super::line;
use super::theme::{Paint, Painter};
use crate::diag::{Edit, Fix, Safety};
use crate::source::Sources;

/// Fixes that change more lines are only named.
const MOST_LINES: usize = 8;

pub(super) fn draw(fix: &Fix, sources: &Sources, painter: &Painter, out: &mut String) {
    let option = match fix.safety {
        Safety::Safe => "--fix",
        Safety::Unsafe => "--fix=unsafe",
    };
    note(
        "fix",
        &format!("{} (`{option}`)", fix.message),
        painter,
        out,
    );
    let [edit] = fix.edits.as_slice() else {
        return;
    };
    let Some((before, after)) = lines(edit, sources) else {
        return;
    };
    if before.len() + after.len() > MOST_LINES {
        return;
    }
    for (sign, paint, lines) in [("- ", Paint::Removed, before), ("+ ", Paint::Added, after)] {
        for text in lines {
            let drawn = line::draw(&text, &(0..0), painter.width().saturating_sub(9));
            out.push_str("       ");
            painter.paint(out, paint, &format!("{sign}{}", drawn.text));
            out.push('\n');
        }
    }
}

/// The lines that an edit touches, as they are and as they would be, without those that stay and without common indentation.
fn lines(edit: &Edit, sources: &Sources) -> Option<(Vec<String>, Vec<String>)> {
    let source = sources.get(edit.span.file);
    let first = source.position(edit.span.start).line as usize - 1;
    let last = source.position(edit.span.end).line as usize - 1;
    let start = source.line_range(first).start;
    let end = source.line_range(last).end;
    if end - start + edit.text.len() > 4096 {
        return None;
    }
    let before = source.text.get(start..end)?;
    let head = source.text.get(start..edit.span.start as usize)?;
    let tail = source
        .text
        .get(edit.span.end as usize..end.max(edit.span.end as usize))?;
    let after = format!("{head}{}{tail}", edit.text);
    let mut before: Vec<&str> = before.lines().collect();
    let mut after: Vec<&str> = after.lines().collect();
    while !before.is_empty() && before.last() == after.last() {
        before.pop();
        after.pop();
    }
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let before = &before[same..];
    let after = &after[same..];
    let indent = before
        .iter()
        .chain(after)
        .filter(|text| !text.trim().is_empty())
        .map(|text| text.len() - text.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let cut = |lines: &[&str]| {
        lines
            .iter()
            .map(|text| text.get(indent..).unwrap_or("").to_owned())
            .collect()
    };
    Some((cut(before), cut(after)))
}
