//! Serde reads types from a [`Value`]; a [`Spanned`] inside of them gets its bytes.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

use super::value::{Value, ValueKind};
use crate::source::{FileId, Span, Spanned};

/// A sentence about the value at `span`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    pub message: String,
    pub help: Option<String>,
    /// `None` only while the place is not known yet.
    pub span: Option<Span>,
}

/// Reads a type from a value.
///
/// # Errors
/// The value has another shape; the error knows where.
pub fn read<T: de::DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    T::deserialize(Reader::new(value, value.span))
}

/// The name that asks for the span of what follows. No struct of another meaning may have it.
const SPANNED: &str = "$egress_lint::Spanned";

#[derive(Clone, Copy)]
struct Reader<'v> {
    content: Content<'v>,
    span: Span,
    /// The key it stands under, or itself.
    key: Span,
}

/// A value, or a key, which is a string.
#[derive(Clone, Copy)]
enum Content<'v> {
    Value(&'v ValueKind),
    Key(&'v str),
}

impl<'v> Reader<'v> {
    fn new(value: &'v Value, key: Span) -> Self {
        Self {
            content: Content::Value(&value.kind),
            span: value.span,
            key,
        }
    }

    fn key(name: &'v Spanned<String>) -> Self {
        Self {
            content: Content::Key(&name.value),
            span: name.span,
            key: name.span,
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let result = match self.content {
            Content::Key(text) => visitor.visit_borrowed_str(text),
            Content::Value(kind) => match kind {
                ValueKind::Null => visitor.visit_unit(),
                ValueKind::Bool(value) => visitor.visit_bool(*value),
                ValueKind::Int(value) => visitor.visit_i64(*value),
                ValueKind::Float(value) => visitor.visit_f64(*value),
                ValueKind::Str(text) => visitor.visit_borrowed_str(text),
                ValueKind::List(items) => visitor.visit_seq(List {
                    items: items.iter(),
                }),
                ValueKind::Map(entries) => visitor.visit_map(Map {
                    entries: entries.iter(),
                    value: None,
                }),
            },
        };
        result.map_err(|error| error.at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.content {
            Content::Value(ValueKind::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name != SPANNED {
            return self.deserialize_any(visitor);
        }
        let parts = Parts {
            whole: self,
            next: 0,
        };
        visitor
            .visit_seq(parts)
            .map_err(|error| error.at(self.span))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let result = match self.content {
            Content::Key(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Content::Value(ValueKind::Str(text)) => {
                visitor.visit_enum(BorrowedStrDeserializer::new(text))
            }
            Content::Value(kind) => Err(de::Error::custom(format!(
                "a name is expected, not {}",
                kind.describe()
            ))),
        };
        result.map_err(|error: ReadError| error.at(self.span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct List<'v> {
    items: std::slice::Iter<'v, Value>,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        self.items
            .next()
            .map(|item| seed.deserialize(Reader::new(item, item.span)))
            .transpose()
    }
}

struct Map<'v> {
    entries: std::slice::Iter<'v, (Spanned<String>, Value)>,
    value: Option<(&'v Spanned<String>, &'v Value)>,
}

impl<'de> MapAccess<'de> for Map<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some((name, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some((name, value));
        seed.deserialize(Reader::key(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let (name, value) = self
            .value
            .take()
            .ok_or_else(|| de::Error::custom("a value without a key"))?;
        seed.deserialize(Reader::new(value, name.span))
    }
}

/// The parts of a [`Spanned`]: file, start and end of the value, start and end of the key, then the value itself.
struct Parts<'v> {
    whole: Reader<'v>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Reader { span, key, .. } = self.whole;
        let places = [span.file.0, span.start, span.end, key.start, key.end];
        let place = places.get(self.next);
        self.next += 1;
        match place {
            Some(&place) => seed.deserialize(place.into_deserializer()),
            None => seed.deserialize(self.whole),
        }
        .map(Some)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(SPANNED, &[], SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let missing = || de::Error::custom("this reader knows no places");
        let mut next = || parts.next_element::<u32>()?.ok_or_else(missing);
        let file = FileId(next()?);
        let span = Span::new(file, next()?, next()?);
        let key = Span::new(file, next()?, next()?);
        let value = parts.next_element()?.ok_or_else(missing)?;
        Ok(Spanned::new(value, span, key))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<ValueKind>::deserialize(deserializer)?;
        Ok(Value {
            span: spanned.span,
            kind: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for ValueKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

/// A scalar of this type becomes a value of this kind.
macro_rules! scalar {
    ($visit:ident, $type:ty, $kind:ident) => {
        fn $visit<E>(self, value: $type) -> Result<ValueKind, E> {
            Ok(ValueKind::$kind(value.into()))
        }
    };
}

impl<'de> Visitor<'de> for KindVisitor {
    type Value = ValueKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<ValueKind, E> {
        Ok(ValueKind::Null)
    }

    scalar!(visit_bool, bool, Bool);
    scalar!(visit_i64, i64, Int);
    scalar!(visit_f64, f64, Float);
    scalar!(visit_str, &str, Str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ValueKind, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            out.push(item);
        }
        Ok(ValueKind::List(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ValueKind, A::Error> {
        let mut out = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            out.push(entry);
        }
        Ok(ValueKind::Map(out))
    }
}

impl ReadError {
    /// The innermost place is the right one.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError {
            message: message.to_string(),
            help: None,
            span: None,
        }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        de::Error::custom(format!("{expected} is expected, not {found}"))
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let expected = match expected.to_string() {
            // What it is in Rust says nothing to who wrote it.
            it if it == "u32" => format!("a number up to {}", u32::MAX),
            it => it,
        };
        de::Error::custom(format!("{expected} is expected, not {found}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("option", field, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("value", variant, expected)
    }
}

impl ReadError {
    fn unknown(what: &str, name: &str, known: &[&'static str]) -> Self {
        let near = crate::diag::nearest(name, known.iter().copied());
        ReadError {
            message: format!("unknown {what} `{name}`"),
            help: Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use one of `{}`", known.join("`, `")),
            }),
            span: None,
        }
    }
}
