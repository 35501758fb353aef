//! Cuts a file into documents as `kubectl` does: by its lines, before anything is parsed.

use memchr::memmem;

use super::arena;
use super::bytes::Bytes;
use super::fault::{Notice, NoticeKind, SyntaxError};
use super::prepare::{MARK, control_character};
use super::stream;
use super::tree::{Comment, Tree};

/// A part of a file between two separators, to be read on its own.
#[derive(Clone, Debug)]
pub struct Chunk {
    index: u32,
    start: u32,
    end: u32,
    /// The separator line before it, from its `---`.
    separator: Option<Separator>,
    /// It may be a stream of JSON objects, and is then the whole file.
    json: bool,
}

#[derive(Clone, Copy, Debug)]
struct Separator {
    start: u32,
    end: u32,
    /// Something that is no comment follows on the line: `kubectl` refuses it and stops.
    refused: bool,
    /// A document stands before it that `istioctl analyze`, which cuts at bare `---` only, has not yet cut off.
    joins: bool,
    /// No document was open: `kubectl` leaves the line in the text of the one it begins.
    kept: bool,
}

/// Cuts a file into its documents, in one fast pass. Reading the chunks, together or one by one, gives the same as
/// reading the file at once.
pub fn split(text: &str) -> Vec<Chunk> {
    let mark = if text.starts_with(MARK) { 3 } else { 0 };
    if stream::may_be(text.get(mark..).unwrap_or("")) {
        let (start, end) = (offset(mark), offset(text.len()));
        return vec![Chunk {
            index: 0,
            start,
            end,
            separator: None,
            json: true,
        }];
    }
    split_from(text, mark)
}

/// Cuts what begins at `start`, where no document is open.
pub(super) fn split_from(text: &str, mut start: usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let bytes = text.as_bytes();
    let rest = bytes.get(start..).unwrap_or(&[]);
    let first = rest.starts_with(b"---").then_some(start);
    let before = start;
    let others = memmem::find_iter(rest, b"\n---").map(|at| before + at + 1);
    let mut separator = None;
    for line in first.into_iter().chain(others) {
        let end = memchr::memchr(b'\n', bytes.get(line..).unwrap_or(&[]))
            .map_or(bytes.len(), |at| line + at);
        let rest = text.get(line + 3..end).unwrap_or("").trim();
        let open = start < line || separator.is_some_and(|separator: Separator| separator.kept);
        let blank = text
            .get(line + 3..)
            .is_some_and(|rest| rest.starts_with([' ', '\t']));
        if !open && !blank && rest.starts_with('#') {
            // `---#` where a document begins is left in its text, where it is no separator.
            continue;
        }
        push(&mut chunks, start, line, separator);
        let content = text.get(start..line).unwrap_or("");
        let joined = separator.is_some_and(|separator| separator.joins);
        separator = Some(Separator {
            start: offset(line),
            end: offset(end),
            joins: !rest.is_empty() && (joined || !hidden_text(content).is_empty()),
            refused: !rest.is_empty() && !rest.starts_with('#'),
            kept: !open,
        });
        start = (end + 1).min(bytes.len());
    }
    push(&mut chunks, start, bytes.len(), separator);
    chunks
}

fn push(chunks: &mut Vec<Chunk>, start: usize, end: usize, separator: Option<Separator>) {
    if start < end || separator.is_some() {
        let index = offset(chunks.len());
        chunks.push(Chunk {
            index,
            start: offset(start),
            end: offset(end.max(start)),
            separator,
            json: false,
        });
    }
}

