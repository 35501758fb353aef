//! Where a service's traffic goes: inline endpoints, WorkloadEntries, or the host itself.

mod instance;

use std::collections::BTreeSet;

pub use instance::{Instance, in_locality, locality_parts};

use foldhash::HashSet;
use instance::{host_itself, needs_dns, of_entry, of_kubernetes, of_pod};
use ipnet::IpNet;

use super::registry::Registry;
use super::service::{Definition, Origin, Port, Resolution, Service};
use super::workload::Workloads;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::istio::service::WorkloadEntry;
use crate::source::{Span, Spanned};

/// How the endpoints of a cluster are picked out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'w> {
    /// DNS clusters go by the number of the service's port.
    Number(u32),
    /// EDS goes by its name.
    Name(&'w str),
}

/// Beyond so many endpoints of a cluster, repetitions of them are left out.
const MOST: usize = 10_000;

/// The endpoints that all definitions of a host in the service's namespace have together.
pub(super) fn instances<'m>(
    registry: &'m Registry<'m>,
    workloads: &'m Workloads<'m>,
    service: &Service<'m>,
    wanted: Wanted<'_>,
) -> Vec<Instance<'m>> {
    let is_wanted = |port: &Port<'_>| match wanted {
        Wanted::Number(number) => port.number == number,
        Wanted::Name(name) => port.name == name,
    };
    let numbers: BTreeSet<u32> = match wanted {
        Wanted::Number(number) => BTreeSet::from([number]),
        Wanted::Name(name) => {
            let named = registry.with_port_name(service, name).into_iter();
            let ports = named.flat_map(|service| &service.definition.ports);
            ports
                .filter(|port| is_wanted(port))
                .map(|port| port.number)
                .collect()
        }
    };
    let mut definitions: Vec<_> = numbers
        .iter()
        .flat_map(|number| registry.with_port_number(service, *number))
        .collect();
    definitions.sort_by_key(|service| service.host.rank);
    definitions.dedup_by_key(|service| service.host.rank);
    let mut out = Vec::new();
    // A port that has an endpoint gets no further one from a DNS_ROUND_ROBIN entry.
    let mut taken: HashSet<u32> = HashSet::default();
    for service in definitions {
        let ports: Vec<_> = service
            .definition
            .ports
            .iter()
            .filter(|port| numbers.contains(&port.number))
            .collect();
        let own = of_definition(&service, workloads, &ports);
        let copies: HashSet<IpNet> = service
            .addresses
            .iter()
            .map(|address| address.net)
            .collect();
        // Istio makes one service of each address, and each brings the endpoints again.
        for copy in 0..copies.len().max(1) {
            if copy > 0 && out.len() > MOST {
                break;
            }
            for (port, instance) in &own {
                let first = taken.insert(port.number);
                if (first || service.resolution != Resolution::DnsRoundRobin) && is_wanted(port) {
                    out.push(instance.clone());
                }
            }
        }
    }
    out
}

fn of_definition<'m>(
    service: &Service<'m>,
    workloads: &'m Workloads<'m>,
    ports: &[&'m Port<'m>],
) -> Vec<(&'m Port<'m>, Instance<'m>)> {
    let definition = service.definition;
    let dns = matches!(
        definition.resolution,
        Resolution::Dns | Resolution::DnsRoundRobin
    );
    let inline = inline(definition);
    let mut out = Vec::new();
    match (&definition.selector, definition.origin) {
        (None, Origin::ServiceEntry) if inline.is_empty() && dns => {
            out.extend(ports.iter().map(|port| (*port, host_itself(service, port))));
        }
        (None, Origin::ServiceEntry) => {
            for endpoint in inline {
                let labels = endpoint
                    .value
                    .labels
                    .iter()
                    .flat_map(|labels| labels.value.iter());
                let labels = labels
                    .map(|(key, value)| (key.value.as_str(), value.value.as_str()))
                    .collect();
                let instance = |port| of_entry(&endpoint.value, endpoint.key, &labels, port);
                out.extend(ports.iter().map(|port| (*port, instance(port))));
            }
        }
        (Some(selector), Origin::ServiceEntry) => {
            for workload in workloads.selected(definition.namespace(), selector) {
                if dns || !needs_dns(workload.entry) {
                    let place = workload.resource.spec_key;
                    let instance = |port| of_entry(workload.entry, place, &workload.labels, port);
                    out.extend(ports.iter().map(|port| (*port, instance(port))));
                }
            }
        }
        (Some(selector), Origin::Kubernetes)
            if definition.resolution == Resolution::Static && !selector.is_empty() =>
        {
            for workload in workloads.selected(definition.namespace(), selector) {
                if !needs_dns(workload.entry) {
                    let instance =
                        |port: &&'m Port<'m>| Some((*port, of_kubernetes(workload, port)?));
                    out.extend(ports.iter().filter_map(instance));
                }
            }
        }
        // Pods are not in the files.
        (_, Origin::Kubernetes) => {}
    }
    // Without labels a Kubernetes Service selects nothing.
    let selector = definition.selector.as_deref();
    let selector =
        selector.filter(|labels| definition.origin == Origin::ServiceEntry || !labels.is_empty());
    for pod in selector
        .into_iter()
        .flat_map(|labels| workloads.pods(definition.namespace(), labels))
    {
        out.extend(
            ports
                .iter()
                .filter_map(|port| Some((*port, of_pod(pod, port)?))),
        );
    }
    out
}

fn inline<'m>(definition: &Definition<'m>) -> &'m [Spanned<WorkloadEntry>] {
    match &definition.resource.spec {
        Spec::ServiceEntry(entry) => entry.endpoints.items(),
        _ => &[],
    }
}

/// The identities of the endpoints of a service, which its certificates carry.
pub(super) fn accounts<'m>(
    registry: &'m Registry<'m>,
    workloads: &'m Workloads<'m>,
    service: &Service<'m>,
    trust_domain: &str,
) -> Vec<(String, Span)> {
    let mut out = Vec::new();
    for service in registry.of_host_in(service.name(), service.namespace()) {
        let namespace = service
            .namespace()
            .unwrap_or(super::host::UNKNOWN_NAMESPACE);
        let selector = service.selector.as_deref();
        let selected = selector
            .map(|selector| workloads.selected(service.namespace(), selector))
            .unwrap_or_default();
        let inline = inline(service.definition)
            .iter()
            .map(|endpoint| &endpoint.value);
        let entries = selected
            .into_iter()
            .map(|workload| workload.entry)
            .chain(inline.filter(|_| selector.is_none()));
        for account in entries.filter_map(|entry| entry.service_account.as_ref()) {
            if !account.value.is_empty() {
                let name = format!(
                    "spiffe://{trust_domain}/ns/{namespace}/sa/{}",
                    account.value
                );
                out.push((name, account.span));
            }
        }
    }
    out
}
