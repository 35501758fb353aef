//! Reading the tree: aliases followed, merges and double keys resolved as Kubernetes does.

use std::borrow::Cow;

use crate::source::Span;

use super::scalar::{self, Plain, Scalar};
use super::tag::{self, Tag};
use super::tree::{Pair, Raw, Shape, Sight, Style, Tree};

/// What a node is, aliases followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Map,
    List,
    Scalar,
}

/// A value of a document. An alias has its own span and the value of its anchor.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    text: &'t str,
    index: u32,
    /// Where it is written: the node itself, or the alias.
    place: u32,
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub struct Entry<'t> {
    pub key: Node<'t>,
    /// The key as JSON has it: `on:` is `true`, `0x10:` is `16`.
    pub name: Cow<'t, str>,
    pub value: Node<'t>,
    /// The alias or map behind `<<` that brought it.
    pub merged: Option<Span>,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}", self.kind(), self.span())
    }
}

impl<'t> Node<'t> {
    pub(super) fn new(tree: &'t Tree, text: &'t str, index: u32) -> Self {
        Self {
            tree,
            text,
            index: tree.target(index),
            place: index,
        }
    }

    fn raw(self, index: u32) -> Option<&'t Raw> {
        self.tree.nodes.get(index as usize)
    }

    fn at(self, index: u32) -> Self {
        Self::new(self.tree, self.text, index)
    }

    /// Quotes and brackets included; anchor, tag and comment not. A block scalar begins at its `|` or `>`.
    pub fn span(self) -> Span {
        match self.raw(self.place) {
            Some(raw) => self.tree.span(raw.start, raw.end),
            None => self.tree.span(0, 0),
        }
    }

    /// Where the value itself is written: behind the anchor, if this is an alias.
    pub(super) fn definition(self) -> Span {
        match self.raw(self.index) {
            Some(raw) => self.tree.span(raw.start, raw.end),
            None => self.tree.span(0, 0),
        }
    }

    /// The first character, as a place to point at when the whole would be too much.
    pub fn first_character(self) -> Span {
        self.span().first_character(self.text)
    }

    pub fn kind(self) -> Kind {
        match self.raw(self.index).map(|raw| raw.shape) {
            Some(Shape::Map) => Kind::Map,
            Some(Shape::List) => Kind::List,
            _ => Kind::Scalar,
        }
    }

    pub fn style(self) -> Style {
        self.raw(self.index).map_or(Style::Plain, |raw| raw.style)
    }

    /// Whether it is written as `*name`.
    pub fn is_alias(self) -> bool {
        self.place != self.index
    }

    /// The value of a scalar, `None` for a map or a list.
    pub fn scalar(self) -> Option<Scalar<'t>> {
        let raw = self
            .raw(self.index)
            .filter(|raw| raw.shape == Shape::Scalar)?;
        let text = self.tree.scalar_text(self.text, raw);
        if raw.sight == Sight::Text {
            return Some(Scalar::Str(Cow::Borrowed(text)));
        }
        let plain = match raw.style {
            Style::Plain if raw.tag == Tag::None => scalar::plain(text),
            style => tag::resolve(raw.tag, style != Style::Plain, text).unwrap_or(Plain::Str),
        };
        #[expect(clippy::cast_precision_loss, reason = "JSON readers convert likewise")]
        Some(match plain {
            Plain::Null => Scalar::Null,
            Plain::Bool(value) => Scalar::Bool(value),
            Plain::Int(value) => Scalar::Int(value),
            Plain::Unsigned(value) => Scalar::Float(value as f64),
            Plain::Float(value) => scalar::json_number(value),
            Plain::Str | Plain::Merge if raw.tag == Tag::Binary => {
                Scalar::Str(tag::binary(text).map_or(Cow::Borrowed(text), Cow::Owned))
            }
            Plain::Str | Plain::Merge => Scalar::Str(Cow::Borrowed(text)),
        })
    }

    /// The string, `None` for everything else.
    pub fn as_str(self) -> Option<Cow<'t, str>> {
        match self.scalar() {
            Some(Scalar::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// The text of a scalar whatever its type: `0443` stays `0443`.
    pub fn written(self) -> Option<&'t str> {
        let raw = self
            .raw(self.index)
            .filter(|raw| raw.shape == Shape::Scalar)?;
        Some(self.tree.scalar_text(self.text, raw))
    }

    pub fn is_null(self) -> bool {
        match self.raw(self.index) {
            Some(raw) if raw.shape == Shape::Scalar && raw.sight != Sight::Text => {
                raw.sight == Sight::Absent && raw.tag == Tag::None
                    || self.scalar() == Some(Scalar::Null)
            }
            _ => false,
        }
    }

    /// The entries as Kubernetes takes them; nothing for what is no map.
    pub fn entries(self) -> Entries<'t> {
        let raw = self.raw(self.index).filter(|raw| raw.shape == Shape::Map);
        let pairs = raw.and_then(|raw| {
            let index = raw.b.checked_sub(1)?;
            self.tree.effective.get(index as usize)
        });
        Entries {
            node: self,
            next: self.index + 1,
            end: raw.map_or(0, |raw| raw.a),
            pairs: pairs.map(|pairs| pairs.iter()),
        }
    }

    /// The items of a list; nothing for what is no list.
    pub fn items(self) -> Items<'t> {
        let raw = self.raw(self.index).filter(|raw| raw.shape == Shape::List);
        Items {
            node: self,
            next: self.index + 1,
            end: raw.map_or(0, |raw| raw.a),
        }
    }

    pub fn get(self, name: &str) -> Option<Entry<'t>> {
        let mut entries = self.entries();
        loop {
            let pair = entries.step()?;
            if self.at(pair.key).name() == name {
                return Some(self.entry(pair));
            }
        }
    }

    /// The text of the whole file.
    pub fn source(self) -> &'t str {
        self.text
    }

    pub(super) fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Whether a merge or a doubled key makes the entries differ from what is written.
    pub(super) fn is_special(self) -> bool {
        self.raw(self.index)
            .is_some_and(|raw| raw.shape == Shape::Map && raw.b != 0)
    }

    /// The entries as they are written: merges and doubled keys, too.
    pub(super) fn written_entries(self) -> Entries<'t> {
        Entries {
            pairs: None,
            ..self.entries()
        }
    }

    fn entry(self, pair: Pair) -> Entry<'t> {
        let key = self.at(pair.key);
        let merged = (pair.via != pair.key).then(|| self.at(pair.via).span());
        Entry {
            key,
            name: key.name(),
            value: self.at(pair.value),
            merged,
        }
    }

    /// What the node is called when it is a key.
    fn name(self) -> Cow<'t, str> {
        self.raw(self.index)
            .and_then(|raw| self.tree.key(self.text, raw).ok())
            .unwrap_or_default()
    }
}

/// See [`Node::entries`].
#[derive(Clone)]
pub struct Entries<'t> {
    node: Node<'t>,
    next: u32,
    end: u32,
    pairs: Option<std::slice::Iter<'t, Pair>>,
}

impl Entries<'_> {
    fn step(&mut self) -> Option<Pair> {
        if let Some(pairs) = &mut self.pairs {
            return pairs.next().copied();
        }
        if self.next >= self.end {
            return None;
        }
        let key = self.next;
        let value = self.node.tree.after(key);
        self.next = self.node.tree.after(value);
        Some(Pair {
            key,
            value,
            via: key,
        })
    }
}

impl<'t> Iterator for Entries<'t> {
    type Item = Entry<'t>;

    fn next(&mut self) -> Option<Entry<'t>> {
        let pair = self.step()?;
        Some(self.node.entry(pair))
    }
}

/// See [`Node::items`].
#[derive(Clone)]
pub struct Items<'t> {
    node: Node<'t>,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        if self.next >= self.end {
            return None;
        }
        let item = self.next;
        self.next = self.node.tree.after(item);
        Some(self.node.at(item))
    }
}
