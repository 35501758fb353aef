//! `DestinationRule`.

use std::collections::HashMap;

use super::super::Items;
use super::super::traffic::{DestinationRule, PortTrafficPolicy, Subset, TrafficPolicy, Tunnel};
use super::super::version::IstioVersion;
use super::export_to::Owner;
use super::host::{domain_fault, is_address, is_label, wildcard_domain_fault};
use super::{
    Review, client_tls, connection_pool, export_to, labels, load_balancer, outlier, port, refusal,
};
use crate::source::{Span, Spanned};

pub(super) fn check(rule: &DestinationRule, spec_key: Span, review: &mut Review<'_>) {
    match &rule.host {
        None => review.push(refusal(spec_key, "`spec.host` is missing").absent("host")),
        Some(host) => {
            if let Some(fault) = wildcard_domain_fault(host) {
                review.push(refusal(
                    host.span,
                    format!("`{}` is no host: {fault}", host.value),
                ));
            }
        }
    }
    check_policy(rule.traffic_policy.as_ref(), review);
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for subset in rule.subsets.items() {
        check_subset(subset, review);
        let Some(name) = &subset.name else { continue };
        let first = *seen.entry(name.as_str()).or_insert(name.span);
        if first != name.span {
            review.push(
                refusal(
                    name.span,
                    format!("the subset `{}` is defined twice", name.value),
                )
                .because(first, "first defined here")
                .help("give each subset its own name"),
            );
        }
    }
    let owner = match &rule.workload_selector {
        Some(selector) => Owner::Selector(selector.key),
        None => Owner::Other,
    };
    export_to::check(&rule.export_to, owner, review);
    if let Some(selector) = &rule.workload_selector {
        labels::check_selector(selector.key, selector.match_labels.as_ref(), review);
    }
}

fn check_subset(subset: &Subset, review: &mut Review<'_>) {
    if let Some(name) = subset.name.as_ref().filter(|name| !is_label(name)) {
        review.push(
            refusal(name.span, format!("`{}` is no subset name", name.value))
                .help("use letters, digits and inner `-`, at most 63"),
        );
    }
    if let Some(labels) = &subset.labels {
        labels::check(labels, review);
    }
    check_policy(subset.traffic_policy.as_deref(), review);
}

fn check_policy(policy: Option<&Spanned<TrafficPolicy>>, review: &mut Review<'_>) {
    let Some(policy) = policy else { return };
    // Until 1.27 a retry budget alone did not count.
    let budget = policy.retry_budget.is_some() && review.version >= IstioVersion(28);
    let empty = policy.outlier_detection.is_none()
        && policy.connection_pool.is_none()
        && policy.load_balancer.is_none()
        && policy.tls.is_none()
        && policy.port_level_settings.items().is_empty()
        && policy.tunnel.is_none()
        && policy.proxy_protocol.is_none()
        && !budget;
    if empty {
        review.push(
            refusal(policy.key, "the traffic policy sets nothing")
                .help("set something, or remove it"),
        );
        return;
    }
    if let (Some(tunnel), Some(protocol)) = (&policy.tunnel, &policy.proxy_protocol) {
        review.push(
            refusal(
                protocol.key,
                "`proxyProtocol` and `tunnel` exclude each other",
            )
            .because(tunnel.key, "set here")
            .help("keep one of them"),
        );
        return;
    }
    outlier::check(policy.outlier_detection.as_deref(), review);
    connection_pool::check(policy.connection_pool.as_deref(), review);
    load_balancer::check(policy.load_balancer.as_deref(), review);
    client_tls::check(policy.tls.as_deref(), review);
    for port in policy.port_level_settings.items() {
        check_port(port, review);
    }
    if let Some(tunnel) = &policy.tunnel {
        check_tunnel(tunnel, review);
    }
}

fn check_port(policy: &Spanned<PortTrafficPolicy>, review: &mut Review<'_>) {
    if policy.port.is_none() {
        review.push(
            refusal(policy.key, "settings of a port need to say which port")
                .absent("port")
                .help("add `port: {number: …}` with a port of the service"),
        );
    }
    let empty = policy.outlier_detection.is_none()
        && policy.connection_pool.is_none()
        && policy.load_balancer.is_none()
        && policy.tls.is_none();
    if empty {
        let misspelt = review.misspelt.iter().any(|it| it.key == policy.key);
        let port = policy.port.as_ref().filter(|_| !misspelt);
        let span = port.map_or(policy.key, |port| port.key);
        review.push(
            refusal(span, "settings of a port need one of `connectionPool`, `loadBalancer`, `outlierDetection` and `tls`")
                .help("set one of them, or remove the item"),
        );
        return;
    }
    outlier::check(policy.outlier_detection.as_deref(), review);
    connection_pool::check(policy.connection_pool.as_deref(), review);
    load_balancer::check(policy.load_balancer.as_deref(), review);
    client_tls::check(policy.tls.as_deref(), review);
}

fn check_tunnel(tunnel: &Tunnel, review: &mut Review<'_>) {
    if let Some(protocol) = &tunnel.protocol
        && !matches!(protocol.as_str(), "" | "CONNECT" | "POST")
    {
        review.push(
            refusal(
                protocol.span,
                format!("`{}` is no protocol of a tunnel", protocol.value),
            )
            .help("write `CONNECT` or `POST`"),
        );
    }
    if let Some(host) = &tunnel.target_host
        && let Some(fault) = domain_fault(host).filter(|_| !is_address(host))
    {
        review.push(refusal(
            host.span,
            format!("`{}` is neither a host nor an address: {fault}", host.value),
        ));
    }
    if let Some(number) = &tunnel.target_port {
        port::check_number(number, review);
    }
}
