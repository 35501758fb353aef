//! Several endpoints where the connect strategy makes a cluster that has room for one.

use super::clusters::Cluster;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::connect_race;
use crate::egress::facts::ClusterType;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "connect-race-with-endpoints",
        summary: "`RACE_FIRST_TCP_CONNECT` makes a cluster for one endpoint; with several Envoy refuses it",
        severity: Severity::Error,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/connect-race-with-endpoints.md"),
    },
    build: super::plain::<ConnectRaceWithEndpoints>,
};

#[derive(Debug, Default)]
pub(super) struct ConnectRaceWithEndpoints;

/// More lines than that say nothing more.
const LABELS: usize = 3;

impl Check for ConnectRaceWithEndpoints {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let (facts, host) = (&cluster.facts, cluster.service.host);
            // Of the endpoints under `DNS_ROUND_ROBIN` Istio itself keeps one for each port.
            let several = facts.endpoints.len() > 1;
            if facts.cluster_type.value != ClusterType::LogicalDns || !several {
                continue;
            }
            let Some(&annotation) = facts.cluster_type.spans().first() else {
                continue;
            };
            if !out.is_first(annotation) {
                continue;
            }
            let message = format!(
                "Envoy refuses the cluster of {}: the annotation makes it `LOGICAL_DNS`, with room for one endpoint, not {}",
                cluster.destination(),
                facts.endpoints.len()
            );
            let lines = facts.endpoints.iter();
            let lines = lines.filter_map(|it| it.address.spans().first().copied());
            let lines: Vec<Span> = lines.take(LABELS).collect();
            out.add(basis(cx, cluster), annotation, message, |finding| {
                lines
                    .into_iter()
                    .fold(finding, |finding, line| finding.because(line, "an endpoint"))
                    .because(host.line, "the host")
                    .help(
                        "remove the annotation, and each endpoint is a host of the cluster; or keep one endpoint, whose \
                         addresses then race",
                    )
            });
        }
    }
}

/// Of several entries of a host the oldest decides, which the files do not tell.
fn basis(cx: &Context<'_>, cluster: &Cluster<'_>) -> Basis {
    let mut services = cx.model.registry.of_host(cluster.service.name());
    match services.all(|it| connect_race(it.definition).is_some()) {
        true => Basis::Proven,
        false => {
            Basis::assuming("the entry with the annotation is the oldest of those for this host")
        }
    }
}
