//! A part of the configuration whose meaning somebody else knows, such as a rule's options.

use crate::source::{Span, Spanned};

/// A YAML value with the bytes it came from, free of the tree it was read from.
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
