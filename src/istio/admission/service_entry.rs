//! `ServiceEntry`.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::super::Items;
use super::super::service::{Resolution, ServiceEntry, WorkloadEntry};
use super::export_to::Owner;
use super::host::{domain_fault, is_address, is_subnet, socket_fault, wildcard_domain_fault};
use super::{Review, dynamic_dns, export_to, labels, port, refusal, warning, workload};
use crate::diag::Diagnostic;
use crate::source::Spanned;

pub(super) fn check(entry: &ServiceEntry, review: &mut Review<'_>) {
    if let Some(selector) = &entry.workload_selector {
        labels::check_selector(selector.key, selector.labels.as_ref(), review);
    }
    for host in entry.hosts.items() {
        check_host(entry, host, review);
    }
    for address in entry
        .addresses
        .items()
        .iter()
        .filter(|address| !is_subnet(address))
    {
        review.push(
            refusal(
                address.span,
                format!("`{}` is neither an IP address nor a range", address.value),
            )
            .help("write addresses, or ranges as `10.0.0.0/8`; names belong in `hosts`"),
        );
    }
    for port in entry.ports.items() {
        if let Some(name) = &port.name {
            port::check_name(name, review);
        }
        port::check_protocol(port.protocol.as_ref(), review);
    }
    match resolution(entry) {
        // Another one is meant.
        Resolution::None if review.misspelt.iter().any(|it| it.field == "resolution") => {}
        Resolution::None => check_none(entry, review),
        Resolution::Static => check_static(entry, review),
        Resolution::Dns | Resolution::DnsRoundRobin => check_dns(entry, review),
        Resolution::DynamicDns => dynamic_dns::check(entry, review),
    }
    check_shared_port(entry, review);
    export_to::check(&entry.export_to, Owner::ServiceEntry, review);
}

fn resolution(entry: &ServiceEntry) -> Resolution {
    entry
        .resolution
        .as_ref()
        .map(|it| it.value)
        .unwrap_or_default()
}

/// Says which resolution the finding rests on; only `NONE` can be left out.
pub(super) fn because_of_resolution(entry: &ServiceEntry, finding: Diagnostic) -> Diagnostic {
    match &entry.resolution {
        Some(resolution) => finding.because(resolution.span, "this resolution"),
        None => finding,
    }
}

fn check_host(entry: &ServiceEntry, host: &Spanned<SmolStr>, review: &mut Review<'_>) {
    let Some(fault) = wildcard_domain_fault(host) else {
        let whole = host
            .strip_prefix('*')
            .is_none_or(|rest| rest.starts_with('.'));
        if !whole && resolution(entry) != Resolution::DynamicDns {
            let finding = warning(
                host.span,
                format!(
                    "the `*` of `{}` stands for a part of a label; Istio means whole labels by it",
                    host.value
                ),
            );
            review.push(finding.help("write `*.` and the domain, or list the hosts"));
        }
        return;
    };
    let finding = if is_address(host) {
        refusal(host.span, format!("`{}` is an address, and `hosts` holds names", host.value))
            .help("give the service a name, and list the address in `addresses` (what clients connect to) or \
                   `endpoints` (where it goes)")
    } else {
        refusal(host.span, format!("`{}` is no host: {fault}", host.value))
    };
    review.push(finding);
}

fn check_none(entry: &ServiceEntry, review: &mut Review<'_>) {
    if let Some(selector) = &entry.workload_selector {
        let finding = warning(
            selector.key,
            "`workloadSelector` finds endpoints that nothing is sent to: with the resolution `NONE` connections go to \
             the address that the client chose",
        )
        .help("remove it, or set `resolution` to `STATIC`");
        review.push(because_of_resolution(entry, finding));
    }
}

fn check_static(entry: &ServiceEntry, review: &mut Review<'_>) {
    let ports = port_names(entry);
    for endpoint in entry.endpoints.items() {
        let address = endpoint.address.as_ref();
        match address.map_or("", |address| address.as_str()) {
            "" => check_no_address(endpoint, review),
            text if text.starts_with("unix://") => check_socket(endpoint, &ports, review),
            text if !is_address(text) => {
                let span = address.map_or(endpoint.key, |address| address.span);
                let finding = refusal(
                    span,
                    format!("`{text}` is no IP address, which the resolution `STATIC` needs"),
                )
                .help("set `resolution` to `DNS` for names");
                review.push(because_of_resolution(entry, finding));
            }
            _ => {}
        }
        check_endpoint(endpoint, &ports, review);
    }
}

fn check_no_address(endpoint: &Spanned<WorkloadEntry>, review: &mut Review<'_>) {
    let network = endpoint
        .network
        .as_ref()
        .is_some_and(|network| !network.is_empty());
    if let Some(address) = endpoint.address.as_ref().filter(|_| !network) {
        review.push(refusal(address.span, "the endpoint needs an address"));
    } else if let Some(network) = endpoint.network.as_ref().filter(|_| !network) {
        review.push(refusal(
            network.span,
            "the endpoint needs an address or a network",
        ));
    } else if let Some(network) = &endpoint.network {
        review.push(workload::by_network(network));
    }
}

