//! A route to a port that the external host, or the Service on the way there, does not have.

use std::cell::LazyCell;

use super::targets::{is_for_egress, targets};
use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::http_rule::Target;
use crate::egress::service::{Origin, Port, Resolution};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-port-unknown",
        summary: "a route leads to a port that the host does not have: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-port-unknown.md"),
    },
    build: super::plain::<DestinationPortUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationPortUnknown;

/// More lines than that say nothing more.
const LABELS: usize = 3;

impl Check for DestinationPortUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            let is_for_egress = LazyCell::new(|| is_for_egress(cx, routes));
            for target in targets(routes) {
                judge(cx, &target, || *is_for_egress, out);
            }
        }
    }

    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for hop in traffic.paths().iter().flat_map(|path| &path.hops) {
            let clusters = hop.cluster.is_none().then_some(&hop.result.clusters);
            let chosen = clusters.and_then(|clusters| clusters.get(hop.chosen));
            let name = chosen.and_then(|it| Some((it, ClusterName::parse(&it.name.value)?)));
            if let Some((chosen, name)) = name {
                judge_default(cx, name, chosen.name.spans(), out);
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// A destination without a port means that of the request, or the only one of the host.
fn judge_default(cx: &Context<'_>, name: ClusterName<'_>, lines: &[Span], out: &mut Findings) {
    let is_number = |line: &Span| cx.sources.text(*line).trim_matches('"') == name.port.to_string();
    let Some(&line) = lines.first().filter(|_| !lines.iter().any(is_number)) else {
        return;
    };
    let Some((_, ports)) = ports(cx, name.host).filter(|(_, it)| lacks(it, i64::from(name.port)))
    else {
        return;
    };
    if !out.is_first(line) {
        return;
    }
    let message = format!(
        "`{}` has no port {}, which a destination without `port` means here: there is no cluster for it, and \
         requests fail with 503",
        name.host, name.port
    );
    out.add(Basis::Proven, line, message, |finding| {
        let lines = ports.iter().take(LABELS);
        lines
            .fold(finding, |finding, port| {
                finding.because(port.number_line, "a port of the host")
            })
            .help(format!(
                "add `port` to the destination ({})",
                numbers(&ports)
            ))
    });
}

/// The ports of a host, by number, and where it comes from; `None` where nothing defines it, or it is another name for
/// another host.
fn ports<'c>(cx: &'c Context<'_>, host: &str) -> Option<(Origin, Vec<&'c Port<'c>>)> {
    let mut services = cx.model.registry.of_host(host).peekable();
    let origin = services.peek()?.origin;
    if cx.has_faulty_entry(host) {
        return None;
    }
    let mut ports: Vec<&Port<'_>> = Vec::new();
    for service in services {
        if service.origin != origin || service.resolution == Resolution::Alias {
            return None;
        }
        ports.extend(&service.definition.ports);
    }
    ports.sort_by_key(|port| port.number);
    ports.dedup_by_key(|port| port.number);
    Some((origin, ports)).filter(|(_, ports)| !ports.is_empty())
}

/// A number that is 0 is not known.
fn lacks(ports: &[&Port<'_>], wanted: i64) -> bool {
    let is_there = |port: &&Port<'_>| i64::from(port.number) == wanted || port.number == 0;
    !ports.iter().any(is_there)
}

fn numbers(ports: &[&Port<'_>]) -> String {
    let numbers: Vec<String> = ports.iter().map(|port| port.number.to_string()).collect();
    numbers.join(", ")
}

/// Services of the mesh are only looked at on the way to external hosts.
fn judge(
    cx: &Context<'_>,
    target: &Target<'_>,
    is_for_egress: impl FnOnce() -> bool,
    out: &mut Findings,
) {
    let host = target.host();
    let Some(wanted) = target.port() else { return };
    let Some((origin, ports)) = ports(cx, &host).filter(|(_, it)| lacks(it, wanted.value)) else {
        return;
    };
    if origin == Origin::Kubernetes && !is_for_egress() {
        return;
    }
    let message = format!(
        "`{host}` has no port {}: there is no cluster for it, and what takes this route fails with 503",
        wanted.value
    );
    let is_target = |port: &&&Port<'_>| {
        let target = port.target().and_then(|target| target.number());
        target.is_some_and(|(target, _)| i64::from(target) == wanted.value)
    };
    let defined_by = match origin {
        Origin::ServiceEntry => "ServiceEntry",
        Origin::Kubernetes => "Service",
    };
    let help = match ports.iter().find(is_target) {
        Some(port) => format!(
            "lead it to port {}: {} is the `targetPort` behind it, and no port by itself",
            port.number, wanted.value
        ),
        None => format!(
            "lead it to a port of the host ({}), or add the port to its {defined_by}",
            numbers(&ports)
        ),
    };
    out.add(Basis::Proven, wanted.span, message, |finding| {
        let lines = ports.iter().take(LABELS);
        lines
            .fold(finding, |finding, port| {
                finding.because(port.number_line, "a port of the host")
            })
            .help(help)
    });
}
