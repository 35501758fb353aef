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
    let Some((before, after)) = lines(&fix.edits, sources) else {
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

/// More bytes than these are not looked at for the few lines to show.
const MOST_BYTES: usize = 4096;

/// The lines that the edits touch, as they are and as they would be, without those that stay and without common indentation.
fn lines(edits: &[Edit], sources: &Sources) -> Option<(Vec<String>, Vec<String>)> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (first, last) = (edits.first()?.span, edits.last()?.span);
    if edits.iter().any(|edit| edit.span.file != first.file) {
        return None;
    }
    let source = sources.get(first.file);
    let line = |offset| source.line_range(source.position(offset).line as usize - 1);
    let (start, end) = (
        line(first.start).start,
        line(last.end).end.max(last.end as usize),
    );
    if end - start > MOST_BYTES {
        return None;
    }
    let before = source.text.get(start..end)?;
    let mut after = String::new();
    let mut at = start;
    for edit in edits {
        after.push_str(source.text.get(at..edit.span.start as usize)?);
        after.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    after.push_str(source.text.get(at..end)?);
    if after.len() > MOST_BYTES {
        return None;
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let head = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let (before, after) = (before.get(head..)?, after.get(head..)?);
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (before, after) = (
        before.get(..before.len() - tail)?,
        after.get(..after.len() - tail)?,
    );
    let filled = before
        .iter()
        .chain(after)
        .filter(|text| !text.trim().is_empty());
    let indent = filled
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