fn check_socket(endpoint: &WorkloadEntry, ports: &HashSet<&str>, review: &mut Review<'_>) {
    let Some(address) = &endpoint.address else {
        return;
    };
    let path = address.strip_prefix("unix://").unwrap_or_default();
    if let Some(fault) = socket_fault(path) {
        review.push(refusal(
            address.span,
            format!("`{path}` is no Unix socket: {fault}"),
        ));
    }
    if ports.len() != 1 {
        review.push(
            refusal(
                address.span,
                format!(
                    "a Unix socket serves one port, and the service has {}",
                    ports.len()
                ),
            )
            .help("keep one of the `ports`"),
        );
    }
}

fn check_dns(entry: &ServiceEntry, review: &mut Review<'_>) {
    let endpoints = entry.endpoints.items();
    let resolution = resolution(entry).name();
    if endpoints.is_empty() {
        // What is no host at all has been refused already.
        let wrong = |host: &&Spanned<SmolStr>| {
            domain_fault(host).is_some() && wildcard_domain_fault(host).is_none()
        };
        if let Some(host) = entry.hosts.items().iter().find(wrong) {
            let finding = refusal(
                host.span,
                format!("`{}` cannot be asked of the DNS, as the resolution `{resolution}` does without `endpoints`", host.value),
            )
            .help("set `resolution` to `NONE`, which sends to the address the client asked for, or list `endpoints`");
            review.push(because_of_resolution(entry, finding));
        }
    }
    let ports = port_names(entry);
    for endpoint in endpoints {
        let address = endpoint.address.as_ref();
        let text = address.map_or("", |address| address.as_str());
        if !is_address(text)
            && let Some(fault) = domain_fault(text)
        {
            let finding = match address {
                Some(address) => refusal(
                    address.span,
                    format!("`{text}` is neither a host nor an address: {fault}"),
                ),
                None => refusal(
                    endpoint.key,
                    format!("with the resolution `{resolution}` an endpoint needs an address"),
                )
                .absent("address"),
            };
            review.push(because_of_resolution(entry, finding));
        }
        check_endpoint(endpoint, &ports, review);
    }
    check_shared_address(entry, review);
}

/// Connections to one address do not say which host is meant, unless they speak HTTP.
fn check_shared_address(entry: &ServiceEntry, review: &mut Review<'_>) {
    let hosts = entry.hosts.as_ref().filter(|hosts| hosts.len() > 1);
    let addresses = entry.addresses.as_ref().filter(|it| !it.is_empty());
    let (Some(hosts), Some(addresses)) = (hosts, addresses) else {
        return;
    };
    // On other ports than these the entry is refused.
    let is_tls = |text: &Spanned<SmolStr>| port::is_tls(port::protocol(text));
    let ports = entry.ports.items().iter();
    let mut protocols = ports.filter_map(|port| port.protocol.as_ref());
    if let Some(protocol) = protocols.find(|it| is_tls(it)) {
        let text = format!(
            "the {} hosts share the addresses: a connection to one of them is taken by its address, whichever host it is for",
            hosts.len()
        );
        review.push(
            warning(addresses.key, text)
                .because(
                    protocol.span,
                    "this port does not tell the hosts apart by HTTP",
                )
                .help("make it one ServiceEntry for each host, each with its own addresses"),
        );
    }
}

fn port_names(entry: &ServiceEntry) -> HashSet<&str> {
    entry
        .ports
        .items()
        .iter()
        .filter_map(|port| port.name.as_ref())
        .map(|name| name.as_str())
        .collect()
}

fn check_endpoint(endpoint: &WorkloadEntry, ports: &HashSet<&str>, review: &mut Review<'_>) {
    for (name, _) in endpoint.ports.iter().flat_map(|ports| ports.iter()) {
        if !ports.contains(name.value.as_str()) {
            review.push(
                refusal(
                    name.span,
                    format!("the service has no port `{}`", name.value),
                )
                .help("use the `name` of one of the service's `ports`"),
            );
        }
        port::check_name(name, review);
    }
    if let Some(labels) = &endpoint.labels {
        labels::check(labels, review);
    }
}

/// Plain TCP does not say which host is meant.
fn check_shared_port(entry: &ServiceEntry, review: &mut Review<'_>) {
    let Some(hosts) = entry.hosts.as_ref().filter(|hosts| hosts.len() > 1) else {
        return;
    };
    if resolution(entry) == Resolution::None {
        return;
    }
    // What a protocol does that nobody knows is no question.
    let names_host = |text: &str| {
        let protocol = port::protocol(text);
        let is_unknown = !text.is_empty() && protocol.is_none();
        is_unknown || port::is_http(protocol) || port::is_tls(protocol)
    };
    let Some(port) = entry
        .ports
        .items()
        .iter()
        .find(|port| !port.protocol.as_ref().is_some_and(|it| names_host(it)))
    else {
        return;
    };
    let (span, text) = match &port.protocol {
        Some(protocol) if !protocol.is_empty() => (
            protocol.span,
            format!("`{}` does not name the host", protocol.value),
        ),
        _ => (
            port.key,
            "without `protocol` it is TCP, which does not name the host".to_owned(),
        ),
    };
    let number = port
        .number
        .as_ref()
        .map_or(String::new(), |number| format!(" {}", number.value));
    let finding = refusal(
        hosts.key,
        format!(
            "the {} hosts share port{number}, which cannot tell them apart",
            hosts.len()
        ),
    )
    .because(span, text)
    .help("make it one ServiceEntry for each host");
    review.push(because_of_resolution(entry, finding));
}
