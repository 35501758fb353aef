//! What only the user knows about the other side of an egress, and who said it.

use crate::source::Span;

/// How the addresses of a host behave over time.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Answers change on failover or drain: what disappears from them has gone for a reason.
    Gslb,
    /// Each answer is a rotating subset of many addresses: what disappears from it still works.
    Cdn,
    /// Answers never change.
    Fixed,
}

impl Class {
    pub const NAMES: [&'static str; 3] = ["gslb", "cdn", "fixed"];

    pub fn name(self) -> &'static str {
        match self {
            Class::Gslb => "gslb",
            Class::Cdn => "cdn",
            Class::Fixed => "fixed",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Class::Gslb, Class::Cdn, Class::Fixed]
            .into_iter()
            .find(|class| class.name() == text)
    }
}

/// Who said it. What only the built-in table says makes a finding advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An annotation of the ServiceEntry.
    Annotation(Span),
    /// The entry of `hosts:` that matched first.
    Config(Span),
    /// The table of well-known public suffixes.
    BuiltIn,
}

/// A fact about a host with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Fact<T> {
    /// The line that says it, in a manifest or in the configuration.
    pub fn span(&self) -> Option<Span> {
        match self.origin {
            Origin::Annotation(span) | Origin::Config(span) => Some(span),
            Origin::BuiltIn => None,
        }
    }

    /// Whether the user said it.
    pub fn is_given(&self) -> bool {
        self.origin != Origin::BuiltIn
    }
}

/// All that is known about one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    pub class: Option<Fact<Class>>,
    /// How many A or AAAA records one answer holds.
    pub addresses: Option<Fact<u32>>,
    pub ttl_ms: Option<Fact<i64>>,
    /// `false`: a request must not be sent twice.
    pub repeatable: Option<Fact<bool>>,
    /// How long the old address still works after a flip.
    pub drain_ms: Option<Fact<i64>>,
    /// The longest session or stream of the clients.
    pub session_ms: Option<Fact<i64>>,
}

impl HostFacts {
    /// These facts, and those of `other` where these say nothing.
    #[must_use]
    pub fn or(&self, other: &HostFacts) -> HostFacts {
        HostFacts {
            class: self.class.or(other.class),
            addresses: self.addresses.or(other.addresses),
            ttl_ms: self.ttl_ms.or(other.ttl_ms),
            repeatable: self.repeatable.or(other.repeatable),
            drain_ms: self.drain_ms.or(other.drain_ms),
            session_ms: self.session_ms.or(other.session_ms),
        }
    }
}
