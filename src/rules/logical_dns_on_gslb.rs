//! Logical DNS for a host whose addresses are moved on purpose.

use std::net::IpAddr;

use super::clusters::Cluster;
use super::harm::Harm;
use super::traffic::Traffic;
use super::{Check, Context, Findings, Meta, RuleDef};
use crate::config::{Class, HostFacts};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::ClusterType;
use crate::egress::service::Resolution;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "logical-dns-on-gslb",
        summary: "logical DNS keeps requests on an address that the GSLB has left",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/logical-dns-on-gslb.md"),
    },
    build: super::plain::<LogicalDnsOnGslb>,
};

#[derive(Debug, Default)]
pub(super) struct LogicalDnsOnGslb;

impl Check for LogicalDnsOnGslb {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let cluster_type = &cluster.facts.cluster_type;
            let Some(&line) = cluster_type.spans().first() else {
                continue;
            };
            let is_name = |address: &str| address.parse::<IpAddr>().is_err();
            let by_name = cluster.facts.endpoints.iter().any(|e| is_name(&e.address));
            if cluster_type.value != ClusterType::LogicalDns || !by_name {
                continue;
            }
            let facts = cx.facts(cluster.service.definition.resource, cluster.service.name());
            let Some(harm) = Harm::of(cx, cluster, &facts) else {
                continue;
            };
            // Of the line that makes it logical: the worst that it does to one of its hosts and ports.
            if out.is_worst(line, harm.rank()) {
                report(cx, line, harm, &facts, cluster, out);
            }
        }
    }

    // A cluster that Envoy refuses keeps no requests.
    fn yields_to(&self) -> &'static [&'static str] {
        &["connect-race-with-endpoints"]
    }
}

fn report(
    cx: &Context<'_>,
    line: Span,
    harm: Harm,
    facts: &HostFacts,
    cluster: &Cluster<'_>,
    out: &mut Findings,
) {
    let (basis, message) = harm.said(cx, cluster, facts);
    let definition = cluster.service.definition;
    let by_annotation = definition.resolution == Resolution::Dns;
    out.add_worst((line, harm.rank()), basis, line, message, |mut finding| {
        finding = finding.because(cluster.service.host.line, "the host");
        if let Some(line) = facts.class.as_ref().and_then(|class| class.span()) {
            finding = finding.because(line, "the GSLB moves its addresses");
        }
        let port = cluster.port;
        let what = match cluster.http {
            true => "HTTP: connections are pooled and reused",
            false => "no HTTP is seen: new connections follow the GSLB",
        };
        finding = finding.because(port.line(), what);
        let pool = [
            cluster.facts.max_connection_duration_ms.as_ref().map(|limit| limit.spans()),
            cluster.facts.max_requests_per_connection.as_ref().map(|limit| limit.spans()),
        ];
        for line in pool.into_iter().flatten().flatten() {
            finding = finding.because(*line, "ends connections");
        }
        if let Some(line) = facts.drain_ms.as_ref().and_then(|drain| drain.span()) {
            finding = finding.because(line, "how long the old address lives");
        }
        if harm == Harm::Unclassified {
            return finding.help(
                "say what it is: `class: gslb`, `cdn` or `fixed` under `hosts:` in egress-lint.yaml, or the annotation \
                 `egress-lint/class`",
            );
        }
        let help = match by_annotation {
            true => "remove the annotation, which makes logical DNS out of `resolution: DNS`",
            false => "use `resolution: DNS`: each address is a host, and one that leaves the answer is drained",
        };
        finding.help(help).fix(fix(cx, line, cluster).filter(|_| harm < Harm::OneHost))
    });
}

/// `DNS` for all hosts of the entry, unless one of them is of another kind.
fn fix(cx: &Context<'_>, line: Span, cluster: &Cluster<'_>) -> Option<Fix> {
    let definition = cluster.service.definition;
    let gslb = |host: &str| {
        let class = cx.facts(definition.resource, host).class;
        class.is_some_and(|class| class.value == Class::Gslb)
    };
    if !definition.hosts.iter().all(|host| gslb(&host.name)) {
        return None;
    }
    let edit = cx.texts.edit(line, |it| match definition.resolution {
        Resolution::Dns => it.remove(),
        _ => it.set(&Value::from("DNS")),
    })?;
    let message = "resolve each address to a host";
    Some(Fix::new(Safety::Safe, message, edit))
}
