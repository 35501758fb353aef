//! A configuration as a value of its own: each part with the bytes it came from, free of the tree it was read from.

use std::collections::HashSet;

use crate::source::{Span, Spanned};
use crate::yaml::{Kind, Node, Scalar};

/// A YAML value. Also what a part is kept as whose meaning somebody else knows, such as a rule's options.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub span: Span,
    pub kind: ValueKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Value>),
    Map(Vec<(Spanned<String>, Value)>),
}

/// Deeper than any setting lies.
const DEEPEST: usize = 64;

/// Values that aliases may add to those that are written.
const ALIASED: usize = 10_000;

/// Why a tree is not taken as a value, and the node it was too much for.
#[derive(Debug)]
pub(super) struct TooMuch {
    pub(super) span: Span,
    pub(super) reason: &'static str,
}

impl Value {
    /// Copies a node with all that is below it, aliases followed.
    pub(super) fn new(node: Node<'_>) -> Result<Self, TooMuch> {
        let mut left = node.source().len() + ALIASED;
        Self::copy(node, DEEPEST, &mut left)
    }

    fn copy(node: Node<'_>, depth: usize, left: &mut usize) -> Result<Self, TooMuch> {
        let span = node.span();
        let too_much = |reason| TooMuch { span, reason };
        *left = left
            .checked_sub(1)
            .ok_or(too_much("its aliases stand for too many values"))?;
        let below = || {
            depth
                .checked_sub(1)
                .ok_or(too_much("it is nested too deeply"))
        };
        let kind = match node.kind() {
            Kind::Map => {
                let below = below()?;
                let mut entries = Vec::new();
                for entry in node.entries() {
                    let key = entry.key.span();
                    let name = Spanned::new(entry.name.into_owned(), key, key);
                    entries.push((name, Self::copy(entry.value, below, left)?));
                }
                ValueKind::Map(entries)
            }
            Kind::List => {
                let below = below()?;
                let items = node.items().map(|item| Self::copy(item, below, left));
                ValueKind::List(items.collect::<Result<_, _>>()?)
            }
            Kind::Scalar => match node.scalar() {
                None | Some(Scalar::Null) => ValueKind::Null,
                // `off` is a level here, and a boolean for YAML 1.1.
                Some(Scalar::Bool(false)) if node.written() == Some("off") => {
                    ValueKind::Str("off".to_owned())
                }
                Some(Scalar::Bool(value)) => ValueKind::Bool(value),
                Some(Scalar::Int(value)) => ValueKind::Int(value),
                Some(Scalar::Float(value)) => ValueKind::Float(value),
                Some(Scalar::Str(text)) => {
                    // One long text behind many aliases is many long texts.
                    *left = left
                        .checked_sub(text.len() / 16)
                        .ok_or(too_much("its aliases stand for too much text"))?;
                    ValueKind::Str(text.into_owned())
                }
            },
        };
        Ok(Self { span, kind })
    }

    /// What is left without the entries and items at these places: those of their keys or of their values. `None`: nothing.
    pub(super) fn without(self, places: &HashSet<Span>) -> Option<Self> {
        if places.contains(&self.span) {
            return None;
        }
        let kind = match self.kind {
            ValueKind::List(items) => {
                let items = items.into_iter();
                ValueKind::List(items.filter_map(|item| item.without(places)).collect())
            }
            ValueKind::Map(entries) => {
                let entries = entries
                    .into_iter()
                    .filter(|(name, _)| !places.contains(&name.span));
                let kept = entries.filter_map(|(name, value)| Some((name, value.without(places)?)));
                ValueKind::Map(kept.collect())
            }
            scalar => scalar,
        };
        Some(Self { kind, ..self })
    }

    /// The same without spans, as a schema judges it.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            ValueKind::Null => serde_json::Value::Null,
            ValueKind::Bool(value) => (*value).into(),
            ValueKind::Int(value) => (*value).into(),
            ValueKind::Float(value) => (*value).into(),
            ValueKind::Str(text) => text.as_str().into(),
            ValueKind::List(items) => items.iter().map(Self::to_json).collect(),
            ValueKind::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|(name, value)| (name.value.clone(), value.to_json()));
                serde_json::Value::Object(pairs.collect())
            }
        }
    }

    /// The part at a JSON pointer, or the nearest part above it that is there.
    pub(super) fn at(&self, pointer: &str) -> &Value {
        let mut here = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &here.kind {
                ValueKind::List(items) => {
                    step.parse().ok().and_then(|index: usize| items.get(index))
                }
                _ => here.entry(&step).map(|(_, value)| value),
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here
    }

    pub(super) fn entry(&self, name: &str) -> Option<&(Spanned<String>, Value)> {
        match &self.kind {
            ValueKind::Map(entries) => entries.iter().find(|(key, _)| key.value == name),
            _ => None,
        }
    }
}

impl ValueKind {
    /// What it is, for a sentence: `the string `x``.
    pub fn describe(&self) -> String {
        match self {
            ValueKind::Null => "null".to_owned(),
            ValueKind::Bool(value) => format!("the boolean `{value}`"),
            ValueKind::Int(value) => format!("the number `{value}`"),
            ValueKind::Float(value) => format!("the number `{value}`"),
            ValueKind::Str(text) => format!("the string `{text}`"),
            ValueKind::List(_) => "a list".to_owned(),
            ValueKind::Map(_) => "a map".to_owned(),
        }
    }
}
