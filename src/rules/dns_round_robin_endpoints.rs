//! More endpoints under `DNS_ROUND_ROBIN` than its one. Several in one ServiceEntry are refused by admission, which
//! says so under this name; here are those of two ServiceEntries.

use std::collections::BTreeSet;

use super::twins::{by_number, full_name, twins};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Definition, Port, Resolution};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "dns-round-robin-endpoints",
        summary: "`DNS_ROUND_ROBIN` uses one endpoint; there are more",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/dns-round-robin-endpoints.md"),
    },
    build: super::plain::<DnsRoundRobinEndpoints>,
};

#[derive(Debug, Default)]
pub(super) struct DnsRoundRobinEndpoints;

impl Check for DnsRoundRobinEndpoints {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for twins in twins(cx) {
            let (one, other) = (twins.earlier.definition, twins.later.definition);
            let logical = |d: &Definition<'_>| d.resolution == Resolution::DnsRoundRobin;
            if !twins.one_namespace || !logical(one) || !logical(other) {
                continue;
            }
            let host = twins.later.host;
            let ports = by_number(one);
            let shared = other.ports.iter().find_map(|port| {
                let same = ports.get(&port.number)?;
                let differ = endpoints(one, same, host) != endpoints(other, port, host);
                differ.then_some(port.number)
            });
            let Some(port) = shared else { continue };
            let message = format!(
                "of this endpoint for port {port} of `{host}` and that of `{}` only one is used: the older object's",
                full_name(one)
            );
            let line = line_or(other, twins.later.line);
            out.add(Basis::Proven, line, message, |finding| {
                let finding = finding
                    .because(line_or(one, twins.earlier.line), "the other endpoint")
                    .because(twins.later.line, "the host that both define")
                    .help("write one ServiceEntry with `resolution: DNS` and both endpoints");
                let lines = [one.resolution_line, other.resolution_line];
                lines.into_iter().flatten().fold(finding, |finding, line| {
                    finding.because(line, "Envoy's `LOGICAL_DNS` has room for one endpoint")
                })
            });
        }
    }
}

/// Where a port of a definition leads: address and port.
fn endpoints<'d>(
    definition: &'d Definition<'_>,
    port: &Port<'_>,
    host: &'d str,
) -> BTreeSet<(&'d str, i64)> {
    let target = port.target().and_then(|target| Some(target.number()?.0));
    let default = i64::from(target.unwrap_or(port.number));
    let Spec::ServiceEntry(entry) = &definition.resource.spec else {
        return BTreeSet::new();
    };
    let written = entry.endpoints.items();
    if written.is_empty() {
        return BTreeSet::from([(host, default)]);
    }
    let endpoint = |endpoint: &'d crate::istio::service::WorkloadEntry| {
        let address = endpoint.address.as_ref()?.value.as_str();
        let mapped = endpoint
            .ports
            .as_ref()
            .and_then(|map| map.value.get(port.name));
        Some((address, mapped.map_or(default, |number| number.value)))
    };
    written
        .iter()
        .filter_map(|item| endpoint(&item.value))
        .collect()
}

/// The line of the endpoint that is written down.
fn line(definition: &Definition<'_>) -> Option<Span> {
    let Spec::ServiceEntry(entry) = &definition.resource.spec else {
        return None;
    };
    let first = entry.endpoints.items().first()?;
    Some(
        first
            .address
            .as_ref()
            .map_or(first.key, |address| address.span),
    )
}

fn line_or(definition: &Definition<'_>, otherwise: Span) -> Span {
    line(definition).unwrap_or(otherwise)
}
