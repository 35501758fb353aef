//! Failover that nothing sets off.

use super::context::{Defined, policies};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::policy::Policy;
use crate::egress::service::Origin;
use crate::istio::decode::Items;
use crate::istio::traffic::{DestinationRule, LoadBalancer};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "failover-without-outlier-detection",
        summary: "`failover` without `outlierDetection` has no effect: all endpoints have the same priority",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/failover-without-outlier-detection.md"),
    },
    build: super::plain::<FailoverWithoutOutlierDetection>,
};

#[derive(Debug, Default)]
pub(super) struct FailoverWithoutOutlierDetection;

/// Ports of a host, and subsets of a rule, that are looked at.
const LOOKED_AT: usize = 64;

impl Check for FailoverWithoutOutlierDetection {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = rule.host.as_ref().filter(|_| orders_endpoints(rule)) else {
                continue;
            };
            for defined in cx.hosts_under(&host.value, resource.namespace()) {
                if defined.definition.origin != Origin::ServiceEntry {
                    continue;
                }
                for (name, line) in without_effect(cx, rule, &defined) {
                    if out.is_first(line) {
                        report(out, name, line, &defined);
                    }
                }
            }
        }
    }
}

fn report(out: &mut Findings, name: &str, line: Span, defined: &Defined<'_>) {
    let message = format!(
        "`{name}` has no effect on `{}`: without `outlierDetection` all endpoints have the same priority",
        defined.host
    );
    out.add(Basis::Proven, line, message, |finding| {
        finding
            .because(defined.line, "the host that it is for")
            .help("add `outlierDetection` to the same policy: what it ejects is what fails over")
    });
}

/// The keys of settings that hold for a port of the host where no outlier detection does.
fn without_effect(
    cx: &Context<'_>,
    rule: &DestinationRule,
    defined: &Defined<'_>,
) -> Vec<(&'static str, Span)> {
    let subsets = rule.subsets.items().iter().take(LOOKED_AT).map(Some);
    let levels: Vec<_> = std::iter::once(None).chain(subsets).collect();
    let ports = defined.definition.ports.iter().take(LOOKED_AT);
    let all = ports.flat_map(|port| levels.iter().map(move |subset| (port.number, *subset)));
    all.filter_map(|(port, subset)| {
        let mesh = Some(&cx.model.mesh);
        let policy: Policy<'_> = Policy::of(rule.traffic_policy.as_ref(), subset, port, mesh);
        // What `portLevelSettings` take away is another fault.
        let watched =
            policy.outlier_detection.is_some() || policy.taken_away("outlierDetection").is_some();
        failover(&policy.load_balancer?.value).filter(|_| !watched)
    })
    .collect()
}

/// Whether some policy of the rule says anything about failover.
fn orders_endpoints(rule: &DestinationRule) -> bool {
    policies(rule).any(|policy| {
        let ports = policy.port_level_settings.items().iter();
        let of_ports = ports.filter_map(|port| port.load_balancer.as_ref());
        let mut blocks = policy.load_balancer.iter().chain(of_ports);
        blocks.any(|block| failover(&block.value).is_some())
    })
}

/// The setting that orders endpoints by how near they are, unless it is switched off.
fn failover(block: &LoadBalancer) -> Option<(&'static str, Span)> {
    let setting = &block.locality_lb_setting.as_ref()?.value;
    setting
        .enabled
        .as_ref()
        .is_none_or(|on| on.value)
        .then_some(())?;
    let failover = setting.failover.as_ref().filter(|list| !list.is_empty());
    let priority = setting.failover_priority.as_ref();
    let priority = priority.filter(|list| !list.is_empty());
    let failover = failover.map(|list| ("failover", list.key));
    failover.or_else(|| Some(("failoverPriority", priority?.key)))
}
