//! The Gateways of a world, and what the routers that they select make of them.

pub mod listener;
mod merged;
pub mod routes;
mod server;

use foldhash::HashMap;

use super::client::Client;
use super::namespace::{Same, same};
use super::virtual_service::Binding;
use crate::istio::proxy::Gateway;
use crate::istio::resource::{Resource, Spec};

pub use merged::{MergedGateway, PortServers, ServerPort};
pub use server::{GatewayServer, ServerHost};

/// All Gateways of a world, the oldest first: the order of the files stands for their age.
#[derive(Debug, Default)]
pub struct Gateways<'a> {
    all: Vec<(&'a Resource, &'a Gateway)>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// By the first label of the selector.
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Those without a selector are for every router.
    unselective: Vec<usize>,
}

impl<'a> Gateways<'a> {
    pub fn new(resources: &[&'a Resource]) -> Self {
        let all: Vec<_> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::Gateway(gateway) => Some((*resource, &**gateway)),
                _ => None,
            })
            .collect();
        let mut by_name: HashMap<_, Vec<_>> = HashMap::default();
        for (at, (resource, _)) in all.iter().enumerate() {
            by_name.entry(resource.name()).or_default().push(at);
        }
        let mut by_label: HashMap<_, Vec<_>> = HashMap::default();
        let mut unselective = Vec::new();
        for (at, (_, gateway)) in all.iter().enumerate() {
            match selector(gateway).next() {
                Some(label) => by_label.entry(label).or_default().push(at),
                None => unselective.push(at),
            }
        }
        Self {
            all,
            by_name,
            by_label,
            unselective,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Resource, &'a Gateway)> + '_ {
        self.all.iter().copied()
    }

    /// Those that a VirtualService means by a name.
    pub fn named(&self, namespace: Option<&str>, name: &str) -> Vec<(&'a Resource, &'a Gateway)> {
        let found = self.by_name.get(name).into_iter().flatten();
        let found = found.filter_map(|&at| self.all.get(at)).copied();
        found
            .filter(|(resource, _)| same(resource.namespace(), namespace) != Same::No)
            .collect()
    }

    /// Those to which VirtualServices are bound, in order.
    pub fn bound_by<'b>(
        &self,
        bindings: impl Iterator<Item = &'b Binding<'b>>,
    ) -> Vec<(&'a Resource, &'a Gateway)> {
        let mut found = Vec::new();
        for binding in bindings {
            let Binding::Gateway { namespace, name } = binding else {
                continue;
            };
            let named = self.by_name.get(name).into_iter().flatten().copied();
            found.extend(named.filter(|at| {
                let known = self.all.get(*at);
                known.is_some_and(|(it, _)| same(it.namespace(), *namespace) != Same::No)
            }));
        }
        found.sort_unstable();
        found.dedup();
        let found = found.into_iter().filter_map(|at| self.all.get(at));
        found.copied().collect()
    }

    /// Those that select a router, in order.
    pub fn of(&self, client: &Client) -> Vec<(&'a Resource, &'a Gateway)> {
        let labels = client.labels.iter();
        let labelled = labels.filter_map(|(k, v)| self.by_label.get(&(k.as_str(), v.as_str())));
        let mut found: Vec<usize> = labelled
            .flatten()
            .chain(&self.unselective)
            .copied()
            .collect();
        found.sort_unstable();
        found
            .into_iter()
            .filter_map(|at| self.all.get(at))
            .filter(|(_, gateway)| client.has_labels(selector(gateway)))
            .copied()
            .collect()
    }
}

/// The labels that a Gateway wants of a router.
pub fn selector(gateway: &Gateway) -> impl Iterator<Item = (&str, &str)> {
    let labels = gateway
        .selector
        .iter()
        .flat_map(|labels| labels.value.iter());
    labels.map(|(key, value)| (key.value.as_str(), value.value.as_str()))
}
