//! Scalars, those that are not written among them.

use super::{Arena, Token, offset};
use crate::yaml::fault::SyntaxError;
use crate::yaml::scalar::Plain;
use crate::yaml::tag::{Tag, resolve};
use crate::yaml::tree::{Raw, Shape, Sight, Style};
use crate::yaml::written;

/// What ends a line.
const BREAKS: [char; 3] = ['\n', '\r', '\u{85}'];

/// What lines that hold nothing are made of.
const BLANKS: [char; 5] = [' ', '\t', '\n', '\r', '\u{85}'];

impl Arena<'_> {
    pub(in crate::yaml) fn scalar(
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
                    sight: Sight::Other,
                },
                anchor,
                false,
            );
        }
        let whole = if block {
            let from = self.gap.header.unwrap_or(start);
            let written = self.text.get(from..end).unwrap_or("");
            from..from + written.trim_end_matches(BLANKS).len()
        } else {
            start..end
        };
        let is_key = self.is_key();
        self.role(whole.start)?;
        // The blank lines behind a block scalar are read under its indentation.
        let rest = self.text.get(end..self.end).unwrap_or("");
        let blanks = if block {
            rest.len() - rest.trim_start_matches(BLANKS).len()
        } else {
            0
        };
        let written = self.text.get(whole.start..end + blanks).unwrap_or("");
        let (stack, text) = (&mut self.stack, self.text);
        let indent = || Self::indent(stack, text);
        let (bytes, in_flow) = (self.bytes, self.gap.in_flow());
        self.gap.fault = written::check(written, whole.start, style, bytes, in_flow, indent);
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
            sight: Sight::Other,
        };
        if block || self.tree.scalar_text(self.text, &raw) != value {
            raw.a = offset(self.tree.cooked.len());
            raw.b = offset(value.len());
            self.tree.cooked.push_str(value);
        }
        self.leaf(raw, anchor, is_key)
    }

    /// Whether the first line from `start` on that is not empty begins in the first column.
    pub(super) fn is_outdented(&self, start: usize) -> bool {
        let header = self.gap.header.unwrap_or(start);
        let text = self.text.get(header..self.end).unwrap_or("");
        text.split(BREAKS)
            .skip(1)
            .find(|line| !line.is_empty())
            .is_some_and(|line| !line.starts_with(' '))
    }

    /// A value that is not written: its place is behind the last indicator.
    pub(super) fn absent(&mut self, anchor: usize, tag: Tag) -> Result<(), SyntaxError> {
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
            sight: Sight::Absent,
        };
        self.leaf(raw, anchor, is_key)
    }

    /// The end of the anchor and the tag of a value that is not written.
    pub(super) fn property_ahead(&self) -> Option<usize> {
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
    pub(super) fn take_bare_colon(&mut self) -> bool {
        let Some(frame) = self.stack.last() else {
            return false;
        };
        let Some(key) = self.tree.nodes.last_mut() else {
            return false;
        };
        let rest = self.text.get(key.end as usize..self.end).unwrap_or("");
        let colon = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let behind = rest.as_bytes().get(colon..).unwrap_or(&[]);
        let bare = frame.flow
            && key.shape == Shape::Scalar
            && key.style == Style::Plain
            && key.end as usize == self.gap.at
            && key.sight != Sight::Absent
            && matches!(behind, [b':', b',' | b']' | b'}', ..]);
        if !bare {
            return false;
        }
        if key.a != Raw::SOURCE {
            self.tree.cooked.push_str(rest.get(..=colon).unwrap_or(""));
            key.b += offset(colon + 1);
        }
        key.end += offset(colon + 1);
        key.sight = Sight::Other;
        self.gap.at += colon + 1;
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
    pub(super) fn leaf(
        &mut self,
        mut raw: Raw,
        anchor: usize,
        is_key: bool,
    ) -> Result<(), SyntaxError> {
        let text = self.tree.scalar_text(self.text, &raw);
        let value = resolve(raw.tag, raw.style != Style::Plain, text);
        if raw.tag == Tag::None && value == Ok(Plain::Str) {
            raw.sight = Sight::Text;
        }
        let node = self.push(raw);
        self.anchor(anchor, node, true, 1, 0);
        self.grow(1, raw.end);
        self.count(0, node);
        match value {
            Ok(Plain::Float(value)) if !value.is_finite() && !is_key => {
                let text = self.tree.scalar_text(self.text, &raw);
                let message = format!("`{text}` is no number that JSON can hold");
                self.note(node, message);
            }
            Ok(_) => {}
            Err(reason) => self.note(node, reason),
        }
        Ok(())
    }
}