/// Texts of 4 GiB and more are refused before they get here.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Chunk {
    /// A part of a text that is a document by itself.
    pub(super) fn inside(start: usize, end: usize) -> Self {
        Self {
            index: 0,
            start: offset(start),
            end: offset(end),
            separator: None,
            json: false,
        }
    }

    /// What stands between the separators, out of the text of the whole file.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }

    /// Whether a separator line stands before it.
    pub(super) fn is_separated(&self) -> bool {
        self.separator.is_some()
    }

    /// Where the separator after it begins, or the file ends.
    pub fn end(&self) -> u32 {
        self.end
    }

    pub(super) fn read(&self, tree: &mut Tree, text: &str) {
        if self.json {
            return stream::read(tree, text, self.start as usize);
        }
        if let Some(separator) = self.separator {
            let line = text
                .get(separator.start as usize..separator.end as usize)
                .unwrap_or("")
                .trim_end();
            let end = separator.start + offset(line.len());
            if separator.refused {
                let span = tree.span(separator.start, end);
                let error = SyntaxError::new(
                    span,
                    "`---` must stand alone on its line: `kubectl` reads nothing from here on",
                );
                tree.errors.push(error.help(
                    "put what follows `---` on the next line, or indent the line if it is text",
                ));
                return;
            }
            if let Some(at) = line.find('#') {
                let span = tree.span(separator.start + offset(at), end);
                tree.comments.push(Comment {
                    span,
                    own_line: false,
                });
                if separator.joins {
                    tree.notices.push(Notice {
                        kind: NoticeKind::SeparatorWithComment,
                        span: tree.span(separator.start, end),
                        other: None,
                    });
                }
            }
        }
        let (start, end) = (self.start as usize, self.end as usize);
        let Some(chunk) = text.get(start..end) else {
            return;
        };
        let bytes = Bytes::of(chunk);
        if let Some((at, character)) = control_character(chunk, bytes) {
            let at = self.start + offset(at);
            let span = tree.span(at, at + offset(character.len_utf8()));
            let message = format!(
                "the control character U+{:04X} must not stand in YAML",
                u32::from(character)
            );
            tree.errors.push(
                SyntaxError::new(span, message)
                    .help("remove it, or write it as an escape in double quotes"),
            );
            return;
        }
        let (shown, hidden) = visible(chunk, bytes);
        if hidden == Some(NoticeKind::HiddenByEnd)
            && !self.separator.is_some_and(|separator| separator.kept)
            && hidden_text(chunk.get(..shown).unwrap_or("")).is_empty()
        {
            let at = self.start + offset(shown);
            let error = SyntaxError::new(
                tree.span(at, at + 3),
                "`...` ends a document, and none has begun",
            );
            tree.errors.push(error.help("remove the line"));
            return;
        }
        if let Some(kind) = hidden {
            let rest = chunk.get(shown..).unwrap_or("");
            let from = shown + (rest.len() - hidden_text(rest).len());
            let span = tree.span(
                self.start + offset(from),
                self.start + offset(chunk.trim_end().len()),
            );
            if span.start < span.end {
                tree.notices.push(Notice {
                    kind,
                    span,
                    other: None,
                });
            }
        }
        arena::document(tree, text, start..start + shown, bytes, self.index);
        if hidden.is_some() {
            self.comments_before_hidden(tree, text, start + shown);
        }
    }

    /// Comments between the end of what is read and what is hidden may silence the finding about it.
    fn comments_before_hidden(&self, tree: &mut Tree, text: &str, shown: usize) {
        let rest = text.get(shown..self.end as usize).unwrap_or("");
        let hidden = shown + rest.len() - hidden_text(rest).len();
        let mut at = shown;
        for line in text
            .get(shown..hidden)
            .unwrap_or("")
            .split_inclusive(['\n', '\r'])
        {
            if let Some(from) = line.find('#') {
                let end = at + line.trim_end().len();
                tree.comments.push(Comment {
                    span: tree.span(offset(at + from), offset(end)),
                    own_line: line.trim_start().starts_with('#'),
                });
            }
            at += line.len();
        }
    }
}

/// What is hidden, without the end marker, blank lines and comments before it.
fn hidden_text(rest: &str) -> &str {
    let mut rest = rest.strip_prefix("...").unwrap_or(rest);
    loop {
        rest = rest.trim_start();
        match rest.strip_prefix('#') {
            Some(comment) => rest = comment.trim_start_matches(|c| c != '\n' && c != '\r'),
            None => return rest,
        }
    }
}

/// How much of a chunk is read, and why the rest is not.
///
/// An end marker in the first column ends the document in every context. A separator behind a lone CR does too,
/// and what follows is another document, of which only the first is read.
fn visible(chunk: &str, seen: Bytes) -> (usize, Option<NoticeKind>) {
    let bytes = chunk.as_bytes();
    let alone = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    let dots = memmem::find_iter(bytes, b"...")
        .find(|&at| alone(at + 3) && (at == 0 || matches!(bytes.get(at - 1), Some(b'\n' | b'\r'))));
    let dashes = || {
        memmem::find_iter(bytes, b"\r---")
            .map(|at| at + 1)
            .find(|&at| alone(at + 3) && !hidden_text(chunk.get(..at).unwrap_or("")).is_empty())
    };
    let dashes = seen.hold(Bytes::RETURN).then(dashes).flatten();
    match (dots, dashes) {
        (Some(dots), Some(dashes)) if dashes < dots => {
            (dashes, Some(NoticeKind::HiddenByCarriageReturn))
        }
        (Some(dots), _) => (dots, Some(NoticeKind::HiddenByEnd)),
        (None, Some(dashes)) => (dashes, Some(NoticeKind::HiddenByCarriageReturn)),
        (None, None) => (bytes.len(), None),
    }
}
