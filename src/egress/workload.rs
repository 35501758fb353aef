//! What runs behind services, apart from the pods that no file tells of.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::client::Client;
use super::namespace::{Same, same};
use crate::istio::resource::{Resource, Spec};
use crate::istio::service::WorkloadEntry;

/// The workloads of a world: its WorkloadEntries, found by namespace and label.
#[derive(Debug, Default)]
pub struct Workloads<'a> {
    entries: Vec<Workload<'a>>,
    /// Pods that are known to exist although no file says so: those of the gateways that are asked about.
    gateways: Vec<Client>,
    of_namespace: HashMap<Option<&'a str>, Vec<usize>>,
    by_label: HashMap<(Option<&'a str>, &'a str, &'a str), Vec<usize>>,
}

#[derive(Debug)]
pub(super) struct Workload<'a> {
    pub(super) resource: &'a Resource,
    pub(super) entry: &'a WorkloadEntry,
    pub(super) labels: BTreeMap<&'a str, &'a str>,
}

impl<'a> Workloads<'a> {
    pub fn new(resources: &[&'a Resource]) -> Self {
        let mut entries: Vec<Workload<'a>> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::WorkloadEntry(entry) => Some(Workload {
                    resource,
                    entry,
                    // Those of the object win over those of its spec.
                    labels: entry
                        .labels
                        .iter()
                        .flat_map(|labels| labels.value.iter())
                        .chain(resource.meta.labels.iter())
                        .map(|(key, value)| (key.value.as_str(), value.value.as_str()))
                        .collect(),
                }),
                _ => None,
            })
            .collect();
        entries.sort_by_key(|workload| (workload.resource.namespace(), workload.resource.name()));
        let mut of_namespace: HashMap<_, Vec<usize>> = HashMap::default();
        let mut by_label: HashMap<_, Vec<usize>> = HashMap::default();
        for (at, workload) in entries.iter().enumerate() {
            let namespace = workload.resource.namespace();
            of_namespace.entry(namespace).or_default().push(at);
            for (key, value) in &workload.labels {
                by_label
                    .entry((namespace, *key, *value))
                    .or_default()
                    .push(at);
            }
        }
        Self {
            entries,
            of_namespace,
            by_label,
            gateways: Vec::new(),
        }
    }

    /// Adds the pods of these gateways.
    pub fn with_gateways(mut self, clients: impl IntoIterator<Item = Client>) -> Self {
        let gateways: BTreeSet<_> = clients.into_iter().filter(Client::is_gateway).collect();
        self.gateways.extend(gateways);
        self
    }

    /// The gateways' pods of a namespace that have all the labels.
    pub(super) fn pods<'s>(
        &'s self,
        namespace: Option<&'s str>,
        selector: &'s [(&'s str, &'s str)],
    ) -> impl Iterator<Item = &'s Client> {
        self.gateways.iter().filter(move |pod| {
            same(pod.namespace(), namespace) != Same::No && pod.has_labels(selector.iter().copied())
        })
    }

    /// Those of a namespace that have all the labels.
    pub(super) fn selected<'s>(
        &'s self,
        namespace: Option<&'s str>,
        selector: &'s [(&'s str, &'s str)],
    ) -> Vec<&'s Workload<'s>> {
        let of = |namespace: Option<&'s str>| match selector {
            [] => self.of_namespace.get(&namespace),
            labels => {
                let of_label = |(key, value): &(&'s str, &'s str)| {
                    self.by_label.get(&(namespace, *key, *value))
                };
                // The fewest that have one of the labels; none where one of the labels is nowhere.
                let found: Option<Vec<_>> = labels.iter().map(of_label).collect();
                found.and_then(|found| found.into_iter().min_by_key(|list| list.len()))
            }
        };
        let known = of(namespace).into_iter().flatten();
        // The namespace of those may be this one.
        let unknown = namespace.and_then(|_| of(None)).into_iter().flatten();
        let all = known.chain(unknown).filter_map(|&at| self.entries.get(at));
        all.filter(|workload| {
            selector
                .iter()
                .all(|(key, value)| workload.labels.get(key) == Some(value))
        })
        .collect()
    }
}
