//! Builds the tree of one document, node by node, and refuses what go-yaml refuses after parsing.

use std::ops::Range;

use super::build;
use super::fault::{Notice, NoticeKind, SyntaxError};
use super::gap::{Gap, column};
use super::map::{self, MapFault};
use super::prepare::{MARK, prepare};
use super::scalar::{self, Plain, Tag};
use super::tree::{Comment, Raw, RawDocument, Shape, Style, Tree};
use super::written;

/// Deeper nesting is refused, aliases followed, so that rules may walk a tree by recursion.
pub(super) const DEPTH: usize = 128;

/// No document shows more faults of its values than this.
const FAULTS: usize = 20;

/// Reads one document, which is all that `range` holds, into the tree; a broken one leaves errors only.
pub(super) fn document(tree: &mut Tree, text: &str, range: Range<usize>, index: u32) {
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
    let mut arena = Arena::new(tree, text, start..range.end);
    let faults = match build::parse(&prepare(chunk), start, &mut arena) {
        Ok(()) => std::mem::take(&mut arena.faults),
        Err(error) => vec![error],
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
    fn new(tree: &'b mut Tree, text: &'b str, range: Range<usize>) -> Self {
        Self {
            tree,
            text,
            end: range.end,
            stack: Vec::new(),
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
    fn indent(stack: &[Frame], text: &str) -> usize {
        let block = stack.iter().rev().find(|frame| !frame.flow);
        block.map_or(0, |frame| column(text, frame.start) + 1)
    }

    fn walk(&mut self, to: usize) {
        let (stack, text) = (&self.stack, self.text);
        self.gap.walk(self.text, to, || Self::indent(stack, text));
    }

    fn walk_to(&mut self, stop: u8) -> Option<usize> {
        let (stack, text) = (&self.stack, self.text);
        self.gap.walk_until(self.text, self.end, Some(stop), || {
            Self::indent(stack, text)
        })
    }

    /// Whether what was walked holds a fault.
    fn check(&mut self) -> Result<(), SyntaxError> {
        match self.gap.fault.take() {
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

    pub(super) fn scalar(
        &mut self,
        token: Token,
        value: &str,
        style: Style,
        anchor: usize,
        tag: Tag,
    ) -> Result<(), SyntaxError> {
        self.begin();
        let Token { start, end, .. } = token;
        if start == end && style == Style::Plain {
            return self.absent(anchor, tag);
        }
        self.walk(start);
        let block = matches!(style, Style::Literal | Style::Folded);
        if block && self.stack.is_empty() && self.is_outdented(start) {
            // go-yaml wants at least one blank before the text: the scalar is empty, and the rest is ignored.
            let from = self.gap.header.unwrap_or(start);
            let header = self.text.get(from..start).unwrap_or("").trim_end();
            return self.leaf(
                Raw {
                    start: offset(from),
                    end: offset(from + header.len()),
                    a: 0,
                    b: 0,
                    shape: Shape::Scalar,
                    style,
                    tag,
                    absent: false,
                },
                anchor,
                false,
            );
        }
        let whole = if block {
            let from = self.gap.header.unwrap_or(start);
            let written = self.text.get(from..end).unwrap_or("");
            from..from + written.trim_end_matches([' ', '\t', '\n', '\r']).len()
        } else {
            start..end
        };
        let is_key = self.is_key();
        self.role(whole.start)?;
        // The blank lines behind a block scalar are read under its indentation.
        let rest = self.text.get(end..self.end).unwrap_or("");
        let blanks = if block {
            rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
        } else {
            0
        };
        let written = self.text.get(whole.start..end + blanks).unwrap_or("");
        let indent = || Self::indent(&self.stack, self.text);
        self.gap.fault = written::check(written, whole.start, style, self.gap.in_flow(), indent);
        self.check()?;
        self.gap.token(end, style == Style::Plain, block);
        let mut raw = Raw {
            start: offset(whole.start),
            end: offset(whole.end),
            a: Raw::SOURCE,
            b: 0,
            shape: Shape::Scalar,
            style,
            tag,
            absent: false,
        };
        if block || self.tree.scalar_text(self.text, &raw) != value {
            raw.a = offset(self.tree.cooked.len());
            raw.b = offset(value.len());
            self.tree.cooked.push_str(value);
        }
        self.leaf(raw, anchor, is_key)
    }

    /// Whether the first line from `start` on that is not empty begins in the first column.
    fn is_outdented(&self, start: usize) -> bool {
        let header = self.gap.header.unwrap_or(start);
        let text = self.text.get(header..self.end).unwrap_or("");
        text.lines()
            .skip(1)
            .find(|line| !line.is_empty())
            .is_some_and(|line| !line.starts_with(' '))
    }

    /// A value that is not written: its place is behind the last indicator.
    fn absent(&mut self, anchor: usize, tag: Tag) -> Result<(), SyntaxError> {
        let is_key = self.is_key();
        if !is_key && self.take_bare_colon() {
            return Ok(());
        }
        if self.stack.last().is_some_and(|frame| frame.map) {
            let next = self.gap.blank_end(self.text, self.end);
            let indicator = self.text.as_bytes().get(next);
            if indicator == Some(if is_key { &b'?' } else { &b':' }) {
                self.walk(next + 1);
            } else if is_key && !self.gap.question {
                return Err(self.refuse(next, next, "no key stands before the `:`"));
            }
        }
        if let (Some(property), true) = (self.property_ahead(), anchor != 0 || tag != Tag::None) {
            self.walk(property);
        }
        let at = self.gap.at;
        self.role(at)?;
        let raw = Raw {
            start: offset(at),
            end: offset(at),
            a: Raw::SOURCE,
            b: 0,
            shape: Shape::Scalar,
            style: Style::Plain,
            tag,
            absent: true,
        };
        self.leaf(raw, anchor, is_key)
    }

    /// The end of the anchor and the tag of a value that is not written.
    fn property_ahead(&self) -> Option<usize> {
        let mut end = None;
        let mut rest = self.text.get(self.gap.at..self.end)?;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            if !rest.starts_with(['&', '!']) {
                return end;
            }
            rest = rest.trim_start_matches(|c: char| {
                !c.is_ascii_whitespace() && !matches!(c, ',' | ']' | '}')
            });
            end = Some(self.end - rest.len());
        }
    }

    /// In flow go-yaml reads `001:db8::` before `,`, `]` or `}` as a string, the parser as a key without a value.
    /// Makes that string of the key. Returns whether it has thereby become an item of a list.
    fn take_bare_colon(&mut self) -> bool {
        let Some(frame) = self.stack.last() else {
            return false;
        };
        let Some(key) = self.tree.nodes.last_mut() else {
            return false;
        };
        let written = self.text.as_bytes().get(key.end as usize..).unwrap_or(&[]);
        let bare = frame.flow
            && key.shape == Shape::Scalar
            && key.style == Style::Plain
            && key.end as usize == self.gap.at
            && !key.absent
            && matches!(written, [b':', b',' | b']' | b'}', ..]);
        if !bare {
            return false;
        }
        if key.a != Raw::SOURCE {
            self.tree.cooked.push(':');
            key.b += 1;
        }
        key.end += 1;
        self.gap.at += 1;
        if !frame.implicit {
            return false;
        }
        let (map, key) = (frame.node, *key);
        self.stack.pop();
        self.tree.nodes.truncate(map as usize);
        self.tree.nodes.push(key);
        if let Some(anchor) = self
            .anchors
            .last_mut()
            .filter(|anchor| anchor.node == map + 1)
        {
            anchor.node = map;
        }
        self.grow(1, key.end);
        self.dissolved = true;
        true
    }

    /// Adds a scalar.
    fn leaf(&mut self, raw: Raw, anchor: usize, is_key: bool) -> Result<(), SyntaxError> {
        let node = self.push(raw);
        self.anchor(anchor, node, true, 1, 0);
        self.grow(1, raw.end);
        self.count(0, node);
        if raw.tag != Tag::None || !is_key {
            let text = self.tree.scalar_text(self.text, &raw);
            match scalar::resolve(raw.tag, raw.style != Style::Plain, text) {
                Ok(Plain::Float(value)) if !value.is_finite() && !is_key => {
                    let message = format!("`{text}` is no number that JSON can hold");
                    self.note(node, message);
                }
                Ok(_) => {}
                Err(reason) => self.note(node, reason),
            }
        }
        Ok(())
    }

    pub(super) fn open(
        &mut self,
        token: Token,
        map: bool,
        flow: bool,
        anchor: usize,
    ) -> Result<(), SyntaxError> {
        self.begin();
        let mut start = token.start;
        if map || flow {
            self.walk(start);
        } else {
            start = self.walk_to(b'-').unwrap_or(start);
        }
        // The `?` of the first key belongs to the map that it opens.
        let question = self.gap.question && map && !flow;
        self.role(start)?;
        self.gap.question = question;
        let node = self.push(Raw {
            start: offset(start),
            end: offset(start),
            a: 0,
            b: 0,
            shape: if map { Shape::Map } else { Shape::List },
            style: if flow { Style::Flow } else { Style::Block },
            tag: Tag::None,
            absent: false,
        });
        self.count(0, node);
        let anchor = self.anchor(anchor, node, false, 0, 0);
        self.stack.push(Frame {
            node,
            map,
            flow,
            implicit: flow && token.start == token.end,
            start,
            anchor,
            first: true,
            value: false,
            explicit: false,
            key_start: start,
            size: 1,
            depth: 0,
            end: offset(start),
        });
        if self.stack.len() > DEPTH {
            return Err(self.refuse(start, start, format!("nested deeper than {DEPTH} levels")));
        }
        Ok(())
    }

    pub(super) fn close(&mut self, token: Token) -> Result<(), SyntaxError> {
        if std::mem::take(&mut self.dissolved) {
            return Ok(());
        }
        let end = token.end;
        let bracketed = token.start < token.end;
        if self.stack.last().is_some_and(|frame| !frame.flow) {
            // The blanks behind the last value are still under its indentation.
            self.walk(self.gap.blank_end(self.text, self.end));
            self.check()?;
        }
        if bracketed {
            self.walk(end);
            self.check()?;
        }
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let after = offset(self.tree.nodes.len());
        let end = if bracketed { offset(end) } else { frame.end };
        if let Some(raw) = self.tree.nodes.get_mut(frame.node as usize) {
            raw.a = after;
            raw.end = end;
        }
        if let Some(anchor) = frame.anchor.and_then(|index| self.anchors.get_mut(index)) {
            anchor.closed = true;
            anchor.size = frame.size;
            anchor.depth = frame.depth + 1;
        }
        self.grow(frame.size, end);
        if let Some(parent) = self.stack.last_mut() {
            parent.depth = parent.depth.max(frame.depth + 1);
        }
        if frame.map
            && self.faults.is_empty()
            && let Err(fault) = map::settle(self.tree, self.text, frame.node, &mut self.merges)
        {
            self.map_fault(fault);
        }
        Ok(())
    }

    fn map_fault(&mut self, fault: MapFault) {
        match fault {
            MapFault::Key(key) => self.note(key, "a map or a list cannot be a key"),
            MapFault::Name(key, reason) => self.note(key, reason),
            MapFault::Merge(value) => self.note(
                value,
                "`<<` merges maps only: an alias of a map, or a list of such",
            ),
            MapFault::TooMany(value) => {
                self.note(
                    value,
                    format!(
                        "the merges of this document bring more than {} entries",
                        map::MERGED
                    ),
                );
            }
        }
    }

    pub(super) fn alias(&mut self, token: Token, id: usize) -> Result<(), SyntaxError> {
        self.begin();
        let Token { start, end, .. } = token;
        self.walk(start);
        self.role(start)?;
        self.gap.token(end, false, false);
        let Some(target) = id.checked_sub(1).and_then(|id| self.anchors.get(id)) else {
            return Ok(());
        };
        let (size, depth, closed) = (target.size, target.depth, target.closed);
        let node = target.node;
        let node = self.push(Raw {
            start: offset(start),
            end: offset(end),
            a: node,
            b: 0,
            shape: Shape::Alias,
            style: Style::Plain,
            tag: Tag::None,
            absent: false,
        });
        if !closed {
            return Err(self.refuse(start, end, "an alias stands inside of what it stands for"));
        }
        if self.stack.len() + depth > DEPTH {
            return Err(self.refuse(
                start,
                end,
                format!("nested deeper than {DEPTH} levels, aliases followed"),
            ));
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.depth = frame.depth.max(depth);
        }
        self.grow(size.saturating_add(1), offset(end));
        self.count(size, node);
        Ok(())
    }

    pub(super) fn unresolved(&mut self, token: Token, name: &str) -> Result<(), SyntaxError> {
        self.begin();
        self.walk(token.start);
        self.role(token.start)?;
        self.gap.token(token.end, false, false);
        let error = self.alias_error(token.start, token.end, name);
        if self.faults.len() < FAULTS {
            self.faults.push(error);
        }
        self.push(Raw {
            start: offset(token.start),
            end: offset(token.end),
            a: Raw::SOURCE,
            b: 0,
            shape: Shape::Scalar,
            style: Style::Double,
            tag: Tag::None,
            absent: false,
        });
        Ok(())
    }

    /// An alias of nothing is mostly a wildcard without quotes.
    pub(super) fn alias_error(&self, start: usize, end: usize, name: &str) -> SyntaxError {
        let written = self.text.get(start..end).unwrap_or("");
        if !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        {
            return self
                .refuse(
                    start,
                    end,
                    format!("no anchor `&{name}` stands before the alias `*{name}`"),
                )
                .help("define the anchor above in the same document, or quote the text");
        }
        let what = if name.starts_with('.') {
            "wildcard host"
        } else {
            "text"
        };
        self.refuse(
            start,
            end,
            format!("`*` begins an alias: `{written}` is no text without quotes"),
        )
        .help(format!("quote the {what}: `\"{written}\"`"))
        .quote()
    }

    /// The alias without a name around `at`.
    pub(super) fn bare_star(&self, at: usize) -> Option<SyntaxError> {
        let line = self
            .text
            .get(self.gap.at..at + 1)
            .or_else(|| self.text.get(self.gap.at..at))?;
        let start = self.gap.at + line.rfind('*')?;
        let rest = self.text.get(start..self.end)?;
        let flow = self.gap.in_flow();
        let ends = |c: char| c.is_whitespace() || flow && matches!(c, ',' | ']' | '}');
        let end = start + rest.find(ends).unwrap_or(rest.len());
        Some(self.alias_error(start, end, ""))
    }

    fn push(&mut self, raw: Raw) -> u32 {
        let node = offset(self.tree.nodes.len());
        self.tree.nodes.push(raw);
        node
    }

    fn anchor(
        &mut self,
        id: usize,
        node: u32,
        closed: bool,
        size: u64,
        depth: usize,
    ) -> Option<usize> {
        if id == 0 {
            return None;
        }
        self.anchors.push(Anchor {
            node,
            closed,
            size,
            depth,
        });
        Some(self.anchors.len() - 1)
    }

    /// A child of the innermost collection is complete: so many nodes, up to this byte.
    fn grow(&mut self, size: u64, end: u32) {
        if let Some(frame) = self.stack.last_mut() {
            frame.size = frame.size.saturating_add(size);
            frame.end = frame.end.max(end);
        }
    }

    /// Counts a node and what comes through it if it is an alias. go-yaml refuses a document of which aliases make
    /// too much.
    fn count(&mut self, aliased: u64, node: u32) {
        let all = aliased.saturating_add(1);
        self.decoded = self.decoded.saturating_add(all);
        self.aliased = self.aliased.saturating_add(aliased);
        if self.aliased > 100 && self.decoded > 1000 && excessive(self.aliased, self.decoded) {
            self.note(node, "aliases make up too much of this document");
        }
    }
}

/// go-yaml's bound on the share of nodes that come through aliases.
#[expect(clippy::cast_precision_loss, reason = "go-yaml computes likewise")]
fn excessive(aliased: u64, decoded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let (aliased, decoded) = (aliased as f64, decoded as f64);
    let part = ((decoded - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    aliased / decoded > 0.99 - 0.89 * part
}

/// Whether a key and its `:` are near enough for go-yaml: on one line, 1024 characters at most.
fn one_line(text: &str, start: usize, colon: usize) -> bool {
    const MOST: usize = 1024;
    let key = text.get(start..colon).unwrap_or("");
    key.len() <= 4 * MOST
        && !key.contains(['\n', '\r'])
        && (key.len() <= MOST || key.chars().count() <= MOST)
}
