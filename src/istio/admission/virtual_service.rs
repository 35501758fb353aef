//! `VirtualService`.

use smol_str::SmolStr;

use super::super::Items;
use super::super::decode::List;
use super::super::route::{
    L4Match, RouteDestination, TcpRoute, TlsMatch, TlsRoute, VirtualService,
};
use super::export_to::Owner;
use super::host::{gateway_domain_fault, is_address, is_subnet, wildcard_domain_fault};
use super::host_set::{HostSet, Overlap};
use super::{
    Review, also, export_to, gateway_names, http_route, labels, port, refusal, route_destination,
    warning,
};
use crate::diag::Diagnostic;
use crate::istio::wording::listed;
use crate::source::{Span, Spanned};

pub(super) fn check(service: &VirtualService, spec_key: Span, review: &mut Review<'_>) {
    let delegate = service.hosts.items().is_empty();
    if delegate {
        check_delegate(service, review);
    }
    gateway_names::check(service.gateways.items(), review);
    let gateways = service.gateways.items();
    let mesh = gateways.is_empty() || gateways.iter().any(|name| *name.value == *"mesh");
    check_hosts(service, mesh, review);
    if service.http.items().is_empty()
        && service.tls.items().is_empty()
        && service.tcp.items().is_empty()
    {
        let list = service
            .http
            .as_ref()
            .map(|it| it.key)
            .or(service.tls.as_ref().map(|it| it.key));
        let finding = match list.or(service.tcp.as_ref().map(|it| it.key)) {
            Some(key) => refusal(key, "the VirtualService has no routes"),
            None => refusal(spec_key, "the VirtualService has no routes").absent("http"),
        };
        review.push(finding.help("add `http`, `tls` or `tcp`"));
    }
    for route in service.http.items() {
        http_route::check(route, delegate, mesh, review);
    }
    let hosts = HostSet::new(service.hosts.items());
    for route in service.tls.items() {
        check_tls(route, &hosts, mesh, review);
    }
    for route in service.tcp.items() {
        check_tcp(route, review);
    }
    export_to::check(&service.export_to, Owner::Other, review);
}

/// Without hosts another VirtualService leads here, for HTTP only.
fn check_delegate(service: &VirtualService, review: &mut Review<'_>) {
    let gateways = service
        .gateways
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| ("gateways", it.key));
    let tls = service
        .tls
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| ("tls", it.key));
    let tcp = service
        .tcp
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| ("tcp", it.key));
    for (name, key) in [gateways, tls, tcp].into_iter().flatten() {
        let finding = refusal(
            key,
            format!("a VirtualService without hosts is delegated to, and cannot have `{name}`"),
        )
        .help(format!("add `hosts`, or remove `{name}`"));
        review.push(match &service.hosts {
            Some(hosts) => finding.because(hosts.span, "no hosts"),
            None => finding,
        });
    }
}

fn check_hosts(service: &VirtualService, mesh: bool, review: &mut Review<'_>) {
    let sni = service
        .tls
        .items()
        .iter()
        .flat_map(|route| route.matches.items())
        .any(|it| !it.sni_hosts.items().is_empty());
    let mut right = true;
    for host in service.hosts.items() {
        let fault = if mesh {
            wildcard_domain_fault(host)
        } else {
            gateway_domain_fault(host, sni)
        };
        if let Some(fault) = fault {
            if !is_address(host) {
                review.push(refusal(
                    host.span,
                    format!("`{}` is no host: {fault}", host.value),
                ));
                right = false;
            }
        } else if mesh && *host.value == *"*" {
            review.push(
                refusal(
                    host.span,
                    "a VirtualService for sidecars cannot have the host `*`",
                )
                .help("name the hosts, or list gateways alone in `gateways`"),
            );
            right = false;
        }
    }
    if right {
        let overlaps = HostSet::new(service.hosts.items()).overlaps();
        let found = overlaps.iter().filter_map(overlapping);
        review.findings.extend(found);
    }
}

/// One finding for all hosts that one stands for.
fn overlapping(overlap: &Overlap<'_>) -> Option<Diagnostic> {
    let (last, before) = overlap.hosts.split_last()?;
    let names = listed(overlap.hosts.iter().map(|it| it.as_str()));
    let finding = refusal(last.span, format!("the hosts {names} overlap"));
    let finding = finding.help(match before.len() {
        1 => "keep one of them".to_owned(),
        _ => format!("keep `{}` or the others", overlap.widest.value),
    });
    let label = match before.len() {
        1 => "the other one",
        _ => "this one, too",
    };
    let before = before.iter().map(|host| host.span);
    Some(also(finding, before, label))
}

