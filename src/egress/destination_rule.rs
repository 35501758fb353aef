//! Which DestinationRule holds for a client and a service: the look-up in three namespaces, and the merging of
//! several rules of one host.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::client::Client;
use super::facts::Overridden;
use super::host::{self, HostIndex};
use super::namespace::{Same, same};
use super::service::{Service, pairs};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::traffic::{DestinationRule, Subset, TrafficPolicy};
use crate::source::{Span, Spanned};

/// A DestinationRule with its host written out.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    pub resource: &'a Resource,
    pub spec: &'a DestinationRule,
    pub host: Cow<'a, str>,
    /// Sorted, without repetitions. A rule with a selector is always private.
    export_to: Vec<&'a str>,
    selector: Option<Vec<(&'a str, &'a str)>>,
}

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

/// The rules of each namespace and host.
type Grouped<'a> = BTreeMap<(Option<&'a str>, Cow<'a, str>), Vec<usize>>;

/// Groups of rules by namespace and host.
#[derive(Debug, Default)]
struct Index<'a> {
    of_namespace: HashMap<String, HostIndex<Group<'a>>>,
    /// The namespaces that have rules for a host, sorted.
    anywhere: HostIndex<Option<&'a str>>,
}

/// The rules of one namespace and host: numbers into `Rules::rules`, in the order in which Istio merges them.
#[derive(Clone, Debug, Default)]
struct Group<'a> {
    /// By selector, in the order of their first rule.
    selected: Vec<Vec<usize>>,
    /// Those without a selector.
    plain: Vec<usize>,
    /// Those of `plain` that stand on their own, because the last one before them was not merged with them.
    entries: Vec<usize>,
    /// The last of the entries that everybody may see, and for each namespace the last that names it.
    last_public: Option<usize>,
    last_for: HashMap<&'a str, usize>,
}

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

/// Where a look-up ended.
pub type Found<'m> = Option<EffectiveRule<'m>>;

impl<'a> Rule<'a> {
    fn read(resource: &'a Resource) -> Option<Self> {
        let Spec::DestinationRule(spec) = &resource.spec else {
            return None;
        };
        let written = spec.host.as_ref().map_or("", |host| host.value.as_str());
        let selector = spec.workload_selector.as_ref().map(|selector| {
            let labels = selector.value.match_labels.as_ref();
            labels
                .map(|labels| pairs(&labels.value))
                .unwrap_or_default()
        });
        let mut export_to: Vec<_> = match selector {
            Some(_) => vec!["."],
            None => spec
                .export_to
                .items()
                .iter()
                .map(|entry| entry.value.as_str())
                .collect(),
        };
        export_to.sort_unstable();
        export_to.dedup();
        Some(Self {
            resource,
            spec,
            host: match written.contains('.') || written.is_empty() {
                true => Cow::Borrowed(written),
                false => Cow::Owned(host::to_fqdn(written, resource.namespace())),
            },
            export_to,
            selector,
        })
    }

    pub fn namespace(&self) -> Option<&'a str> {
        self.resource.namespace()
    }

    pub fn has_selector(&self) -> bool {
        self.selector.is_some()
    }

    /// A client that its selector selects.
    pub fn selected_client(&self) -> Option<Client> {
        let labels = self.selector.as_ref()?.iter();
        let mut client = Client::sidecar(self.namespace());
        client.labels = labels
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        Some(client)
    }

    fn exports(&self, entry: &str) -> bool {
        self.export_to.binary_search(&entry).is_ok()
    }

    /// Whether clients of its own namespace find it.
    fn is_local(&self) -> bool {
        self.export_to.is_empty()
            || self.exports("*")
            || self.exports(".")
            || self.namespace().is_some_and(|own| self.exports(own))
    }

    fn is_private(&self, private_by_default: bool) -> bool {
        match *self.export_to.as_slice() {
            [] => private_by_default,
            [only] => only == "." || self.namespace() == Some(only),
            _ => false,
        }
    }

    fn is_public(&self) -> bool {
        self.export_to.is_empty() || self.exports("*")
    }

    /// Whether it is exported to clients of the namespace.
    fn is_visible(&self, client: Option<&str>) -> bool {
        self.is_public() || client.is_none_or(|client| self.exports(client))
    }

    /// Whether a rule without a selector is merged into an earlier one: it is visible wherever that one is.
    fn joins(&self, earlier: &Rule<'_>) -> bool {
        self.export_to == earlier.export_to
            || !earlier.export_to.is_empty()
                && earlier.export_to.iter().all(|entry| self.exports(entry))
    }
}

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
            let hidden = plain().filter(|rule| !everywhere(rule)).collect();
            return EffectiveRule::new(parts, hidden);
        }
        let last = exported.or_else(|| group.entries.len().checked_sub(1))?;
        let start = *group.entries.get(last)?;
        let first = group.plain.get(start).and_then(rule)?;
        let (mut parts, mut hidden) = (vec![first], Vec::new());
        for (at, rule) in group
            .plain
            .iter()
            .enumerate()
            .filter_map(|(at, number)| Some((at, rule(number)?)))
        {
            match at.cmp(&start) {
                std::cmp::Ordering::Less if exported.is_none() || rule.is_visible(own) => {
                    hidden.push(rule)
                }
                std::cmp::Ordering::Greater if rule.joins(first) => parts.push(rule),
                _ => {}
            }
        }
        EffectiveRule::new(parts, hidden)
    }
}

