//! Serde reads types from a [`Value`]; a [`Spanned`] inside of them gets its bytes.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, U32Deserializer};
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
    T::deserialize(Reader {
        value,
        key: value.span,
    })
}

/// The name that asks for the span of what follows. No struct of another meaning may have it.
const SPANNED: &str = "$egress_lint::Spanned";

struct Reader<'v> {
    value: &'v Value,
    key: Span,
}

impl<'v> Reader<'v> {
    fn item(value: &'v Value) -> Self {
        Reader {
            value,
            key: value.span,
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let result = match &self.value.kind {
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
        };
        result.map_err(|error| error.at(self.value.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value.kind {
            ValueKind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name == SPANNED {
            let parts = Parts {
                value: self.value,
                key: self.key,
                next: 0,
            };
            return visitor
                .visit_seq(parts)
                .map_err(|error| error.at(self.value.span));
        }
        self.deserialize_any(visitor)
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
        let span = self.value.span;
        let result = match &self.value.kind {
            ValueKind::Str(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            _ => Err(de::Error::custom(format!(
                "a name is expected, not {}",
                self.value.describe()
            ))),
        };
        result.map_err(|error: ReadError| error.at(span))
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
            .map(|item| seed.deserialize(Reader::item(item)))
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
        seed.deserialize(Key(name))
            .map(Some)
            .map_err(|error| error.at(name.span))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let (name, value) = self
            .value
            .take()
            .ok_or_else(|| de::Error::custom("a value without a key"))?;
        seed.deserialize(Reader {
            value,
            key: name.span,
        })
    }
}

/// A key, which is a string, with its span if that is asked for.
struct Key<'v>(&'v Spanned<String>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_borrowed_str(&self.0.value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_seq(KeyParts {
            key: self.0,
            next: 0,
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The parts of a [`Spanned`]: file, start and end of the value, start and end of the key, then the value itself.
struct Parts<'v> {
    value: &'v Value,
    key: Span,
    next: usize,
}

struct KeyParts<'v> {
    key: &'v Spanned<String>,
    next: usize,
}

fn part(span: Span, key: Span, index: usize) -> Option<U32Deserializer<ReadError>> {
    let parts = [span.file.0, span.start, span.end, key.start, key.end];
    parts.get(index).map(|&part| part.into_deserializer())
}

impl<'de> SeqAccess<'de> for Parts<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let index = self.next;
        self.next += 1;
        match part(self.value.span, self.key, index) {
            Some(part) => seed.deserialize(part).map(Some),
            None => seed
                .deserialize(Reader {
                    value: self.value,
                    key: self.key,
                })
                .map(Some),
        }
    }
}

impl<'de> SeqAccess<'de> for KeyParts<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let index = self.next;
        self.next += 1;
        match part(self.key.span, self.key.span, index) {
            Some(part) => seed.deserialize(part).map(Some),
            None => seed.deserialize(Key(self.key)).map(Some),
        }
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

impl<'de> Visitor<'de> for KindVisitor {
    type Value = ValueKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<ValueKind, E> {
        Ok(ValueKind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<ValueKind, E> {
        Ok(ValueKind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<ValueKind, E> {
        Ok(ValueKind::Int(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ValueKind, E> {
        Ok(ValueKind::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<ValueKind, E> {
        Ok(ValueKind::Str(text.to_owned()))
    }

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
