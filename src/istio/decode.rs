//! From a YAML tree to typed messages whose every value keeps its span.
//!
//! [`message!`] declares a message once: the struct, the field table that "did you mean" reads, and the decoder.

use std::fmt::Write as _;

use crate::diag::{Diagnostic, RefusedBy, Severity};
use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Kind, Node, Scalar};

/// The items of a list, each with its own span.
pub type List<T> = Vec<Spanned<T>>;

/// The entries of a map with free keys, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T>(pub Vec<(Spanned<String>, Spanned<T>)>);

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Map<T> {
    pub fn get(&self, key: &str) -> Option<&Spanned<T>> {
        self.0.iter().find(|(name, _)| name.value == key).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Spanned<String>, Spanned<T>)> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads an optional list as a slice, absent as empty.
pub trait Items<T> {
    fn items(&self) -> &[Spanned<T>];
}

impl<T> Items<T> for Option<Spanned<List<T>>> {
    fn items(&self) -> &[Spanned<T>] {
        self.as_ref().map_or(&[], |list| &list.value)
    }
}

/// A message of the Istio or Kubernetes API, and the names of its fields as they are written.
pub trait Message {
    const NAME: &'static str;
    const FIELDS: &'static [&'static str];
}

/// Whatever can be read from one YAML node.
pub trait Decode: Sized {
    /// `None` where the node has the wrong shape; the decoder then holds a diagnostic that says so.
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self>;
}

enum Step {
    Field(String),
    Index(usize),
}

/// Collects what decoding one resource finds.
#[derive(Default)]
pub struct Decoder {
    pub diagnostics: Vec<Diagnostic>,
    /// Scalars whose value is unknown, because something will be put in their place. Nothing is concluded from them.
    pub placeholders: Vec<Span>,
    path: Vec<Step>,
}

impl Decoder {
    /// The path of the node that is being read, as Kubernetes writes it.
    pub fn path(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) if out.is_empty() => out.push_str(name),
                Step::Field(name) => {
                    let _ = write!(out, ".{name}");
                }
                Step::Index(index) => {
                    let _ = write!(out, "[{index}]");
                }
            }
        }
        out
    }

    /// Reads the value of one entry. A null is the same as nothing.
    pub fn field<T: Decode>(&mut self, entry: Entry<'_>) -> Option<Spanned<T>> {
        if entry.value.is_null() {
            return None;
        }
        self.path.push(Step::Field(entry.name.to_string()));
        let value = T::decode(entry.value, self);
        self.path.pop();
        value.map(|value| Spanned::new(value, entry.value.span(), entry.key.span()))
    }

    /// Reads one item of a list.
    pub fn item<T: Decode>(&mut self, index: usize, node: Node<'_>) -> Option<Spanned<T>> {
        self.path.push(Step::Index(index));
        let value = T::decode(node, self);
        self.path.pop();
        value.map(|value| Spanned::new(value, node.span(), node.first_character()))
    }

    /// Whether the node is a map; says so if it is not.
    pub fn map(&mut self, node: Node<'_>) -> bool {
        let right = node.kind() == Kind::Map;
        if !right {
            self.wrong_type(node, "an object");
        }
        right
    }

    pub fn wrong_type(&mut self, node: Node<'_>, wanted: &str) {
        if self.placeholder(node) {
            return;
        }
        let found = match node.kind() {
            Kind::Map => "an object".to_owned(),
            Kind::List => "a list".to_owned(),
            Kind::Scalar => match node.scalar() {
                Some(Scalar::Str(text)) => format!("the string `{text}`"),
                Some(Scalar::Bool(value)) => format!("the boolean `{value}`"),
                Some(Scalar::Int(value)) => format!("the number `{value}`"),
                Some(Scalar::Float(value)) => format!("the number `{value}`"),
                _ => "null".to_owned(),
            },
        };
        let path = self.path();
        let mut finding =
            Diagnostic::new("refused", Severity::Error, node.span(), format!("`{path}` must be {wanted}, not {found}"))
                .refused_by(RefusedBy::Schema);
        finding.field = Some(path);
        self.diagnostics.push(finding);
    }

    /// Whether the node's text is a placeholder; remembers it.
    pub fn placeholder(&mut self, node: Node<'_>) -> bool {
        let found = super::placeholder::is_placeholder(node);
        if found {
            self.placeholders.push(node.span());
        }
        found
    }

    /// Reports a field that the message does not have.
    pub fn unknown_field<M: Message>(&mut self, entry: &Entry<'_>) {
        let parent = self.path();
        let name = &entry.name;
        let mut finding = Diagnostic::new(
            "unknown-field",
            Severity::Error,
            entry.key.span(),
            format!("unknown field `{name}` in `{}`", M::NAME),
        );
        if let Some(near) = super::nearest(name, M::FIELDS) {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        finding.field = Some(if parent.is_empty() { name.to_string() } else { format!("{parent}.{name}") });
        self.diagnostics.push(finding);
    }
}

/// Declares a message: `Name { field: Type = "wireName", … }`. Every field is optional on the wire.
macro_rules! message {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty = $wire:literal),* $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: Option<$crate::source::Spanned<$ty>>,)* }

        impl $crate::istio::decode::Message for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [&'static str] = &[$($wire),*];
        }

        impl $crate::istio::decode::Decode for $name {
            fn decode(node: $crate::yaml::Node<'_>, decoder: &mut $crate::istio::decode::Decoder) -> Option<Self> {
                if !decoder.map(node) {
                    return None;
                }
                let mut out = Self::default();
                for entry in node.entries() {
                    match &*entry.name {
                        $($wire => out.$field = decoder.field(entry),)*
                        _ => decoder.unknown_field::<Self>(&entry),
                    }
                }
                Some(out)
            }
        }
    )+};
}

/// Declares an enumeration: `Name { Variant = "WIRE", … }`. The first is the default of the API.
macro_rules! enumeration {
    ($($(#[$meta:meta])* $name:ident { $first:ident = $first_wire:literal $(, $variant:ident = $wire:literal)* $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { #[default] $first $(, $variant)* }

        impl $name {
            pub const NAMES: &'static [&'static str] = &[$first_wire $(, $wire)*];

            /// As Istio spells it.
            pub fn name(self) -> &'static str {
                match self { Self::$first => $first_wire $(, Self::$variant => $wire)* }
            }
        }

        impl $crate::istio::decode::Decode for $name {
            fn decode(node: $crate::yaml::Node<'_>, decoder: &mut $crate::istio::decode::Decoder) -> Option<Self> {
                match node.as_str().as_deref() {
                    Some($first_wire) => Some(Self::$first),
                    $(Some($wire) => Some(Self::$variant),)*
                    _ => {
                        decoder.wrong_enum(node, Self::NAMES);
                        None
                    }
                }
            }
        }
    )+};
}

pub(crate) use {enumeration, message};
