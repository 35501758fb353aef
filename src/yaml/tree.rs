//! The arena: every node of a file in the order of the text, 20 bytes each.

use std::borrow::Cow;

use crate::source::{FileId, Span};

use super::fault::{Notice, SyntaxError};
use super::node::Node;
use super::scalar;
use super::split::{Chunk, split};
use super::tag::Tag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Map,
    List,
    Scalar,
    Alias,
}

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes.
    Plain,
    Single,
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A map or a list by indentation.
    Block,
    /// A map or a list in brackets.
    Flow,
}

/// A node. What `a` and `b` hold depends on its shape:
///
/// | shape | `a` | `b` |
/// |---|---|---|
/// | map | index after the last descendant | 1 + index into `Tree::effective`, or 0 |
/// | list | index after the last descendant | – |
/// | scalar | offset into `Tree::cooked`, or [`Raw::SOURCE`] | length there |
/// | alias | the node it stands for | – |
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) shape: Shape,
    pub(super) style: Style,
    pub(super) tag: Tag,
    pub(super) sight: Sight,
}

/// What a scalar is at first sight: most need no second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// A value that is not written at all.
    Absent,
    /// An untagged string, and as a key called what is written.
    Text,
    /// Something else, or no scalar.
    Other,
}

impl Raw {
    /// The scalar's text is that of the file.
    pub(super) const SOURCE: u32 = u32::MAX;

    /// What stands in the text, without the quotes.
    pub(super) fn written<'t>(&self, text: &'t str) -> &'t str {
        let quote = u32::from(matches!(self.style, Style::Single | Style::Double));
        text.get((self.start + quote) as usize..self.end.saturating_sub(quote) as usize)
            .unwrap_or("")
    }
}

/// The entries of a map that has a merge or a key twice: what Kubernetes takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) key: u32,
    pub(super) value: u32,
    /// The alias or the map behind `<<` that brought it, or the key itself.
    pub(super) via: u32,
}

/// A comment, from its `#` to the end of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    pub span: Span,
    /// Nothing but blanks stands before it on its line.
    pub own_line: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawDocument {
    pub(super) index: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) root: u32,
}

/// What one file, or some chunks of it, hold. Its nodes know offsets only: the text is lent to it for reading.
#[derive(Debug)]
pub struct Tree {
    pub(super) file: FileId,
    pub(super) nodes: Vec<Raw>,
    /// The texts of scalars that differ from what is written.
    pub(super) cooked: String,
    pub(super) effective: Vec<Vec<Pair>>,
    pub(super) documents: Vec<RawDocument>,
    pub(super) comments: Vec<Comment>,
    pub(super) errors: Vec<SyntaxError>,
    pub(super) notices: Vec<Notice>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    nodes: usize,
    cooked: usize,
    effective: usize,
    notices: usize,
}

/// One document of a file. Documents that are empty or null do not exist: Kubernetes passes over them.
#[derive(Clone, Copy, Debug)]
pub struct Document<'t> {
    /// The number of its chunk in the file, from 0.
    pub index: usize,
    /// From behind the separator before it to the separator after it.
    pub span: Span,
    pub root: Node<'t>,
}

impl Tree {
    /// Reads a whole file. Never fails: what could not be read is in [`Tree::errors`].
    pub fn parse(file: FileId, text: &str) -> Self {
        Self::parse_chunks(file, text, &split(text))
    }

    /// Reads some of the chunks that [`split`] made of the same text.
    pub fn parse_chunks(file: FileId, text: &str, chunks: &[Chunk]) -> Self {
        // Manifests have about one node in ten bytes; of a large text some may lie in one long scalar.
        let bytes: usize = chunks.iter().map(|chunk| chunk.text(text).len()).sum();
        let mut tree = Self {
            file,
            nodes: Vec::with_capacity((bytes / 10).min(4096)),
            cooked: String::new(),
            effective: Vec::new(),
            documents: Vec::new(),
            comments: Vec::new(),
            errors: Vec::new(),
            notices: Vec::new(),
        };
        for chunk in chunks {
            chunk.read(&mut tree, text);
        }
        tree
    }

    /// The document in which something stands.
    pub(super) fn document_around<'t>(
        &'t self,
        text: &'t str,
        place: Span,
    ) -> Option<Document<'t>> {
        let at = self
            .documents
            .partition_point(|document| document.end < place.end);
        let document = self.document(self.documents.get(at)?, text);
        document.span.contains(place).then_some(document)
    }

    fn document<'t>(&'t self, raw: &RawDocument, text: &'t str) -> Document<'t> {
        Document {
            index: raw.index as usize,
            span: self.span(raw.start, raw.end),
            root: Node::new(self, text, raw.root),
        }
    }

    /// The documents in their order. `text` is the one that was parsed.
    pub fn documents<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Document<'t>> {
        self.documents
            .iter()
            .map(move |raw| self.document(raw, text))
    }

    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// What Kubernetes reads otherwise than it looks, or its readers do not agree on.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Sorted by their place.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The state to which [`Tree::forget`] goes back.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            cooked: self.cooked.len(),
            effective: self.effective.len(),
            notices: self.notices.len(),
        }
    }

    /// Forgets the nodes of a document that is refused, and what was noticed about them.
    pub(super) fn forget(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        self.cooked.truncate(mark.cooked);
        self.effective.truncate(mark.effective);
        self.notices.truncate(mark.notices);
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.file, start, end)
    }

    /// The index after a node and all below it.
    pub(super) fn after(&self, index: u32) -> u32 {
        match self.nodes.get(index as usize) {
            Some(raw) if matches!(raw.shape, Shape::Map | Shape::List) => raw.a,
            _ => index.saturating_add(1),
        }
    }

    /// Follows an alias to what it stands for.
    pub(super) fn target(&self, index: u32) -> u32 {
        match self.nodes.get(index as usize) {
            Some(raw) if raw.shape == Shape::Alias => raw.a,
            _ => index,
        }
    }

    /// A scalar's text after unescaping and folding.
    pub(super) fn scalar_text<'t>(&'t self, text: &'t str, raw: &Raw) -> &'t str {
        if raw.a != Raw::SOURCE {
            let start = raw.a as usize;
            return self.cooked.get(start..start + raw.b as usize).unwrap_or("");
        }
        raw.written(text)
    }

    /// What a scalar is called when it is a key. The error says why Kubernetes refuses it.
    pub(super) fn key<'t>(&'t self, text: &'t str, raw: &Raw) -> Result<Cow<'t, str>, String> {
        let text = self.scalar_text(text, raw);
        match raw.sight {
            Sight::Text => Ok(Cow::Borrowed(text)),
            _ => scalar::key(raw.tag, raw.style != Style::Plain, text),
        }
    }
}
