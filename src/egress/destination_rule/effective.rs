//! What several rules of one host come to.

use foldhash::HashSet;

use super::rule::Rule;
use crate::egress::facts::Overridden;
use crate::egress::host;
use crate::istio::decode::Items;
use crate::istio::traffic::{Subset, TrafficPolicy};
use crate::source::{Span, Spanned};

/// How many lines of one kind are said to be lost.
const MOST: usize = 64;

/// The rule that holds, made of one or several.
#[derive(Clone, Debug)]
pub struct EffectiveRule<'m> {
    /// The first of `parts`, which gives the name.
    pub first: &'m Rule<'m>,
    /// All that were merged, in order.
    pub parts: Vec<&'m Rule<'m>>,
    /// Rules for the same host that would hold if this one did not: not all where there are many.
    pub hidden: Vec<&'m Rule<'m>>,
}

impl<'m> EffectiveRule<'m> {
    pub(super) fn new(parts: Vec<&'m Rule<'m>>, hidden: Vec<&'m Rule<'m>>) -> Option<Self> {
        let first = *parts.first()?;
        Some(Self {
            first,
            parts,
            hidden,
        })
    }

    /// `namespace/name`.
    pub fn name(&self) -> String {
        let namespace = self.first.namespace().unwrap_or(host::UNKNOWN_NAMESPACE);
        format!("{namespace}/{}", self.first.resource.name())
    }

    /// The `host` of the first rule.
    pub fn host_line(&self) -> Span {
        let host = self.first.spec.host.as_ref();
        host.map_or(self.first.resource.spec_key, |host| host.span)
    }

    pub fn has_selector(&self) -> bool {
        self.first.has_selector()
    }

    /// The policy of the first rule that has one; those of the others are lost.
    pub fn traffic_policy(&self) -> Option<&'m Spanned<TrafficPolicy>> {
        self.parts
            .iter()
            .find_map(|rule| rule.spec.traffic_policy.as_ref())
    }

    /// The first subset of that name.
    pub fn subset(&self, name: &str) -> Option<&'m Spanned<Subset>> {
        self.subsets().find(|subset| subset_name(subset) == name)
    }

    /// All subsets, also those whose name another has before them.
    fn subsets(&self) -> impl Iterator<Item = &'m Spanned<Subset>> + use<'_, 'm> {
        self.parts.iter().flat_map(|rule| rule.spec.subsets.items())
    }

    /// What the rules say that does not hold because of each other, for the whole service or for one of its subsets.
    pub fn overridden(&self, subset: Option<&str>) -> Vec<Overridden> {
        let policy = self.traffic_policy().map(|policy| policy.key);
        let policies = self
            .parts
            .iter()
            .filter_map(|rule| rule.spec.traffic_policy.as_ref());
        let policies = policies.map(|policy| policy.key);
        let lost_policies = policies.filter_map(|other| {
            Some(Overridden {
                span: other,
                block: "trafficPolicy",
                because: policy.filter(|first| *first != other)?,
                reason: "of several DestinationRules for a host, the first with a trafficPolicy decides",
            })
        });
        let of_name = || {
            let named = |other: &&Spanned<Subset>| Some(subset_name(other)) == subset;
            self.subsets().filter(named).map(|subset| subset.span)
        };
        let lost_subsets = of_name().skip(1).filter_map(|other| {
            Some(Overridden {
                span: other,
                block: "subset",
                because: of_name().next()?,
                reason: "of several subsets of one name, the first holds",
            })
        });
        let hosts = self
            .hidden
            .iter()
            .filter_map(|rule| rule.spec.host.as_ref());
        let lost_rules = hosts.filter_map(|host| {
            Some(Overridden {
                span: host.span,
                block: "DestinationRule",
                because: self.first.spec.host.as_ref()?.span,
                reason: "another DestinationRule holds for this client and host",
            })
        });
        let mut lost: Vec<_> = lost_policies.take(MOST).collect();
        lost.extend(lost_subsets.take(MOST));
        lost.extend(lost_rules.take(MOST));
        let mut said = HashSet::default();
        lost.retain(|lost| said.insert(lost.span));
        lost
    }
}

pub(in crate::egress) fn subset_name(subset: &Spanned<Subset>) -> &str {
    subset.value.name.as_ref().map_or("", |name| &name.value)
}
