//! The rules of one host, found by namespace, and which of several stand on their own.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::HashMap;

use super::rule::Rule;
use crate::egress::host::{self, HostIndex};
use crate::egress::namespace::Same;

/// The rules of each namespace and host.
pub(super) type Grouped<'a> = BTreeMap<(Option<&'a str>, Cow<'a, str>), Vec<usize>>;

/// Groups of rules by namespace and host.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    of_namespace: HashMap<String, HostIndex<Box<Group<'a>>>>,
    /// The namespaces that have rules for a host, sorted.
    anywhere: HostIndex<Option<&'a str>>,
}

/// The rules of one namespace and host: numbers into `Rules::rules`, in the order in which Istio merges them.
#[derive(Clone, Debug, Default)]
pub(super) struct Group<'a> {
    /// By selector, in the order of their first rule.
    pub(super) selected: Vec<Vec<usize>>,
    /// Those without a selector.
    pub(super) plain: Vec<usize>,
    /// Those of `plain` that stand on their own, because the last one before them was not merged with them.
    pub(super) entries: Vec<usize>,
    /// The last of the entries that everybody may see, and for each namespace the last that names it.
    pub(super) last_public: Option<usize>,
    pub(super) last_for: HashMap<&'a str, usize>,
}

/// An unknown namespace is one of its own.
fn key(namespace: Option<&str>) -> &str {
    namespace.unwrap_or(host::UNKNOWN_NAMESPACE)
}

impl<'a> Index<'a> {
    pub(super) fn new(groups: Grouped<'a>, rules: &[Rule<'a>]) -> Self {
        let mut index = Self::default();
        for ((namespace, host), members) in groups {
            index.anywhere.insert(&host, namespace);
            index
                .of_namespace
                .entry(key(namespace).to_owned())
                .or_default()
                .insert(&host, Box::new(Group::new(&members, rules)));
        }
        index
    }

    /// The group of the most specific host in the namespace. `Perhaps` looks where the namespace may be the one.
    pub(super) fn find(
        &self,
        namespace: Option<&str>,
        host: &str,
        wanted: Same,
    ) -> Option<&Group<'a>> {
        let of = |namespace: Option<&str>| {
            self.of_namespace
                .get(key(namespace))?
                .covering(host)
                .next()?
                .first()
                .map(|group| &**group)
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
        let mut by_selector: HashMap<&[(&str, &str)], usize> = HashMap::default();
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
