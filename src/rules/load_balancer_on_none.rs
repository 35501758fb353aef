//! A load balancer with nothing to balance.

use super::context::Defined;
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::host::is_wildcard;
use crate::egress::service::{Origin, Resolution};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "load-balancer-on-none",
        summary: "`loadBalancer` has no effect with `resolution: NONE`: the client chooses the address",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
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
            let mut balancers = levels(rule)
                .filter_map(|level| level.load_balancer)
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, balancers.peek()) else {
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
            for balancer in balancers {
                let message = format!(
                    "`loadBalancer` has no effect: the client chooses the address of `{}`, there is nothing to balance",
                    first.host
                );
                let fix = fix(cx, &hosts, balancer.key);
                let help = match fix {
                    Some(_) => "remove it",
                    None => "remove it, or use `resolution: DNS` so that Envoy knows the addresses",
                };
                out.add(Basis::Proven, balancer.key, message, |finding| {
                    let line = first.definition.resolution_line;
                    line.into_iter()
                        .fold(finding, |finding, line| {
                            finding.because(line, "the client's own address is used")
                        })
                        .because(first.line, "the external host")
                        .help(help)
                        .fix(fix)
                });
            }
        }
    }
}

/// For patterns there is no other resolution than `NONE`: nothing can make the block act.
fn fix(cx: &Context<'_>, hosts: &[Defined<'_>], balancer: Span) -> Option<Fix> {
    if !hosts.iter().all(|it| is_wildcard(it.host)) {
        return None;
    }
    let edit = cx.texts.edit(balancer, |it| it.remove())?;
    Some(Fix::new(Safety::Safe, "remove what has no effect", edit))
}
