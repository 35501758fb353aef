//! Builds the tree of one document, node by node, and refuses what go-yaml refuses after parsing.

use std::ops::Range;

mod alias;
mod collection;
mod scalar;
mod words;

use super::build;
use super::bytes::Bytes;
use super::fault::{Notice, NoticeKind, SyntaxError};
use super::gap::{Gap, column};
use super::map;
use super::prepare::{MARK, prepare};
use super::tree::{Comment, Raw, RawDocument, Style, Tree};

/// Deeper nesting is refused, aliases followed, so that rules may walk a tree by recursion.
pub(super) const DEPTH: usize = 128;

/// No document shows more faults of its values than this.
const FAULTS: usize = 20;

/// Reads one document, which is all that `range` holds, into the tree; a broken one leaves errors only.
/// `bytes` are at least those of the range.
pub(super) fn document(tree: &mut Tree, text: &str, range: Range<usize>, bytes: Bytes, index: u32) {
    let mark = if text
        .get(range.clone())
        .is_some_and(|chunk| chunk.starts_with(MARK))
    {
        3
    } else {
        0
    };
    let start = range.start + mark;
    let Some(chunk) = text.get(start..range.end) else {
        return;
    };
    let before = tree.mark();
    let mut arena = Arena::new(tree, text, start..range.end, bytes);
    let faults = match build::parse(&prepare(chunk, bytes), start, &mut arena) {
        Ok(()) => std::mem::take(&mut arena.faults),
        Err(error) => vec![arena.explain(error)],
    };
    let root = arena.root;
    arena.give_comments();
    if !faults.is_empty() {
        tree.errors.extend(faults);
        tree.forget(before);
        return;
    }
    if let Some(root) = root
        && !super::node::Node::new(tree, text, root).is_null()
    {
        tree.documents.push(RawDocument {
            index,
            start: offset(range.start),
            end: offset(range.end),
            root,
        });
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What the parser tells of an event: its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A collection that is open.
#[derive(Debug)]
struct Frame {
    node: u32,
    map: bool,
    flow: bool,
    /// A map without braces in a flow list: `[a: b]`.
    implicit: bool,
    /// Where it begins: the column of a block collection is go-yaml's indentation.
    start: usize,
    /// That column, once it has been asked for.
    column: Option<usize>,
    /// Index into the anchors.
    anchor: Option<usize>,
    /// No child has begun.
    first: bool,
    /// The next node is a value.
    value: bool,
    /// The key stands behind `?`.
    explicit: bool,
    /// Where the key begins, its anchor and tag included.
    key_start: usize,
    size: u64,
    depth: usize,
    /// Where its last child ends.
    end: u32,
}

/// What `&name` stands before.
#[derive(Debug)]
struct Anchor {
    node: u32,
    /// Its node is complete.
    closed: bool,
    /// How many nodes it stands for, aliases followed.
    size: u64,
    depth: usize,
}

#[derive(Debug)]
pub(super) struct Arena<'b> {
    tree: &'b mut Tree,
    text: &'b str,
    end: usize,
    bytes: Bytes,
    stack: Vec<Frame>,
    anchors: Vec<Anchor>,
    gap: Gap,
    root: Option<u32>,
    /// What go-yaml finds after parsing.
    faults: Vec<SyntaxError>,
    /// How many nodes go-yaml has decoded here, aliases followed, and how many of them through aliases.
    decoded: u64,
    aliased: u64,
    /// How many entries merges may still bring.
    merges: usize,
    /// The map whose end comes next is none.
    dissolved: bool,
}

impl<'b> Arena<'b> {
    fn new(tree: &'b mut Tree, text: &'b str, range: Range<usize>, bytes: Bytes) -> Self {
        Self {
            tree,
            text,
            end: range.end,
            bytes,
            stack: Vec::with_capacity(16),
            anchors: Vec::new(),
            gap: Gap::new(range.start),
            root: None,
            faults: Vec::new(),
            decoded: 1,
            aliased: 0,
            merges: map::MERGED,
            dissolved: false,
        }
    }

    pub(super) fn refuse(
        &self,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> SyntaxError {
        let span = self.tree.span(offset(start), offset(end));
        let span = if start < end {
            span
        } else {
            span.first_character(self.text)
        };
        SyntaxError::new(span, message)
    }

    /// Many a fault is only that a bracket is still open.
    fn explain(&self, error: SyntaxError) -> SyntaxError {
        let Some(frame) = self
            .stack
            .last()
            .filter(|frame| frame.flow && !frame.implicit)
        else {
            return error;
        };
        let before = self
            .text
            .get(frame.start..error.span.start as usize)
            .unwrap_or("");
        if !before.contains(['\n', '\r']) {
            return error;
        }
        let bracket = if frame.map { '{' } else { '[' };
        let span = self.tree.span(offset(frame.start), offset(frame.start + 1));
        error.because(span, format!("this `{bracket}` is still open"))
    }

    fn give_comments(&mut self) {
        for (start, end, own_line) in std::mem::take(&mut self.gap.comments) {
            let span = self.tree.span(offset(start), offset(end));
            self.tree.comments.push(Comment { span, own_line });
        }
    }

    /// A fault that does not keep the rest from being read.
    fn note(&mut self, node: u32, message: impl Into<String>) {
        if self.faults.len() < FAULTS
            && let Some(raw) = self.tree.nodes.get(node as usize)
        {
            self.faults
                .push(self.refuse(raw.start as usize, raw.end as usize, message));
        }
    }

    /// go-yaml's indentation, plus one.
    fn indent(stack: &mut [Frame], text: &str) -> usize {
        let block = stack.iter_mut().rev().find(|frame| !frame.flow);
        block.map_or(0, |frame| {
            let start = frame.start;
            *frame.column.get_or_insert_with(|| column(text, start)) + 1
        })
    }

    fn walk(&mut self, to: usize) {
        let (stack, text) = (&mut self.stack, self.text);
        self.gap.walk(self.text, to, || Self::indent(stack, text));
    }

    fn walk_to(&mut self, stop: u8) -> Option<usize> {
        let (stack, text) = (&mut self.stack, self.text);
        self.gap.walk_until(self.text, self.end, Some(stop), || {
            Self::indent(stack, text)
        })
    }

    /// Whether what was walked holds a fault.
    fn check(&self) -> Result<(), SyntaxError> {
        match &self.gap.fault {
            None => Ok(()),
            Some(fault) => {
                let (message, help) = fault.kind.words();
                Err(self.refuse(fault.start, fault.end, message).help(help))
            }
        }
    }

    /// All nodes are read. What still follows a root that is complete is hidden.
    pub(super) fn finish(&mut self) -> Result<(), SyntaxError> {
        let next = self.gap.blank_end(self.text, self.end);
        if !self.stack.is_empty() || self.root.is_none() || next == self.end {
            self.walk(self.end);
            return self.check();
        }
        self.walk(next);
        let hidden = self.text.get(next..self.end).unwrap_or("").trim_end();
        let span = self.tree.span(offset(next), offset(next + hidden.len()));
        self.tree.notices.push(Notice {
            kind: NoticeKind::HiddenByRoot,
            span,
            other: None,
        });
        Ok(())
    }

    /// Whether the root is complete so that go-yaml looks no further.
    pub(super) fn is_complete(&self) -> bool {
        self.stack.is_empty()
            && self
                .root
                .and_then(|root| self.tree.nodes.get(root as usize))
                .is_some_and(|root| root.style != Style::Block)
    }

    /// Whether go-yaml, which looks at one more token, stops without a word.
    pub(super) fn is_ignored_from_here(&self) -> bool {
        let next = self.gap.blank_end(self.text, self.end);
        let rest = self.text.get(next..self.end).unwrap_or("");
        self.is_complete()
            && !rest.starts_with(['@', '`', '%', '\t'])
            && !matches!(
                rest.as_bytes(),
                [b':'] | [b':', b' ' | b'\t' | b'\n' | b'\r', ..]
            )
    }

    /// Before a node: takes the `-` of an item, and knows the root.
    fn begin(&mut self) {
        let item = self
            .stack
            .last()
            .is_some_and(|frame| !frame.map && !frame.flow && !frame.first);
        if item {
            self.walk_to(b'-');
        }
        match self.stack.last_mut() {
            Some(frame) => frame.first = false,
            None => self.root = Some(offset(self.tree.nodes.len())),
        }
    }

    fn is_key(&self) -> bool {
        self.stack
            .last()
            .is_some_and(|frame| frame.map && !frame.value)
    }

    /// A node begins at `start`, and everything before it is walked: settles whether it is a key or a value.
    fn role(&mut self, start: usize) -> Result<(), SyntaxError> {
        let colon = self.gap.colon;
        if let Some(frame) = self.stack.last_mut()
            && frame.map
        {
            if frame.value {
                frame.value = false;
                if let Some(colon) = colon
                    && !frame.explicit
                    && !one_line(self.text, frame.key_start, colon)
                {
                    return Err(self.refuse(
                        colon,
                        colon + 1,
                        "the `:` must stand on the line of its key",
                    ));
                }
            } else {
                frame.value = true;
                frame.explicit = self.gap.question;
                frame.key_start = self.gap.property.unwrap_or(start);
            }
        }
        self.gap.forget();
        self.check()
    }

    fn push(&mut self, raw: Raw) -> u32 {
        let node = offset(self.tree.nodes.len());
        self.tree.nodes.push(raw);
        node
    }

    /// A child of the innermost collection is complete: so many nodes, up to this byte.
    fn grow(&mut self, size: u64, end: u32) {
        if let Some(frame) = self.stack.last_mut() {
            frame.size = frame.size.saturating_add(size);
            frame.end = frame.end.max(end);
        }
    }
}

/// Whether a key and its `:` are near enough for go-yaml: on one line, 1024 characters at most.
fn one_line(text: &str, start: usize, colon: usize) -> bool {
    const MOST: usize = 1024;
    let key = text.get(start..colon).unwrap_or("");
    key.len() <= 4 * MOST
        && memchr::memchr2(b'\n', b'\r', key.as_bytes()).is_none()
        && (key.len() <= MOST || key.chars().count() <= MOST)
}
