//! Values to be written, in the style of what stands around them.

use super::node::{Kind, Node};
use super::scalar::{self, Plain, Scalar};
use super::tree::Style;

/// A value that an edit writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// The value of a node, comments and styles lost.
impl From<Node<'_>> for Value {
    fn from(node: Node<'_>) -> Self {
        match node.kind() {
            Kind::Map => Self::Map(
                node.entries()
                    .map(|entry| (entry.name.into_owned(), Self::from(entry.value)))
                    .collect(),
            ),
            Kind::List => Self::List(node.items().map(Self::from).collect()),
            Kind::Scalar => match node.scalar() {
                None | Some(Scalar::Null) => Self::Null,
                Some(Scalar::Bool(value)) => Self::Bool(value),
                Some(Scalar::Int(value)) => Self::Int(value),
                Some(Scalar::Float(value)) => Self::Float(value),
                Some(Scalar::Str(text)) => Self::Str(text.into_owned()),
            },
        }
    }
}

impl Value {
    /// On one line, in brackets. With `json`, strings and keys are quoted always.
    pub(super) fn flow(&self, json: bool) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => float(*value),
            Self::Str(text) if json => double(text),
            Self::Str(text) => string(text, Style::Plain),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.flow(json)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entry = |(name, value): &(String, Self)| {
                    let name = if json { double(name) } else { key(name) };
                    format!("{name}: {}", value.flow(json))
                };
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// What stands behind the `:` of a key in block style, from the blank on. `indent` is the column of the key.
    pub(super) fn behind_key(&self, indent: usize, line_end: &str) -> String {
        match self {
            Self::Map(entries) if !entries.is_empty() => {
                let blanks = " ".repeat(indent + 2);
                entries
                    .iter()
                    .map(|(name, value)| {
                        format!(
                            "{line_end}{blanks}{}:{}",
                            key(name),
                            value.behind_key(indent + 2, line_end)
                        )
                    })
                    .collect()
            }
            Self::List(items) if items.iter().any(Self::is_collection) => {
                let blanks = " ".repeat(indent);
                items
                    .iter()
                    .map(|item| format!("{line_end}{blanks}- {}", item.in_list(indent, line_end)))
                    .collect()
            }
            _ => format!(" {}", self.flow(false)),
        }
    }

    /// What stands behind the `- ` of an item; `indent` is the column of the dash.
    pub(super) fn in_list(&self, indent: usize, line_end: &str) -> String {
        match self {
            Self::Map(entries) if !entries.is_empty() => {
                let between = format!("{line_end}{}", " ".repeat(indent + 2));
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(name, value)| {
                        format!("{}:{}", key(name), value.behind_key(indent + 2, line_end))
                    })
                    .collect();
                entries.join(&between)
            }
            _ => self.flow(false),
        }
    }

    fn is_collection(&self) -> bool {
        match self {
            Self::List(items) => !items.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
            _ => false,
        }
    }
}

/// A key, without quotes where that reads back as the same text.
pub(super) fn key(name: &str) -> String {
    string(name, Style::Plain)
}

/// A string in the wanted style, or in double quotes where that cannot hold it.
pub(super) fn string(text: &str, style: Style) -> String {
    match style {
        Style::Plain if is_plain(text) => text.to_owned(),
        Style::Single
            if !text.contains(|c: char| {
                c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
            }) =>
        {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => double(text),
    }
}

fn float(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        ".nan".to_owned()
    }
}

/// In double quotes, so that JSON reads it too.
fn double(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ if character.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Whether a text can stand without quotes wherever a scalar can, and is then read as this string by every reader.
fn is_plain(text: &str) -> bool {
    let first_is_safe =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | '$'));
    let safe = |c: char| {
        !c.is_control()
            && !matches!(
                c,
                ',' | '['
                    | ']'
                    | '{'
                    | '}'
                    | '?'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{feff}'
                    | '\u{fffe}'
                    | '\u{ffff}'
            )
    };
    first_is_safe
        && text.chars().all(safe)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
        && scalar::plain(text) == Plain::Str
        && !looks_like_time(text)
}

/// Other readers make times and numbers to the base of 60 of these.
fn looks_like_time(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| {
            c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | 'T' | 't' | 'Z' | ' ' | '+' | '_')
        })
        && text.contains(['-', ':'])
}
