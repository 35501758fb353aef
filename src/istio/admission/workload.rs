//! `WorkloadEntry` and `WorkloadGroup`.

use smol_str::SmolStr;

use super::super::Items;
use super::super::service::WorkloadEntry;
use super::super::version::IstioVersion;
use super::super::workload_group::{ReadinessProbe, WorkloadGroup};
use super::host::{domain_fault, is_address};
use super::{Review, labels, port, refusal, warning};
use crate::diag::Diagnostic;
use crate::source::Spanned;

pub(super) fn entry(entry: &WorkloadEntry, review: &mut Review<'_>) {
    let network = entry.network.as_deref();
    let text = entry
        .address
        .as_ref()
        .map_or("", |address| address.as_str());
    if text.is_empty() && network.is_none_or(|network| network.is_empty()) {
        // What says nothing of either is refused by the schema.
        if let Some(empty) = entry.address.as_ref().or(network) {
            review.push(refusal(empty.span, "the WorkloadEntry needs an address"));
        }
    }
    if let Some(network) = network.filter(|it| text.is_empty() && !it.is_empty()) {
        review.push(by_network(network));
    }
    // The schema has its own rules for Unix sockets.
    if let Some(address) = entry
        .address
        .as_ref()
        .filter(|_| !text.starts_with("unix://") && !is_address(text))
        && let Some(fault) = domain_fault(text).filter(|_| !text.is_empty())
    {
        review.push(refusal(
            address.span,
            format!("`{text}` is neither a host nor an address: {fault}"),
        ));
    }
    for (name, _) in entry.ports.iter().flat_map(|ports| ports.iter()) {
        port::check_name(name, review);
    }
    if let Some(labels) = &entry.labels {
        labels::check(labels, review);
    }
}

/// Of an endpoint without an address.
pub(super) fn by_network(network: &Spanned<SmolStr>) -> Diagnostic {
    let text = format!(
        "without an address the endpoint is reached through a gateway of the network `{}` only",
        network.value
    );
    warning(network.span, text).help("set `address`, unless that is meant")
}

pub(super) fn group(group: &WorkloadGroup, review: &mut Review<'_>) {
    if let Some(labels) = group
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.labels.as_ref())
    {
        labels::check(labels, review);
    }
    if let Some(probe) = &group.probe {
        check_probe(probe, review);
    }
}

fn check_probe(probe: &Spanned<ReadinessProbe>, review: &mut Review<'_>) {
    if probe.is_empty() {
        review.push(
            refusal(
                probe.key,
                "the probe needs one of `httpGet`, `tcpSocket` and `exec`",
            )
            .help("add one of them, or remove the probe"),
        );
    }
    for header in probe
        .http_get
        .iter()
        .flat_map(|get| get.http_headers.items())
    {
        let Some(name) = &header.name else {
            review.push(refusal(header.key, "a header needs a name").absent("name"));
            continue;
        };
        if name.contains('_') && review.version >= IstioVersion(25) {
            review.push(refusal(
                name.span,
                format!("`{}` is no name of a probe's header", name.value),
            ));
        }
    }
    if let Some(command) = probe
        .exec
        .as_ref()
        .and_then(|exec| exec.command.as_ref())
        .filter(|it| it.is_empty())
    {
        review.push(refusal(command.span, "the probe has no command"));
    }
}
