//! Outlier detection that switches locality failover on.

use std::collections::BTreeMap;

use super::clusters::Cluster;
use super::context::policies;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outlier-enables-locality",
        summary: "outlier detection turns on locality failover: traffic stays in the region of the client",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/outlier-enables-locality.md"),
    },
    build: super::plain::<OutlierEnablesLocality>,
};

#[derive(Debug, Default)]
pub(super) struct OutlierEnablesLocality;

impl Check for OutlierEnablesLocality {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let mesh = cx.model.mesh.config.locality_lb_setting.as_ref();
        let off = mesh
            .and_then(|it| it.value.enabled.as_ref())
            .is_some_and(|it| !it.value);
        if off {
            return;
        }
        for cluster in traffic.clusters() {
            let outlier = &cluster.facts.outlier;
            let (Some(_), Some(&place)) = (&outlier.value, outlier.spans().first()) else {
                continue;
            };
            let localities: BTreeMap<&str, Span> = cluster
                .facts
                .endpoints
                .iter()
                .filter_map(|endpoint| endpoint.locality.as_ref())
                .filter_map(|it| Some((it.value.as_str(), *it.spans().first()?)))
                .collect();
            if localities.len() < 2 || is_decided(cx, cluster) || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`outlierDetection` turns on locality failover for {}: a proxy that knows its region uses only the \
                 nearest healthy one of {} localities",
                cluster.destination(),
                localities.len(),
            );
            let basis = Basis::assuming("the nodes of the clients carry region labels");
            out.add(basis, place, message, |finding| {
                let lines = localities.values().take(3);
                lines
                    .fold(finding, |finding, line| finding.because(*line, "one of the localities"))
                    .help("set `loadBalancer.localityLbSetting: {enabled: false}` if all endpoints are to share the traffic")
            });
        }
    }
}

/// So many rules for one host are looked at.
const RULES: usize = 64;

/// Whether the DestinationRule that applies says something about localities itself.
fn is_decided(cx: &Context<'_>, cluster: &Cluster<'_>) -> bool {
    let rule = cluster.facts.destination_rule.as_ref();
    let lines = rule.map_or(&[][..], |rule| rule.spans());
    let mut rules = cx.rules_for(cluster.service.name()).take(RULES);
    rules.any(|(_, rule)| {
        let host = rule.host.as_ref();
        host.is_some_and(|host| lines.contains(&host.span)) && says(rule)
    })
}

fn says(rule: &DestinationRule) -> bool {
    policies(rule).any(|policy| {
        let ports = policy.port_level_settings.items().iter();
        let of_ports = ports.filter_map(|port| port.load_balancer.as_ref());
        policy.load_balancer.iter().chain(of_ports).any(|lb| {
            lb.value.locality_lb_setting.is_some() || lb.value.zone_aware_lb_setting.is_some()
        })
    })
}
