//! Failover between regions that no endpoint names.

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "failover-endpoint-without-locality",
        summary: "`failover` names regions, but no endpoint of the host has a `locality`",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/failover-endpoint-without-locality.md"),
    },
    build: super::plain::<FailoverEndpointWithoutLocality>,
};

#[derive(Debug, Default)]
pub(super) struct FailoverEndpointWithoutLocality;

impl Check for FailoverEndpointWithoutLocality {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let settings = levels(rule).filter_map(|level| level.load_balancer);
            let mut settings = settings.filter_map(|it| it.value.locality_lb_setting.as_ref());
            let failover = settings.find(|it| !it.value.failover.items().is_empty());
            let Some(failover) = failover else { continue };
            for defined in cx.hosts_under(&host.value, resource.namespace()) {
                let Spec::ServiceEntry(entry) = &defined.definition.resource.spec else {
                    continue;
                };
                let endpoints = entry.endpoints.items();
                let [first, _, ..] = endpoints else { continue };
                let named = endpoints.iter().any(|it| it.value.locality.is_some());
                if named || !out.is_first(first.span) {
                    continue;
                }
                let message = format!(
                    "none of the {} endpoints of `{}` has a `locality`: all have the same priority, and `failover` \
                     has nothing to choose between",
                    endpoints.len(),
                    defined.host
                );
                out.add(Basis::Proven, first.key, message, |finding| {
                    finding
                        .because(failover.key, "the policy that names regions")
                        .absent("locality")
                        .help("set `locality` on each endpoint, as the policy spells it")
                });
            }
        }
    }
}
