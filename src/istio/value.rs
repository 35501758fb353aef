//! The scalar types of the API.

use super::decode::{Decode, Decoder, message};
use crate::yaml::{Node, Scalar};

/// An integer as written; its range is admission's to judge.
pub type Int = i64;
/// A floating-point number.
pub type Number = f64;
pub type Bool = bool;

message! {
    /// `{number: 443}`.
    PortSelector {
        number: Int = "number",
    }
}

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    pub nanos: i128,
}

impl Duration {
    pub fn from_millis(millis: i64) -> Self {
        Self { nanos: i128::from(millis) * 1_000_000 }
    }

    /// Whole milliseconds, truncated.
    pub fn millis(self) -> i64 {
        i64::try_from(self.nanos / 1_000_000).unwrap_or(i64::MAX)
    }
}

/// `targetPort` of a Kubernetes `Service`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntOrString {
    Int(i64),
    Str(String),
}

impl Decode for String {
    fn decode(node: Node<'_>, decoder: &mut Decoder) -> Option<Self> {
        decoder.placeholder(node);
        match node.scalar() {
            Some(Scalar::Str(text)) => Some(text.into_owned()),
            _ => {
                decoder.wrong_type(node, "a string");
                None
            }
        }
    }
}
