//! A load balancer of a cluster that gives it one host to choose from.

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Resolution};
use crate::istio::traffic::{LoadBalancer, SimpleLb};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "load-balancer-without-choice",
        summary: "`loadBalancer` has no effect on logical or dynamic DNS, which have one host at a time",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/load-balancer-without-choice.md"),
    },
    build: super::plain::<LoadBalancerWithoutChoice>,
};

#[derive(Debug, Default)]
pub(super) struct LoadBalancerWithoutChoice;

impl Check for LoadBalancerWithoutChoice {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let mut balancers = levels(rule)
                .filter_map(|level| level.load_balancer)
                .filter(|balancer| chooses(&balancer.value))
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, balancers.peek()) else {
                continue;
            };
            let hosts = cx.hosts_under(&host.value, resource.namespace());
            let Some(first) = hosts.first() else { continue };
            let resolution = first.definition.resolution;
            let (what, why, help) = match resolution {
                Resolution::DnsRoundRobin => (
                    format!(
                        "with `DNS_ROUND_ROBIN` all addresses of `{}` are one host",
                        first.host
                    ),
                    "logical DNS: one host",
                    "remove it, or use `resolution: DNS`, where each address is a host",
                ),
                Resolution::DynamicDns => (
                    format!(
                        "with `DYNAMIC_DNS` a request for `{}` goes where its own name leads",
                        first.host
                    ),
                    "one host for each name",
                    "remove it",
                ),
                _ => continue,
            };
            let alike = hosts.iter().all(|it| {
                let definition = it.definition;
                definition.origin == Origin::ServiceEntry && definition.resolution == resolution
            });
            if !alike {
                continue;
            }
            for balancer in balancers {
                let message = format!("`loadBalancer` has nothing to choose from: {what}");
                // The word alone may be a habit; the rest asks for something that does not happen.
                let habit = resolution == Resolution::DnsRoundRobin && is_plain(&balancer.value);
                let basis = match habit {
                    true => Basis::assuming("the addresses of an answer were to share the load"),
                    false => Basis::Proven,
                };
                out.add(basis, balancer.key, message, |finding| {
                    let line = first.definition.resolution_line;
                    line.into_iter()
                        .fold(finding, |finding, line| finding.because(line, why))
                        .because(first.line, "the external host")
                        .help(help)
                });
            }
        }
    }
}

/// Whether it asks for a choice at all: `PASSTHROUGH` asks for none, nor does a switched-off `localityLbSetting`.
fn chooses(balancer: &LoadBalancer) -> bool {
    let simple = balancer.simple.as_ref().map(|it| it.value);
    let locality = balancer.locality_lb_setting.as_ref();
    let locality = locality.filter(|it| it.value.enabled.as_ref().is_none_or(|on| on.value));
    simple.is_some_and(|it| it != SimpleLb::Passthrough)
        || balancer.consistent_hash.is_some()
        || locality.is_some()
}

/// Nothing but the name of an algorithm.
fn is_plain(balancer: &LoadBalancer) -> bool {
    balancer.consistent_hash.is_none() && balancer.locality_lb_setting.is_none()
}
