//! Where a service's traffic goes: inline endpoints, WorkloadEntries, or the host itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

use super::client::Client;
use super::locality;
use super::registry::Registry;
use super::service::{Definition, Origin, Port, Resolution, Service, TargetPort};
use super::workload::{Workload, Workloads};
use crate::istio::decode::{Items, Map};
use crate::istio::resource::Spec;
use crate::istio::service::WorkloadEntry;
use crate::source::{Span, Spanned};

/// One address of one port.
#[derive(Clone, Debug)]
pub struct Instance<'m> {
    pub address: &'m str,
    /// `None`: no file tells the address, and one is assumed.
    pub address_line: Option<Span>,
    pub port: u32,
    pub port_line: Span,
    /// The port of the service.
    pub service_port: u32,
    /// `None`: the host stands for itself, and no label selects it.
    labels: Option<BTreeMap<Cow<'m, str>, Cow<'m, str>>>,
    pub locality: Option<(Cow<'m, str>, Span)>,
    pub weight: u32,
    /// The endpoint has a sidecar that takes mutual TLS; `false` where that is known not to be so.
    pub mutual_tls: bool,
}

/// The address that a gateway's pod is given, as no file tells it.
const GATEWAY_ADDRESS: &str = "10.9.8.7";

/// How the endpoints of a cluster are picked out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'w> {
    /// DNS clusters go by the number of the service's port.
    Number(u32),
    /// EDS goes by its name.
    Name(&'w str),
}

impl Instance<'_> {
    pub(super) fn label(&self, key: &str) -> &str {
        self.labels
            .as_ref()
            .and_then(|labels| labels.get(key))
            .map_or("", |value| value)
    }

    /// Whether a subset with these labels has it.
    pub(super) fn has_labels(&self, wanted: &Map<String>) -> bool {
        wanted.iter().all(|(key, value)| {
            let labels = self.labels.as_ref();
            labels
                .and_then(|labels| labels.get(key.value.as_str()))
                .is_some_and(|own| **own == value.value)
        })
    }

    /// Whether EDS may carry it: it is no name that had to be resolved.
    pub(super) fn is_ip(&self) -> bool {
        self.port == 0 || self.address.is_empty() || self.address.parse::<IpAddr>().is_ok()
    }
}

/// The endpoints that all definitions of a host in the service's namespace have together.
pub(super) fn instances<'m>(
    registry: &'m Registry<'m>,
    workloads: &'m Workloads<'m>,
    service: &Service<'m>,
    wanted: Wanted<'_>,
) -> Vec<Instance<'m>> {
    let definitions: Vec<_> = registry
        .of_host_in(service.name(), service.namespace())
        .collect();
    let is_wanted = |port: &Port<'_>| match wanted {
        Wanted::Number(number) => port.number == number,
        Wanted::Name(name) => port.name == name,
    };
    let numbers: HashSet<u32> = definitions
        .iter()
        .flat_map(|service| service.definition.ports.iter())
        .filter(|port| is_wanted(port))
        .map(|port| port.number)
        .collect();
    let mut out = Vec::new();
    // A port that has an endpoint gets no further one from a DNS_ROUND_ROBIN entry.
    let mut taken: HashSet<u32> = HashSet::new();
    for service in definitions {
        let ports: Vec<_> = service
            .definition
            .ports
            .iter()
            .filter(|port| numbers.contains(&port.number))
            .collect();
        let own = of_definition(&service, workloads, &ports);
        let copies: HashSet<&str> = service
            .addresses
            .iter()
            .map(|address| address.text)
            .collect();
        // Istio makes one service of each address, and each brings the endpoints again.
        for _ in 0..copies.len().max(1) {
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

/// A gateway's pod, at the `targetPort` of the service. What its containers call their ports is not known.
fn of_pod<'m>(pod: &'m Client, port: &'m Port<'m>) -> Option<Instance<'m>> {
    let (number, port_line) = match &port.target {
        Some(target) => target.number()?,
        None => (port.number, port.number_line),
    };
    let labels = pod.labels.iter();
    let labels = labels.map(|(key, value)| (Cow::Borrowed(&**key), Cow::Borrowed(&**value)));
    Some(Instance {
        address: GATEWAY_ADDRESS,
        address_line: None,
        port: number,
        port_line,
        service_port: port.number,
        labels: Some(labels.collect()),
        locality: None,
        weight: 1,
        mutual_tls: false,
    })
}

fn inline<'m>(definition: &Definition<'m>) -> &'m [Spanned<WorkloadEntry>] {
    match &definition.resource.spec {
        Spec::ServiceEntry(entry) => entry.endpoints.items(),
        _ => &[],
    }
}

