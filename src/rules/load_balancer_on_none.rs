//! A load balancer with nothing to balance.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Resolution};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "load-balancer-on-none",
        summary: "`loadBalancer` has no effect with `resolution: NONE`: the client chooses the address",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/load-balancer-on-none.md"),
    },
    build: super::plain::<LoadBalancerOnNone>,
};

#[derive(Debug, Default)]
pub(super) struct LoadBalancerOnNone;

impl Check for LoadBalancerOnNone {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let (Some(host), Some(policy)) = (&rule.host, &rule.traffic_policy) else {
                continue;
            };
            let Some(balancer) = &policy.value.load_balancer else {
                continue;
            };
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            let none = hosts.iter().all(|it| {
                it.definition.origin == Origin::ServiceEntry
                    && it.definition.resolution == Resolution::Passthrough
            });
            let Some(first) = hosts.first().filter(|_| none) else {
                continue;
            };
            let message = format!(
                "`loadBalancer` has no effect: the client chooses the address of `{}`, there is nothing to balance",
                first.host
            );
            out.add(Basis::Proven, balancer.key, message, |finding| {
                let line = first.definition.resolution_line;
                line.into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "the client's own address is used")
                    })
                    .because(first.line, "the external host")
                    .help("remove it, or use `resolution: DNS` so that Envoy knows the addresses")
            });
        }
    }
}
