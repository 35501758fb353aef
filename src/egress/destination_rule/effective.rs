//! What several rules of one host come to.

use std::collections::{HashMap, HashSet};

use super::rule::Rule;
use crate::egress::facts::Overridden;
use crate::egress::host;
use crate::istio::decode::Items;
use crate::istio::traffic::{Subset, TrafficPolicy};
use crate::source::{Span, Spanned};

/// The rule that holds, made of one or several.
#[derive(Clone, Debug)]
pub struct EffectiveRule<'m> {
    /// The first of `parts`, which gives the name.
    pub first: &'m Rule<'m>,
    /// All that were merged, in order.
    pub parts: Vec<&'m Rule<'m>>,
    /// Rules for the same host that would hold if this one did not.
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

    /// The names of all subsets.
    pub fn subset_names(&self) -> impl Iterator<Item = &'m str> + use<'_, 'm> {
        self.subsets().map(subset_name)
    }

    /// The first subset of that name.
    pub fn subset(&self, name: &str) -> Option<&'m Spanned<Subset>> {
        self.subsets().find(|subset| subset_name(subset) == name)
    }

    /// All subsets, also those whose name another has before them.
    fn subsets(&self) -> impl Iterator<Item = &'m Spanned<Subset>> + use<'_, 'm> {
        self.parts.iter().flat_map(|rule| rule.spec.subsets.items())
    }

    /// What the rules say that does not hold, because of each other.
    pub fn overridden(&self) -> Vec<Overridden> {
        let mut lost = Vec::new();
        if let Some(policy) = self.traffic_policy() {
            let others = self
                .parts
                .iter()
                .filter_map(|rule| rule.spec.traffic_policy.as_ref());
            lost.extend(others.filter(|other| other.key != policy.key).map(|other| Overridden {
                span: other.key,
                block: "trafficPolicy",
                because: policy.key,
                reason: "of several DestinationRules for a host, the first with a trafficPolicy decides",
            }));
        }
        let mut names = HashMap::new();
        for subset in self.subsets() {
            let first = *names.entry(subset_name(subset)).or_insert(subset.span);
            if first != subset.span {
                lost.push(Overridden {
                    span: subset.span,
                    block: "subset",
                    because: first,
                    reason: "of several subsets of one name, the first holds",
                });
            }
        }
        let holds = self.first.spec.host.as_ref();
        let mut said = HashSet::new();
        for rule in &self.hidden {
            if let (Some(host), Some(holds)) = (&rule.spec.host, holds)
                && said.insert(host.span)
            {
                lost.push(Overridden {
                    span: host.span,
                    block: "DestinationRule",
                    because: holds.span,
                    reason: "another DestinationRule holds for this client and host",
                });
            }
        }
        lost
    }
}

fn subset_name(subset: &Spanned<Subset>) -> &str {
    subset.value.name.as_ref().map_or("", |name| &name.value)
}