fn host_itself<'m>(service: &Service<'m>, port: &'m Port<'m>) -> Instance<'m> {
    let target = port.target.as_ref().and_then(TargetPort::number);
    let (number, port_line) = target.unwrap_or((port.number, port.number_line));
    Instance {
        address: &service.host.name,
        address_line: Some(service.host.line),
        port: number,
        port_line,
        service_port: port.number,
        labels: None,
        locality: None,
        weight: 1,
        mutual_tls: false,
    }
}

/// The endpoint's own port of that name, else the service's `targetPort`, else its number. A socket has none.
fn of_entry<'m>(
    entry: &'m WorkloadEntry,
    place: Span,
    labels: &BTreeMap<&'m str, &'m str>,
    port: &'m Port<'m>,
) -> Instance<'m> {
    let address = entry.address.as_ref();
    let text = address.map_or("", |address| address.value.as_str());
    let socket = text.strip_prefix("unix://");
    let own = entry
        .ports
        .as_ref()
        .and_then(|ports| ports.value.get(port.name))
        .filter(|port| port.value > 0);
    let own = own.and_then(|own| Some((u32::try_from(own.value).ok()?, own.span)));
    let target = || port.target.as_ref().and_then(TargetPort::number);
    let (number, port_line) = match socket {
        Some(_) => (0, port.number_line),
        None => own
            .or_else(target)
            .unwrap_or((port.number, port.number_line)),
    };
    let locality = entry
        .locality
        .as_ref()
        .filter(|locality| !locality.value.is_empty());
    let locality = locality
        .map(|locality| (Cow::Borrowed(locality.value.as_str()), locality.span))
        .or_else(|| {
            let label = labels
                .get("istio-locality")
                .filter(|label| !label.is_empty())?;
            // Labels cannot hold slashes.
            let text = if label.contains('/') {
                label.to_string()
            } else {
                label.replace('.', "/")
            };
            Some((Cow::Owned(text), place))
        });
    let mode = labels.get("security.istio.io/tlsMode").copied();
    let account = entry
        .service_account
        .as_ref()
        .is_some_and(|account| !account.value.is_empty());
    Instance {
        address: socket.unwrap_or(text),
        address_line: Some(address.map_or(place, |address| address.span)),
        port: number,
        port_line,
        service_port: port.number,
        labels: Some(augmented(
            labels,
            locality.as_ref().map(|(text, _)| &**text),
            entry,
        )),
        locality,
        weight: entry
            .weight
            .as_ref()
            .and_then(|weight| u32::try_from(weight.value).ok())
            .unwrap_or(0)
            .max(1),
        mutual_tls: mode.map_or(account, |mode| mode == "istio"),
    }
}

/// Istio adds what it knows of the place.
fn augmented<'m>(
    labels: &BTreeMap<&'m str, &'m str>,
    locality: Option<&str>,
    entry: &'m WorkloadEntry,
) -> BTreeMap<Cow<'m, str>, Cow<'m, str>> {
    let mut out: BTreeMap<_, _> = labels
        .iter()
        .map(|(key, value)| (Cow::Borrowed(*key), Cow::Borrowed(*value)))
        .collect();
    let names = [
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.istio.io/subzone",
    ];
    for (name, part) in names
        .into_iter()
        .zip(locality::parts(locality.unwrap_or("")))
    {
        if !part.is_empty() {
            out.insert(Cow::Borrowed(name), Cow::Owned(part.to_owned()));
        }
    }
    if let Some(network) = entry
        .network
        .as_ref()
        .filter(|network| !network.value.is_empty())
    {
        let label = out
            .entry(Cow::Borrowed("topology.istio.io/network"))
            .or_default();
        if label.is_empty() {
            *label = Cow::Borrowed(&network.value);
        }
    }
    out
}

/// A WorkloadEntry behind a Kubernetes Service: its port of the name of the Service's `targetPort` or port.
fn of_kubernetes<'m>(workload: &Workload<'m>, port: &'m Port<'m>) -> Option<Instance<'m>> {
    let instance = of_entry(
        workload.entry,
        workload.resource.spec_key,
        &workload.labels,
        port,
    );
    let Some(TargetPort::Name(name, _)) = port.target else {
        return Some(instance);
    };
    let own = workload
        .entry
        .ports
        .as_ref()
        .and_then(|ports| ports.value.get(name))
        .filter(|own| own.value > 0)?;
    Some(Instance {
        port: u32::try_from(own.value).ok()?,
        port_line: own.span,
        ..instance
    })
}

/// A name or a socket, which only a DNS cluster can have.
fn needs_dns(entry: &WorkloadEntry) -> bool {
    entry.address.as_ref().is_some_and(|address| {
        !address.value.is_empty() && address.value.parse::<IpAddr>().is_err()
    })
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
