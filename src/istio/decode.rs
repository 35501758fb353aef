//! From a YAML tree to typed messages whose every value keeps its span.
//!
//! [`message!`] declares a message once: the struct and its decoder. Decoding is lenient and silent: what has the wrong
//! shape is left out, and [`super::schema`] says so. Depth is bounded, because no message contains itself.

use std::borrow::Cow;
use std::str::FromStr;

use smol_str::SmolStr;

use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Kind, Node, Scalar};

use super::placeholder::{is_marked, is_placeholder};
use super::schema::Meant;

/// The items of a list, each with its own span.
pub type List<T> = Box<[Spanned<T>]>;

/// A field that few messages have.
pub type Rare<T> = Option<Box<Spanned<T>>>;

/// The entries of a map with free keys, in their order. One pointer, because most objects have no labels that matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T>(Option<Box<Entries<T>>>);

/// Keys and values, one at least.
#[derive(Clone, Debug, PartialEq)]
struct Entries<T>(Vec<(Spanned<SmolStr>, Spanned<T>)>);

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Map<T> {
    fn of(mut entries: Vec<(Spanned<SmolStr>, Spanned<T>)>) -> Self {
        entries.shrink_to_fit();
        Self((!entries.is_empty()).then(|| Box::new(Entries(entries))))
    }

    pub fn entries(&self) -> &[(Spanned<SmolStr>, Spanned<T>)] {
        self.0.as_ref().map_or(&[], |it| &it.0)
    }

    fn take(&mut self) -> Vec<(Spanned<SmolStr>, Spanned<T>)> {
        self.0.take().map_or_else(Vec::new, |it| it.0)
    }

    pub fn get(&self, key: &str) -> Option<&Spanned<T>> {
        self.iter()
            .find(|(name, _)| name.value == key)
            .map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Spanned<SmolStr>, Spanned<T>)> {
        self.entries().iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Keeps the entries of some keys.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        if self.iter().any(|(key, _)| !keep(&key.value)) {
            let mut entries = self.take();
            entries.retain(|(key, _)| keep(&key.value));
            *self = Self::of(entries);
        }
    }

    pub(super) fn add(&mut self, key: Spanned<SmolStr>, value: Spanned<T>) {
        let mut entries = self.take();
        entries.push((key, value));
        *self = Self::of(entries);
    }

    pub fn len(&self) -> usize {
        self.entries().len()
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

impl<T> Items<T> for Rare<List<T>> {
    fn items(&self) -> &[Spanned<T>] {
        self.as_ref().map_or(&[], |list| &list.value)
    }
}

/// Whatever can be read from one YAML node.
pub trait Decode: Sized {
    /// Whether its values are words in capitals by themselves, so that such a word is no placeholder.
    const CAPITALS: bool = false;

    /// `None` where the node has the wrong shape.
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self>;
}

/// Collects what decoding one resource finds.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Places whose value is unknown, because something will be put in their place. Nothing is concluded from them.
    pub placeholders: Vec<Span>,
    /// Keys of fields that this version of Istio does not have, sorted: the API server drops them.
    pub dropped: Vec<Span>,
    /// Keys that are read as if they had another name, sorted.
    pub(super) meant: Vec<(Span, &'static str)>,
    /// Places of numbers and booleans in quotes, which the API server does not take.
    pub(super) quoted: Vec<Span>,
    /// They are read as what they are.
    pub(super) unquotes: bool,
    pub(super) texts: Texts,
}

/// The long texts that were read last. The objects of a file name the same hosts again and again, and equal texts can be one.
#[derive(Debug, Default)]
pub(super) struct Texts {
    recent: [SmolStr; 8],
    next: usize,
}

impl Texts {
    fn one_of(&mut self, text: Cow<'_, str>) -> SmolStr {
        if let Some(known) = self.recent.iter().find(|it| **it == *text) {
            return known.clone();
        }
        let new = SmolStr::from(text);
        if new.is_heap_allocated() {
            self.recent[self.next] = new.clone();
            self.next = (self.next + 1) % self.recent.len();
        }
        new
    }
}

impl Decoder {
    /// The field that an entry is for.
    pub fn name<'e>(&self, entry: &'e Entry<'_>) -> &'e str {
        if self.meant.is_empty() {
            return &entry.name;
        }
        let key = entry.key.span();
        match self.meant.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.meant.get(at).map_or(&*entry.name, |(_, name)| name),
            Err(_) => &entry.name,
        }
    }

    /// The value of a text that was to be no text, if that is allowed.
    fn unquoted<T: FromStr>(&mut self, node: Node<'_>, text: &str) -> Option<T> {
        let value = text.parse().ok()?;
        self.quoted.push(node.span());
        self.unquotes.then_some(value)
    }

    /// From now on these fields are read as if they had such names, and quoted numbers and booleans as what they are.
    pub(super) fn read_as(&mut self, fields: &[Meant]) {
        self.meant = fields.iter().map(|it| (it.key, it.field)).collect();
        let is_meant = |key: &Span| fields.binary_search_by_key(key, |it| it.key).is_ok();
        self.dropped.retain(|key| !is_meant(key));
        self.quoted = Vec::new();
        self.unquotes = true;
    }

    /// Reads the value of one entry. A null is the same as nothing.
    pub fn field<T: Decode + Default>(&mut self, entry: &Entry<'_>) -> Option<Spanned<T>> {
        if self.dropped.binary_search(&entry.key.span()).is_ok() {
            return None;
        }
        let value = self.value(entry.value)?;
        Some(Spanned::new(value, entry.value.span(), entry.key.span()))
    }

    /// Reads one item of a list.
    pub fn item<T: Decode + Default>(&mut self, node: Node<'_>) -> Option<Spanned<T>> {
        let value = self.value(node)?;
        Some(Spanned::new(value, node.span(), node.first_character()))
    }

    /// A placeholder becomes the default value: it is there, and whoever rests a finding on it touches its span.
    fn value<T: Decode + Default>(&mut self, node: Node<'_>) -> Option<T> {
        if node.is_null() {
            return None;
        }
        let value = T::decode(node, self);
        let unknown = if T::CAPITALS {
            is_marked(node)
        } else {
            is_placeholder(node)
        };
        if unknown && (node.kind() == Kind::Scalar || value.is_none()) {
            self.placeholders.push(node.span());
            return Some(value.unwrap_or_default());
        }
        value
    }
}

impl<T: Decode + Default> Decode for List<T> {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        if node.kind() != Kind::List {
            return None;
        }
        // Exactly as much as is needed: there may be many short lists of large messages.
        let mut out = Vec::with_capacity(node.items().count());
        out.extend(node.items().filter_map(|item| decoder.item(item)));
        Some(out.into())
    }
}

