//! The tables of a registry, each made once.

use foldhash::HashMap;

use super::host::OfHost;
use super::port::OnPort;
use super::{Numbers, Place};
use crate::egress::service::{Definition, Origin, distribute};
use crate::egress::visibility::{DefaultExport, reach};
use crate::istio::resource::{Resource, Spec};

/// The definitions of services, the oldest first.
pub(super) fn definitions<'a>(
    resources: &[&'a Resource],
    default: &DefaultExport,
) -> Vec<Definition<'a>> {
    let services = resources.iter().copied().filter(is_service);
    let mut out: Vec<Definition<'a>> = Vec::with_capacity(services.clone().count());
    out.extend(services.filter_map(Definition::read));
    distribute(&mut out, resources);
    for definition in &mut out {
        let declared = definition.export_to.iter().map(|entry| &**entry);
        definition.reach = reach(definition.namespace(), declared, default);
    }
    // Kubernetes Services count as the oldest. Of the others, the order of the files stands for their age.
    // Sorting takes half as much room again, for nothing where there are only the others.
    if !out.is_sorted_by_key(age) {
        out.sort_by(|a, b| age(a).cmp(&age(b)));
    }
    out
}

fn age<'d>(definition: &'d Definition<'_>) -> (Origin, Option<(&'d str, Option<&'d str>)>) {
    let kubernetes = definition.origin == Origin::Kubernetes;
    let name = (definition.resource.name(), definition.namespace());
    (definition.origin, kubernetes.then_some(name))
}

fn is_service(resource: &&Resource) -> bool {
    let defines = matches!(resource.spec, Spec::ServiceEntry(_) | Spec::Service(_));
    defines && !resource.refused
}

/// The services in Istio's order. The hosts of one entry are of one age; then their names decide, and one that is listed
/// twice is one.
pub(super) fn order(definitions: &mut [Definition<'_>]) -> Vec<Place> {
    let hosts = definitions.iter().map(|it| it.hosts.len()).sum();
    let mut out: Vec<Place> = Vec::with_capacity(hosts);
    for (definition, at) in definitions.iter_mut().zip(0u32..) {
        definition.hosts.sort_by(|a, b| a.name.cmp(&b.name));
        definition.hosts.dedup_by(|a, b| a.name == b.name);
        let hosts = definition.hosts.iter().zip(0u32..);
        out.extend(hosts.map(|(_, host)| (at, host)));
    }
    out
}

/// Gives each service its rank, and each host a number.
pub(super) fn by_host<'a>(
    definitions: &mut [Definition<'a>],
    order: &[Place],
) -> (Numbers<'a>, Vec<OfHost>) {
    let mut numbers = Numbers::default();
    numbers.reserve(order.len());
    let mut hosts: Vec<OfHost> = Vec::with_capacity(order.len());
    for (&(definition, host), rank) in order.iter().zip(0u32..) {
        let definition = definitions.get_mut(definition as usize);
        let Some(host) = definition.and_then(|it| it.hosts.get_mut(host as usize)) else {
            continue;
        };
        host.rank = rank;
        let known = numbers.get(&*host.name).copied();
        let number = known.unwrap_or_else(|| {
            let number = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
            numbers.insert(host.name.clone(), number);
            hosts.push(OfHost::default());
            number
        });
        if let Some(of_host) = hosts.get_mut(number as usize) {
            of_host.ranks.push(rank);
        }
    }
    (numbers, hosts)
}

/// Fills in the ranks of each host by namespace.
pub(super) fn by_namespace(
    definitions: &[Definition<'_>],
    order: &[Place],
    numbers: &Numbers<'_>,
    hosts: &mut [OfHost],
) {
    let definition = |at: u32| definitions.get(at as usize);
    let mut sorted: Vec<(u32, Place)> = (0u32..).zip(order.iter().copied()).collect();
    sorted.sort_by_key(|(_, (at, _))| definition(*at).map(Definition::namespace));
    for (rank, (at, host)) in sorted {
        let name = definition(at).and_then(|it| it.hosts.get(host as usize));
        let number = name.and_then(|host| numbers.get(&*host.name));
        if let Some(of_host) = number.and_then(|&number| hosts.get_mut(number as usize)) {
            of_host.by_namespace.push(rank);
        }
    }
}

/// The definitions by the numbers and by the names of their ports.
pub(super) fn by_port<'a>(
    definitions: &[Definition<'a>],
) -> (HashMap<u32, OnPort>, HashMap<&'a str, Vec<u32>>) {
    let mut by_number: HashMap<u32, OnPort> = HashMap::default();
    let mut by_name: HashMap<&str, Vec<u32>> = HashMap::default();
    for (definition, at) in definitions.iter().zip(0u32..) {
        for port in &definition.ports {
            let on_port = by_number.entry(port.number).or_default();
            note(&mut on_port.definitions, at);
            note(by_name.entry(port.name).or_default(), at);
        }
    }
    (by_number, by_name)
}

fn note(list: &mut Vec<u32>, at: u32) {
    if list.last() != Some(&at) {
        list.push(at);
    }
}
