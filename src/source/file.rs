//! The texts of a run and their line indexes.

use std::sync::OnceLock;

use super::{FileId, Position, Span};

/// One input file: the path as it is shown and the text as it was read.
#[derive(Debug)]
pub struct SourceFile {
    /// Relative to the working directory, with `/`; raw, so printers must escape control characters.
    pub path: String,
    pub text: String,
    lines: OnceLock<Box<Lines>>,
}

/// Where lines begin, and how many characters begin before each step of bytes.
#[derive(Debug)]
struct Lines {
    starts: Vec<u32>,
    characters: Vec<u32>,
}

/// Bytes between two entries of the index of characters: lines may be as long as the file.
const STEP: usize = 1024;

impl SourceFile {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            lines: OnceLock::new(),
        }
    }

    /// The offset of each line's first byte. LF, CRLF and a lone CR end a line.
    pub fn line_starts(&self) -> &[u32] {
        &self.lines().starts
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Box::new(Lines::of(&self.text)))
    }

    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let line = starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1);
        let start = starts.get(line).copied().unwrap_or(0);
        let column = self
            .characters_before(offset)
            .saturating_sub(self.characters_before(start));
        Position {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: column + 1,
            offset,
        }
    }

    /// How many characters begin before `offset`.
    fn characters_before(&self, offset: u32) -> u32 {
        let bytes = self.text.as_bytes();
        let steps = &self.lines().characters;
        let at = (offset as usize).min(bytes.len());
        let step = (at / STEP).min(steps.len().saturating_sub(1));
        let rest = bytes.get(step * STEP..at).unwrap_or(&[]);
        steps.get(step).copied().unwrap_or(0) + characters(rest)
    }

    /// The bytes of a line, counted from 0, without what ends it.
    pub fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let starts = self.line_starts();
        let at = |line: usize| starts.get(line).map_or(self.text.len(), |&at| at as usize);
        let whole = self.text.get(at(line)..at(line + 1)).unwrap_or("");
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        at(line)..at(line) + text.len()
    }

    pub fn slice(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
}

impl Lines {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
            }
        }
        starts.shrink_to_fit();
        let sum = |sum: &mut u32, step: &[u8]| {
            let before = *sum;
            *sum += characters(step);
            Some(before)
        };
        Self {
            starts,
            characters: bytes.chunks(STEP).scan(0, sum).collect(),
        }
    }
}

/// How many characters begin in these bytes.
fn characters(bytes: &[u8]) -> u32 {
    let starts = bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80);
    u32::try_from(starts.count()).unwrap_or(u32::MAX)
}

/// All files of a run. A file that holds nothing of interest is never added.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.files.reserve(more);
    }

    /// # Panics
    /// Never in practice: after 2^32 files.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(file);
        id
    }

    pub fn get(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Drops a text that nothing points into.
    pub fn forget(&mut self, id: FileId) {
        if let Some(file) = self.files.get_mut(id.0 as usize) {
            *file = SourceFile::new(std::mem::take(&mut file.path), "");
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, file)| (FileId(u32::try_from(i).unwrap_or(u32::MAX)), file))
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).slice(span)
    }

    pub fn start(&self, span: Span) -> Position {
        self.get(span.file).position(span.start)
    }

    pub fn end(&self, span: Span) -> Position {
        self.get(span.file).position(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_far_into_a_line() {
        let file = SourceFile::new("a.yaml", format!("한\n{}b", "글".repeat(5000)));
        let end = u32::try_from(file.text.len()).unwrap();
        let place = file.position(end - 1);
        assert_eq!((place.line, place.column), (2, 5001));
        assert_eq!(file.position(end).column, 5002);
        assert_eq!((file.position(0).line, file.position(0).column), (1, 1));
        assert_eq!(file.position(3).column, 2);
    }

    #[test]
    fn lines_end_before_what_ends_them() {
        let file = SourceFile::new("a.yaml", "a: 한글\r\nb\rc\n");
        assert_eq!(file.line_range(0), 0..9);
        assert_eq!(file.line_range(1), 11..12);
        assert_eq!(file.line_range(2), 13..14);
        assert_eq!(file.line_range(9), 15..15);
    }

    #[test]
    fn an_empty_file_has_a_first_line() {
        let place = SourceFile::new("a.yaml", "").position(0);
        assert_eq!((place.line, place.column), (1, 1));
    }

    #[test]
    fn line_feeds_and_carriage_returns_end_lines() {
        let file = SourceFile::new("a.yaml", "a\r\nb\rc\n");
        let lines: Vec<_> = (0..7).map(|at| file.position(at).line).collect();
        assert_eq!(lines, [1, 1, 1, 2, 2, 3, 3]);
    }
}