impl<T: Decode + Default> Decode for Map<T> {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        if node.kind() != Kind::Map {
            return None;
        }
        let mut out = Vec::with_capacity(node.entries().count());
        for entry in node.entries() {
            if is_placeholder(entry.key) {
                decoder.placeholders.push(entry.key.span());
            }
            let Some(value) = decoder.field(&entry) else {
                continue;
            };
            out.push((
                Spanned::new(entry.name.into(), entry.key.span(), entry.key.span()),
                value,
            ));
        }
        Some(Self::of(out))
    }
}

impl Decode for SmolStr {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        match node.scalar() {
            Some(Scalar::Str(text)) => Some(decoder.texts.one_of(text)),
            _ => None,
        }
    }
}

impl Decode for bool {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        match node.scalar() {
            Some(Scalar::Bool(value)) => Some(value),
            Some(Scalar::Str(text)) => decoder.unquoted(node, &text),
            _ => None,
        }
    }
}

impl Decode for i64 {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        match node.scalar() {
            Some(Scalar::Int(value)) => Some(value),
            Some(Scalar::Str(text)) => decoder.unquoted(node, &text),
            _ => None,
        }
    }
}

impl Decode for f64 {
    fn decode(node: Node<'_>, _: &mut Decoder) -> Option<Self> {
        match node.scalar() {
            #[expect(clippy::cast_precision_loss, reason = "as the decoder of JSON does it")]
            Some(Scalar::Int(value)) => Some(value as f64),
            Some(Scalar::Float(value)) => Some(value),
            _ => None,
        }
    }
}

/// Declares a message: `Name { field: Type = "wireName", … }`. Every field is optional on the wire; some have two names.
/// A field that few messages have is `rare "wireName"` and takes little room where it is absent: there may be many messages.
macro_rules! message {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty = $($rare:ident)? $wire:literal $(| $alias:literal)*),* $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $crate::istio::decode::field!($($rare)? $ty),)* }

        impl $name {
            /// Whether no field is set, as in `{}`.
            pub fn is_empty(&self) -> bool {
                $(self.$field.is_none())&&*
            }
        }

        impl $crate::istio::decode::Decode for $name {
            fn decode(node: $crate::yaml::Node<'_>, decoder: &mut $crate::istio::decode::Decoder) -> Option<Self> {
                if node.kind() != $crate::yaml::Kind::Map {
                    return None;
                }
                let mut out = Self::default();
                for entry in node.entries() {
                    match decoder.name(&entry) {
                        $($wire $(| $alias)* => out.$field = decoder.field::<$ty>(&entry).map(Into::into),)*
                        _ => {}
                    }
                }
                Some(out)
            }
        }
    )+};
}

/// How a message holds a field.
macro_rules! field {
    (rare $ty:ty) => { $crate::istio::decode::Rare<$ty> };
    ($ty:ty) => { Option<$crate::source::Spanned<$ty>> };
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
            const CAPITALS: bool = true;

            fn decode(node: $crate::yaml::Node<'_>, _: &mut $crate::istio::decode::Decoder) -> Option<Self> {
                match node.as_str().as_deref() {
                    Some($first_wire) => Some(Self::$first),
                    $(Some($wire) => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    )+};
}

pub(crate) use {enumeration, field, message};
