//! Outlier detection that switches locality failover on.

use std::collections::{BTreeMap, BTreeSet};

use super::context::policies;
use super::overview::Overview;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
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
    fn check_overview(&self, cx: &Context<'_>, overview: &Overview<'_>, out: &mut Findings) {
        let mesh = cx.model.mesh.config.locality_lb_setting.as_ref();
        let off = mesh
            .and_then(|it| it.value.enabled.as_ref())
            .is_some_and(|it| !it.value);
        if off {
            return;
        }
        let decided = deciding_rules(cx);
        for cluster in overview.clusters() {
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
            let rule = cluster.facts.destination_rule.as_ref();
            let says = rule.is_some_and(|rule| rule.spans().iter().any(|it| decided.contains(it)));
            if localities.len() < 2 || says || !out.is_first(place) {
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

/// The `host` lines of DestinationRules that say something about localities themselves.
fn deciding_rules(cx: &Context<'_>) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    for (_, rule) in cx.destination_rules() {
        let says = policies(rule).any(|policy| {
            let ports = policy.port_level_settings.items().iter();
            let of_ports = ports.filter_map(|port| port.load_balancer.as_ref());
            policy.load_balancer.iter().chain(of_ports).any(|lb| {
                lb.value.locality_lb_setting.is_some() || lb.value.zone_aware_lb_setting.is_some()
            })
        });
        if says {
            found.extend(rule.host.as_ref().map(|host| host.span));
        }
    }
    found
}