/// An unknown namespace is one of its own.
fn key(namespace: Option<&str>) -> &str {
    namespace.unwrap_or(host::UNKNOWN_NAMESPACE)
}

impl<'a> Index<'a> {
    fn new(groups: Grouped<'a>, rules: &[Rule<'a>]) -> Self {
        let mut index = Self::default();
        for ((namespace, host), members) in groups {
            index.anywhere.insert(&host, namespace);
            index
                .of_namespace
                .entry(key(namespace).to_owned())
                .or_default()
                .insert(&host, Group::new(&members, rules));
        }
        index
    }

    /// The group of the most specific host in the namespace. `Perhaps` looks where the namespace may be the one.
    fn find(&self, namespace: Option<&str>, host: &str, wanted: Same) -> Option<&Group<'a>> {
        let of = |namespace: Option<&str>| {
            self.of_namespace
                .get(key(namespace))?
                .covering(host)
                .next()?
                .first()
        };
        match (wanted, namespace) {
            (Same::Yes, namespace) => of(namespace),
            (_, Some(_)) => of(None),
            (_, None) => {
                let namespaces = self.anywhere.covering(host).flatten();
                namespaces
                    .filter(|namespace| namespace.is_some())
                    .find_map(|namespace| of(*namespace))
            }
        }
    }
}

impl<'a> Group<'a> {
    fn new(members: &[usize], rules: &[Rule<'a>]) -> Self {
        let mut group = Self::default();
        let mut by_selector: HashMap<&[(&str, &str)], usize> = HashMap::new();
        for &at in members {
            let Some(rule) = rules.get(at) else { continue };
            match &rule.selector {
                Some(selector) => {
                    let place = *by_selector.entry(selector).or_insert_with(|| {
                        group.selected.push(Vec::new());
                        group.selected.len() - 1
                    });
                    if let Some(same) = group.selected.get_mut(place) {
                        same.push(at);
                    }
                }
                None => {
                    let place = group.plain.len();
                    if group.stands_alone(rule, rules) {
                        group.note(rule, group.entries.len());
                        group.entries.push(place);
                    }
                    group.plain.push(at);
                }
            }
        }
        group
    }

    /// Whether Istio lists the rule by itself: what it compared the rule with last decides.
    fn stands_alone(&self, rule: &Rule<'_>, rules: &[Rule<'a>]) -> bool {
        let last = self
            .entries
            .last()
            .and_then(|&place| self.plain.get(place))
            .and_then(|&at| rules.get(at));
        match last {
            Some(last) => !rule.joins(last),
            // A private rule goes under in the rules with a selector.
            None => self.selected.is_empty() || rule.export_to != ["."],
        }
    }

    fn note(&mut self, rule: &Rule<'a>, entry: usize) {
        if rule.is_public() {
            self.last_public = Some(entry);
        }
        for namespace in &rule.export_to {
            self.last_for.insert(namespace, entry);
        }
    }
}

impl<'m> EffectiveRule<'m> {
    fn new(parts: Vec<&'m Rule<'m>>, hidden: Vec<&'m Rule<'m>>) -> Option<Self> {
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
