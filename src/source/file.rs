//! The texts of a run and their line indexes.

use std::sync::OnceLock;

use super::{FileId, Position, Span};

/// One input file: the path as it is shown and the text as it was read.
#[derive(Debug)]
pub struct SourceFile {
    /// Relative to the working directory, with `/`; raw, so printers must escape control characters.
    pub path: String,
    pub text: String,
    lines: OnceLock<Vec<u32>>,
}

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
        self.lines.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let mut starts = vec![0];
            for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
                if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                    starts.push(u32::try_from(at + 1).unwrap_or(u32::MAX));
                }
            }
            starts
        })
    }

    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let line = starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1);
        let start = starts.get(line).copied().unwrap_or(0);
        let before = self.text.get(start as usize..offset as usize).unwrap_or("");
        Position {
            line: u32::try_from(line + 1).unwrap_or(u32::MAX),
            column: u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX),
            offset,
        }
    }

    pub fn slice(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
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
