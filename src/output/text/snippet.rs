//! The lines of a finding as a source that miette can draw: only those lines, from as many files as it takes.
//!
//! Each window of lines has its own range of made-up offsets, so that one drawing holds several files and costs the
//! same in a small file and in a large one.

use std::ops::Range;

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::line;
use super::wrap::{width, wrap};
use crate::diag::Diagnostic;
use crate::output::visible::{self, visible};
use crate::source::{FileId, Sources, Span};

/// More places than these are counted, not drawn.
const MOST_LABELS: usize = 6;

/// Lines that may lie between two labels of one window.
const NEAR: usize = 2;

/// Columns before the text of a line: number, frame, blanks.
const GUTTER: usize = 7;

/// Columns that a label gets even where it stands far to the right.
const NARROWEST: usize = 28;

/// The windows of a finding, and what is written under their lines.
pub(super) struct Snippets {
    windows: Vec<Window>,
    pub(super) labels: Vec<LabeledSpan>,
    /// Places that are not drawn.
    pub(super) more: usize,
}

struct Window {
    path: String,
    text: String,
    /// The made-up offset of its first byte.
    offset: usize,
    /// Of the first line, from 0.
    first_line: usize,
    lines: usize,
    places: Vec<Place>,
}

/// Where a label's made-up offset really is; line and column from 0.
struct Place {
    at: usize,
    line: usize,
    column: usize,
}

/// A place to label, before it is drawn.
struct Mark<'a> {
    span: Span,
    line: usize,
    column: usize,
    /// Bytes within the line.
    focus: Range<usize>,
    message: &'a str,
    primary: bool,
    /// Its line is drawn in a window of its own.
    alone: bool,
}

impl Snippets {
    pub(super) fn new(finding: &Diagnostic, sources: &Sources, columns: usize) -> Self {
        let room = columns.saturating_sub(GUTTER).max(NARROWEST);
        let mut marks = vec![Mark::new(finding.span, "", true, sources, room)];
        let mut more = 0;
        for label in &finding.related {
            if label.span == finding.span {
                if let Some(first) = marks.first_mut() {
                    first.message = &label.message;
                }
            } else if marks.len() < MOST_LABELS {
                marks.push(Mark::new(label.span, &label.message, false, sources, room));
            } else {
                more += 1;
            }
        }
        let mut out = Self {
            windows: Vec::new(),
            labels: Vec::new(),
            more,
        };
        for group in group(marks) {
            out.add(group, sources, room);
        }
        out
    }

    /// Adds the window of marks that lie near each other in one file.
    fn add(&mut self, mut marks: Vec<Mark>, sources: &Sources, room: usize) {
        marks.sort_by_key(|mark| (mark.span.start, mark.span.end));
        let (Some(file), Some(first), Some(last)) = (
            marks.first().map(|mark| mark.span.file),
            marks.iter().map(|mark| mark.line).min(),
            marks.iter().map(|mark| mark.line).max(),
        ) else {
            return;
        };
        let source = sources.get(file);
        let first_line = first.saturating_sub(1);
        let last_line = (last + 1).min(source.line_starts().len() - 1);
        let offset = self
            .windows
            .last()
            .map_or(0, |window| window.offset + window.text.len() + 16);
        let mut window = Window {
            path: visible(&source.path).into_owned(),
            text: String::new(),
            offset,
            first_line,
            lines: last_line + 1 - first_line,
            places: Vec::new(),
        };
        for number in first_line..=last_line {
            let range = source.line_range(number);
            let text = source.text.get(range).unwrap_or("");
            let here = || marks.iter().filter(|mark| mark.line == number);
            let focus = here()
                .map(|mark| mark.focus.clone())
                .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
            if focus.is_none() && number == last_line && text.trim().is_empty() {
                window.lines -= 1;
                break;
            }
            let start = window.text.len();
            for mark in here() {
                // Where one line holds several marks it fits into the room, so each draws it alike.
                let drawn = line::draw(text, &mark.focus, room);
                let at = offset + start + drawn.focus.start;
                let length = drawn.focus.len();
                window.places.push(Place {
                    at,
                    line: mark.line,
                    column: mark.column,
                });
                self.labels.push(label(
                    mark,
                    at,
                    length,
                    width(&drawn.text[..drawn.focus.start]),
                    room,
                ));
            }
            let drawn = line::draw(text, &focus.unwrap_or(0..0), room);
            window.text.push_str(&drawn.text);
            window.text.push('\n');
        }
        self.windows.push(window);
    }
}

impl<'a> Mark<'a> {
    fn new(span: Span, message: &'a str, primary: bool, sources: &Sources, room: usize) -> Self {
        let source = sources.get(span.file);
        let start = source.position(span.start);
        let line = start.line as usize - 1;
        let range = source.line_range(line);
        let from = (span.start as usize).clamp(range.start, range.end) - range.start;
        // Of a span over several lines the first one is shown.
        let to = (span.end as usize).clamp(range.start, range.end) - range.start;
        let alone = range.len() > room;
        Self {
            span,
            line,
            column: start.column as usize - 1,
            focus: from..to.max(from),
            message,
            primary,
            alone,
        }
    }

    fn file(&self) -> FileId {
        self.span.file
    }
}

/// Marks that lie near each other in one file together, the primary's group first, the others as they were given.
fn group(marks: Vec<Mark>) -> Vec<Vec<Mark>> {
    let mut groups: Vec<Vec<Mark>> = Vec::new();
    for mark in marks {
        let near = |other: &Mark| {
            other.file() == mark.file()
                && other.line.abs_diff(mark.line) <= NEAR + 1
                && !(other.line == mark.line && (other.alone || mark.alone))
        };
        match groups.iter_mut().find(|group| group.iter().any(near)) {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    groups
}

fn label(mark: &Mark, at: usize, length: usize, column: usize, room: usize) -> LabeledSpan {
    let text = (!mark.message.is_empty()).then(|| {
        // miette hangs the label on the middle of the underline.
        let columns = room.saturating_sub(column + length / 2 + 5).max(NARROWEST);
        let sentence = visible::sentence(mark.message);
        wrap(&visible(&sentence), columns, columns).join("\n")
    });
    match mark.primary {
        true => LabeledSpan::new_primary_with_span(text, (at, length)),
        false => LabeledSpan::new_with_span(text, (at, length)),
    }
}

impl SourceCode for Snippets {
    /// The window that holds `span`. Asked without lines around it, says where the span begins; else where the window does.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let end = span.offset() + span.len();
        let window = self
            .windows
            .iter()
            .find(|window| {
                window.offset <= span.offset() && end <= window.offset + window.text.len()
            })
            .ok_or(MietteError::OutOfBounds)?;
        let place = window
            .places
            .iter()
            .find(|place| before == 0 && place.at == span.offset());
        let (line, column) =
            place.map_or((window.first_line, 0), |place| (place.line, place.column));
        Ok(Box::new(MietteSpanContents::new_named(
            window.path.clone(),
            window.text.as_bytes(),
            (window.offset, window.text.len()).into(),
            line,
            column,
            window.lines,
        )))
    }
}
