//! Which DestinationRule holds for a client and a service: the look-up in three namespaces, and the merging of
//! several rules of one host.

mod effective;
mod group;
mod rule;
mod unknown;

pub use effective::EffectiveRule;
pub(super) use effective::subset_name;
pub use rule::Rule;

use group::{Group, Grouped, Index};

use super::client::Client;
use super::host::HostIndex;
use super::namespace::{Same, same};
use super::service::Service;
use crate::istio::resource::Resource;

/// All DestinationRules of a world.
#[derive(Debug, Default)]
pub struct Rules<'a> {
    rules: Vec<Rule<'a>>,
    /// What a client of the namespace finds first.
    local: Index<'a>,
    /// What the namespace offers to clients of others.
    exported: Index<'a>,
    /// The private rules of the root namespace, the only ones that come first for clients in it.
    root_private: Index<'a>,
    by_host: HostIndex<usize>,
    root_namespace: String,
}

/// How many of the rules that would hold otherwise are remembered.
const HIDDEN: usize = 16;

/// Where a look-up ended.
pub type Found<'m> = Option<EffectiveRule<'m>>;

impl<'a> Rules<'a> {
    /// `private_by_default`: `MeshConfig.defaultDestinationRuleExportTo` holds `.`.
    pub fn new(resources: &[&'a Resource], private_by_default: bool, root_namespace: &str) -> Self {
        let mut rules: Vec<_> = resources
            .iter()
            .filter(|r| !r.refused)
            .filter_map(|resource| Rule::read(resource))
            .collect();
        // Those with a selector first, then the oldest.
        rules.sort_by_key(|rule| !rule.has_selector());

        let mut groups: [Grouped<'a>; 3] = Default::default();
        let [local, exported, root_private] = &mut groups;
        for (at, rule) in rules.iter().enumerate() {
            let key = (rule.namespace(), rule.host.clone());
            if rule.is_local() {
                local.entry(key.clone()).or_default().push(at);
            }
            if !rule.is_private(private_by_default) {
                exported.entry(key).or_default().push(at);
            } else if rule.namespace() == Some(root_namespace) {
                root_private.entry(key).or_default().push(at);
            }
        }
        let mut by_host = HostIndex::default();
        for (at, rule) in rules.iter().enumerate() {
            by_host.insert(&rule.host, at);
        }
        let [local, exported, root_private] = groups.map(|groups| Index::new(groups, &rules));
        Self {
            rules,
            local,
            exported,
            root_private,
            by_host,
            root_namespace: root_namespace.to_owned(),
        }
    }

    /// The rules whose host covers all of this one, the most specific first, and whether it is the very same.
    pub fn covering<'s>(&'s self, host: &'s str) -> impl Iterator<Item = (&'s Rule<'a>, bool)> {
        let found = self.by_host.covering(host).flatten();
        let rules = found.filter_map(|&at| self.rules.get(at));
        rules.map(move |rule| (rule, rule.host == host))
    }

    /// The namespace whose rules hold where no other has one.
    pub fn root_namespace(&self) -> &str {
        &self.root_namespace
    }

    /// Every rule, in Istio's order.
    pub fn all(&self) -> &[Rule<'a>] {
        &self.rules
    }

    /// The rule that holds when the client sends to the service.
    ///
    /// The first place that has a rule for the host decides, even if that rule selects other workloads: the
    /// client's namespace, the service's, the root namespace.
    pub fn of(&self, client: &Client, service: &Service<'_>) -> Found<'_> {
        let own = client.namespace.as_deref();
        let host = service.name();
        let root = Some(self.root_namespace.as_str());
        let first = match own == root {
            true => &self.root_private,
            false => &self.local,
        };
        let mut found: Option<Found<'_>> = None;
        let mut hidden: Vec<&Rule<'_>> = Vec::new();
        for wanted in [Same::Yes, Same::Perhaps] {
            let places = [
                first
                    .find(own, host, wanted)
                    .map(|group| self.choose(group, client, None)),
                self.exported
                    .find(service.namespace(), host, wanted)
                    .and_then(|group| self.visible(group, client)),
                self.exported
                    .find(root, host, wanted)
                    .and_then(|group| self.visible(group, client)),
            ];
            for place in places.into_iter().flatten() {
                match &found {
                    None => found = Some(place),
                    Some(_) => hidden.extend(place.iter().map(|rule| rule.first)),
                }
            }
        }
        let mut found = found.flatten()?;
        hidden.retain(|rule| !found.parts.iter().any(|part| std::ptr::eq(*part, *rule)));
        hidden.dedup_by(|a, b| std::ptr::eq(*a, *b));
        found.hidden.extend(hidden);
        Some(found)
    }

    /// Of an exporting namespace: the rules that the client may see; `None` where there are none.
    fn visible(&self, group: &Group<'a>, client: &Client) -> Option<Found<'_>> {
        let last = match client.namespace.as_deref() {
            Some(own) => group.last_for.get(own).copied().max(group.last_public),
            None => group.entries.len().checked_sub(1),
        };
        Some(self.choose(group, client, Some(last?)))
    }

    /// The rule with a selector that selects the client, else the last one without.
    /// `exported` is the place in the entries of that last one; without it, clients of the namespace itself ask.
    fn choose(&self, group: &Group<'a>, client: &Client, exported: Option<usize>) -> Found<'_> {
        let own = client.namespace.as_deref();
        let rule = |&at: &usize| self.rules.get(at);
        let selects = |members: &&Vec<usize>| {
            let rule = members.first().and_then(rule);
            rule.is_some_and(|rule| {
                same(rule.namespace(), own) != Same::No
                    && client.has_labels(rule.selector.iter().flatten().copied())
            })
        };
        let everywhere = |rule: &&Rule<'_>| rule.exports(".");
        let plain = || group.plain.iter().filter_map(rule);
        if let (None, Some(members)) = (exported, group.selected.iter().find(selects)) {
            // Rules without a selector that are private are merged into every rule that has one.
            let parts: Vec<_> = members
                .iter()
                .filter_map(rule)
                .chain(plain().filter(everywhere))
                .collect();
            let hidden = plain()
                .filter(|rule| !everywhere(rule))
                .take(HIDDEN)
                .collect();
            return EffectiveRule::new(parts, hidden);
        }
        let last = exported.or_else(|| group.entries.len().checked_sub(1))?;
        let start = *group.entries.get(last)?;
        let first = group.plain.get(start).and_then(rule)?;
        let (before, after) = group.plain.split_at(start);
        let later = after.iter().skip(1).filter_map(rule);
        let parts = std::iter::once(first).chain(later.filter(|rule| rule.joins(first)));
        let (_, before) = before.split_at(before.len().saturating_sub(HIDDEN));
        let earlier = before.iter().filter_map(rule);
        let hidden = earlier.filter(|rule| exported.is_none() || rule.is_visible(own));
        EffectiveRule::new(parts.collect(), hidden.collect())
    }
}
