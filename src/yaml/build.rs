//! From the parser's events to the arena. The only place that knows the parser.

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};

use super::fault::SyntaxError;
use super::gap::Gap;
use super::scalar::Tag;
use super::tree::{Comment, Raw, RawDocument, Shape, Style, Tree};

/// Deeper nesting is refused, so that rules may walk a tree by recursion.
pub(super) const DEPTH: usize = 128;

fn options() -> Options {
    granit_parser::options! {
        bom_inside_document_as_content: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    }
}

/// Reads one document, which is all that `range` holds, into the tree; a broken one leaves an error only.
pub(super) fn document(tree: &mut Tree, text: &str, range: Range<usize>, index: u32) {
    let skip = if text
        .get(range.clone())
        .is_some_and(|chunk| chunk.starts_with('\u{feff}'))
    {
        3
    } else {
        0
    };
    let start = range.start + skip;
    let Some(chunk) = text.get(start..range.end) else {
        return;
    };
    let nodes = tree.nodes.len();
    let cooked = tree.cooked.len();
    let effective = tree.effective.len();
    let mut builder = Builder {
        tree,
        text,
        base: start,
        end: range.end,
        stack: Vec::new(),
        anchors: Vec::new(),
        gap: Gap::new(start),
        root: None,
        faults: Vec::new(),
    };
    let outcome = builder.read(chunk);
    let faults = std::mem::take(&mut builder.faults);
    let comments = std::mem::take(&mut builder.gap.comments);
    let root = builder.root;
    let file = tree.file;
    tree.comments
        .extend(comments.into_iter().map(|(start, end, own_line)| Comment {
            span: crate::source::Span::new(file, offset(start), offset(end)),
            own_line,
        }));
    let faults = match outcome {
        Ok(()) => faults,
        Err(error) => vec![error],
    };
    if !faults.is_empty() {
        tree.errors.extend(faults);
        tree.nodes.truncate(nodes);
        tree.cooked.truncate(cooked);
        tree.effective.truncate(effective);
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

/// A collection that is open.
struct Frame {
    node: u32,
    /// The column of a block collection, which is go-yaml's indentation.
    column: usize,
    map: bool,
    flow: bool,
    /// The next node is a value.
    value: bool,
    first: bool,
    explicit: bool,
    key_start: usize,
}

/// What `&name` stands before.
struct Anchor {
    node: u32,
    closed: bool,
}

struct Builder<'b> {
    tree: &'b mut Tree,
    text: &'b str,
    base: usize,
    end: usize,
    stack: Vec<Frame>,
    anchors: Vec<Anchor>,
    gap: Gap,
    root: Option<u32>,
    /// What go-yaml finds after parsing.
    faults: Vec<SyntaxError>,
}

impl Builder<'_> {
    fn read(&mut self, chunk: &str) -> Result<(), SyntaxError> {
        for event in Parser::new_from_str_with_options(chunk, options()) {
            let (event, span) = event.map_err(|error| self.scan_error(&error))?;
            let bytes = span.byte_range().unwrap_or(0..0);
            let (start, end) = (self.base + bytes.start, self.base + bytes.end);
            match event {
                Event::Scalar(value, style, anchor, tag) => {
                    let tag = tag
                        .as_deref()
                        .map_or(Tag::None, |tag| match tag.core_suffix() {
                            Some(name) => Tag::core(name),
                            None => Tag::Other,
                        });
                    self.scalar(&value, style, anchor, tag, start, end)?;
                }
                Event::MappingStart(style, anchor, _) => {
                    self.open(true, style, anchor, start, span.start.col())?
                }
                Event::SequenceStart(style, anchor, _) => {
                    self.open(false, style, anchor, start, span.start.col())?
                }
                Event::MappingEnd | Event::SequenceEnd => self.close(end)?,
                Event::Alias(id) => self.alias(id, start, end)?,
                Event::UnresolvedAlias(name) => self.unresolved(&name, start, end)?,
                Event::DocumentEnd => break,
                _ => {}
            }
        }
        self.walk(self.end);
        self.check()
    }

    fn indent(stack: &[Frame]) -> usize {
        stack
            .iter()
            .rev()
            .find(|frame| !frame.flow)
            .map_or(0, |frame| frame.column + 1)
    }

    fn walk(&mut self, to: usize) {
        let stack = &self.stack;
        self.gap.walk(self.text, to, || Self::indent(stack));
    }

    fn walk_to(&mut self, stop: u8) -> Option<usize> {
        let stack = &self.stack;
        self.gap
            .walk_until(self.text, self.end, Some(stop), || Self::indent(stack))
    }

    fn check(&mut self) -> Result<(), SyntaxError> {
        match self.gap.fault.take() {
            None => Ok(()),
            Some(fault) => Err(SyntaxError {
                span: self.tree.span(offset(fault.start), offset(fault.end)),
                message: format!("{:?}", fault.kind),
                help: None,
                fix: None,
            }),
        }
    }

    /// Before a node: takes the `-` of an item, and knows the root.
    fn begin(&mut self) {
        let node = offset(self.tree.nodes.len());
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(frame) if !frame.map && !frame.flow => {
                if !frame.first {
                    self.walk_to(b'-');
                }
            }
            Some(_) => {}
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.first = false;
        }
    }

    /// A node begins at `start`, and everything before it is walked: settles whether it is a key or a value.
    fn role(&mut self, start: usize) -> Result<(), SyntaxError> {
        if let Some(frame) = self.stack.last_mut()
            && frame.map
        {
            if frame.value {
                frame.value = false;
            } else {
                frame.explicit = self.gap.question;
                frame.key_start = self.gap.property.unwrap_or(start);
                frame.value = true;
            }
        }
        self.gap.forget();
        self.check()
    }

    fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Tag,
        start: usize,
        end: usize,
    ) -> Result<(), SyntaxError> {
        self.begin();
        if start == end && style == ScalarStyle::Plain {
            return self.absent(anchor, tag);
        }
        self.walk(start);
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let whole = if block {
            let from = self.gap.header.unwrap_or(start);
            from..self.block_end(from, end)
        } else {
            start..end
        };
        self.role(whole.start)?;
        self.gap
            .token(whole.end, style == ScalarStyle::Plain, block);
        let style = match style {
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
            _ => Style::Plain,
        };
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
        self.push(raw, anchor, true);
        Ok(())
    }

    /// A block scalar ends with its last line that is not blank.
    fn block_end(&self, start: usize, end: usize) -> usize {
        let text = self.text.get(start..end).unwrap_or("");
        start + text.trim_end_matches([' ', '\t', '\n', '\r']).len()
    }

    /// A value that is not written: its place is behind the last indicator.
    fn absent(&mut self, anchor: usize, tag: Tag) -> Result<(), SyntaxError> {
        if self
            .stack
            .last()
            .is_some_and(|frame| frame.map && frame.value)
        {
            let rest = self.text.get(self.gap.at..self.end).unwrap_or("");
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            if rest.get(blanks..).is_some_and(|rest| rest.starts_with(':')) {
                self.walk(self.gap.at + blanks + 1);
            }
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
        self.push(raw, anchor, true);
        Ok(())
    }

    fn open(
        &mut self,
        map: bool,
        style: StructureStyle,
        anchor: usize,
        start: usize,
        column: usize,
    ) -> Result<(), SyntaxError> {
        self.begin();
        let flow = style == StructureStyle::Flow;
        let mut from = start;
        if map || flow {
            self.walk(start);
        } else {
            from = self.walk_to(b'-').unwrap_or(start);
        }
        // An explicit key's `?` belongs to the map that it opens.
        let question = self.gap.question && map && !flow;
        self.role(from)?;
        self.gap.question = question;
        let raw = Raw {
            start: offset(from),
            end: offset(from),
            a: 0,
            b: 0,
            shape: if map { Shape::Map } else { Shape::List },
            style: if flow { Style::Flow } else { Style::Block },
            tag: Tag::None,
            absent: false,
        };
        let node = self.push(raw, anchor, false);
        self.stack.push(Frame {
            node,
            column,
            map,
            flow,
            value: false,
            first: true,
            explicit: false,
            key_start: from,
        });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), SyntaxError> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let count = offset(self.tree.nodes.len());
        let last = self.tree.nodes.last().map_or(0, |raw| raw.end);
        let bracket = frame.flow
            && self
                .text
                .as_bytes()
                .get(end.wrapping_sub(1))
                .is_some_and(|b| matches!(b, b']' | b'}'));
        if bracket {
            self.walk(end);
            self.check()?;
        }
        if let Some(raw) = self.tree.nodes.get_mut(frame.node as usize) {
            raw.a = count;
            raw.end = if bracket {
                offset(end)
            } else {
                last.max(raw.end)
            };
        }
        for anchor in self
            .anchors
            .iter_mut()
            .rev()
            .take_while(|anchor| anchor.node >= frame.node)
        {
            anchor.closed |= anchor.node == frame.node;
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, start: usize, end: usize) -> Result<(), SyntaxError> {
        self.begin();
        self.walk(start);
        self.role(start)?;
        self.gap.token(end, false, false);
        let target = id.checked_sub(1).and_then(|id| self.anchors.get(id));
        let raw = Raw {
            start: offset(start),
            end: offset(end),
            a: target.map_or(0, |anchor| anchor.node),
            b: 0,
            shape: Shape::Alias,
            style: Style::Plain,
            tag: Tag::None,
            absent: false,
        };
        if !target.is_some_and(|anchor| anchor.closed) {
            self.faults.push(SyntaxError {
                span: self.tree.span(raw.start, raw.end),
                message: "an alias stands inside of its own anchor".to_owned(),
                help: None,
                fix: None,
            });
        }
        self.tree.nodes.push(raw);
        Ok(())
    }

    fn unresolved(&mut self, name: &str, start: usize, end: usize) -> Result<(), SyntaxError> {
        self.begin();
        self.walk(start);
        Err(SyntaxError {
            span: self.tree.span(offset(start), offset(end)),
            message: format!("no anchor `&{name}` stands before the alias `*{name}`"),
            help: None,
            fix: None,
        })
    }

    fn push(&mut self, raw: Raw, anchor: usize, closed: bool) -> u32 {
        let node = offset(self.tree.nodes.len());
        self.tree.nodes.push(raw);
        if anchor != 0 {
            self.anchors.push(Anchor { node, closed });
        }
        node
    }

    fn scan_error(&self, error: &ScanError) -> SyntaxError {
        let at = self.base + error.marker().byte_offset().unwrap_or(0);
        let span = self
            .tree
            .span(offset(at), offset(at))
            .first_character(self.text);
        SyntaxError {
            span,
            message: words(error.kind()).to_owned(),
            help: None,
            fix: None,
        }
    }
}

fn words(kind: &ErrorKind) -> String {
    kind.to_string()
}
