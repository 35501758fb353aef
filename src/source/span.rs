//! Where a value stands: a file and a range of its bytes.

/// One input file of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes of one file, `start..end`, on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The first byte only, as a place to point at when the whole would be too much.
    #[must_use]
    pub fn first_character(self, text: &str) -> Span {
        let rest = text.get(self.start as usize..).unwrap_or("");
        let width = rest.chars().next().map_or(0, char::len_utf8);
        Span {
            end: self.start + u32::try_from(width).unwrap_or(0),
            ..self
        }
    }
}

/// A value read from a manifest, with the bytes it came from.
///
/// `span` is the value's; `key` is that of the key before it. An item of a list has its first character as `key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
    pub key: Span,
}

impl<T> Spanned<T> {
    pub fn new(value: T, span: Span, key: Span) -> Self {
        Self { value, span, key }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: f(self.value),
            span: self.span,
            key: self.key,
        }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A place as people and editors count: lines and columns from 1, columns in Unicode scalar values.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
pub struct Position {
    pub line: u32,
    pub column: u32,
    /// Bytes from the start of the file.
    pub offset: u32,
}