fn check_tls(route: &TlsRoute, hosts: &HostSet<'_>, mesh: bool, review: &mut Review<'_>) {
    if let Some(matches) = route.matches.as_ref().filter(|list| list.is_empty()) {
        review.push(refusal(matches.span, "a TLS route needs a match").help("match on `sniHosts`"));
    }
    for matched in route.matches.items() {
        check_tls_match(matched, hosts, mesh, review);
    }
    check_destinations(&route.route, route_key(&route.matches), "TLS", review);
}

fn route_key<T>(matches: &Option<Spanned<List<T>>>) -> Option<Span> {
    matches.as_ref().map(|matches| matches.key)
}

fn check_tls_match(matched: &TlsMatch, hosts: &HostSet<'_>, mesh: bool, review: &mut Review<'_>) {
    if let Some(names) = matched.sni_hosts.as_ref().filter(|names| names.is_empty()) {
        review.push(refusal(
            names.span,
            "a TLS match needs at least one SNI host",
        ));
    }
    let mut strange = Vec::new();
    for name in matched.sni_hosts.items() {
        let fault = if mesh {
            wildcard_domain_fault(name)
        } else {
            gateway_domain_fault(name, true)
        };
        match fault {
            // Envoy can match on an address, though clients hardly ever send one.
            Some(_) if is_address(name) => review.push(
                warning(
                    name.span,
                    format!(
                        "`{}` is an address, and TLS clients send only names as SNI",
                        name.value
                    ),
                )
                .help("match on `destinationSubnets`, or on the name"),
            ),
            Some(fault) => review.push(refusal(
                name.span,
                format!("`{}` is no SNI host: {fault}", name.value),
            )),
            None if hosts.covers(name) => {}
            None => strange.push(name),
        }
    }
    if let Some((first, rest)) = strange.split_first() {
        review.push(strangers(first, rest, hosts));
    }
    check_subnets(matched.destination_subnets.items(), review);
    port::check_optional_number(matched.port.as_deref(), review);
    if let Some(labels) = &matched.source_labels {
        labels::check(labels, review);
    }
    gateway_names::check(matched.gateways.items(), review);
}

fn check_tcp(route: &Spanned<TcpRoute>, review: &mut Review<'_>) {
    for matched in route.matches.items() {
        check_tcp_match(matched, review);
    }
    check_destinations(&route.route, Some(route.key), "TCP", review);
}

fn check_tcp_match(matched: &L4Match, review: &mut Review<'_>) {
    check_subnets(matched.destination_subnets.items(), review);
    port::check_optional_number(matched.port.as_deref(), review);
    if let Some(labels) = &matched.source_labels {
        labels::check(labels, review);
    }
    gateway_names::check(matched.gateways.items(), review);
}

/// One finding for the SNI hosts of a match that the VirtualService does not have.
fn strangers(
    first: &Spanned<SmolStr>,
    rest: &[&Spanned<SmolStr>],
    hosts: &HostSet<'_>,
) -> Diagnostic {
    let names = std::iter::once(first).chain(rest.iter().copied());
    let names = listed(names.map(|it| it.as_str()));
    let (text, help) = match rest.len() {
        0 => (
            format!("the SNI host {names} is none of the VirtualService's hosts"),
            "add it to `hosts`",
        ),
        _ => (
            format!("the SNI hosts {names} are none of the VirtualService's hosts"),
            "add them to `hosts`",
        ),
    };
    let finding = refusal(first.span, text).help(help);
    let finding = also(finding, rest.iter().map(|name| name.span), "nor this one");
    match hosts.first() {
        Some(host) => finding.because(host.span, format!("`{}` does not cover it", host.value)),
        None => finding,
    }
}

fn check_subnets(subnets: &[Spanned<SmolStr>], review: &mut Review<'_>) {
    for subnet in subnets.iter().filter(|subnet| !is_subnet(subnet)) {
        review.push(refusal(
            subnet.span,
            format!("`{}` is neither an IP address nor a range", subnet.value),
        ));
    }
}

fn check_destinations(
    route: &Option<Spanned<List<RouteDestination>>>,
    anchor: Option<Span>,
    layer: &str,
    review: &mut Review<'_>,
) {
    if route.items().is_empty() {
        let text = format!("the {layer} route leads nowhere");
        match (route, anchor) {
            (Some(list), _) => review.push(refusal(list.key, text)),
            (None, Some(anchor)) => review.push(refusal(anchor, text).absent("route")),
            (None, None) => {}
        }
    }
    for destination in route.items() {
        if let Some(destination) = &destination.destination {
            route_destination::check(destination, review);
        }
    }
    if let Some(list) = route {
        let weights = list.iter().map(|destination| destination.weight.as_ref());
        route_destination::check_weights(list.key, weights, review);
    }
}
