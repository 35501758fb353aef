//! A policy of the client's namespace for a host that is reached through an egress gateway.

use std::collections::{BTreeMap, BTreeSet};

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::path::Hop;
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-unseen-by-gateway",
        summary: "a DestinationRule is for a host that is reached through an egress gateway, which does not see the rule",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-unseen-by-gateway.md"),
    },
    build: super::plain::<DestinationRuleUnseenByGateway>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleUnseenByGateway;

/// So many rules of one host are looked at.
const RULES: usize = 64;

/// How the clients of one namespace reach a host.
struct Ways<'t> {
    /// Of the gateway that reaches it, where all ways lead through one.
    gateway: Option<&'t str>,
    line: Span,
    /// The rules that apply where it is reached, by the place of their host.
    applied: BTreeSet<Span>,
}

impl Check for DestinationRuleUnseenByGateway {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic, out: &mut Findings) {
        let mut by_client: BTreeMap<(&str, &str), Ways<'_>> = BTreeMap::new();
        for reached in traffic.reached() {
            let client = reached
                .path
                .hops
                .first()
                .and_then(|hop| hop.client().namespace());
            let Some(client) = client else { continue };
            let ways = by_client
                .entry((client, &reached.path.host))
                .or_insert_with(|| Ways {
                    gateway: gateway(reached.hop),
                    line: reached.host_line(),
                    applied: BTreeSet::new(),
                });
            if gateway(reached.hop).is_none() {
                ways.gateway = None;
            }
            let rule = reached.cluster.destination_rule.as_ref();
            ways.applied
                .extend(rule.into_iter().flat_map(|it| it.spans()));
        }
        for ((client, host), ways) in by_client {
            let Some(gateway) = ways.gateway.filter(|it| *it != client) else {
                continue;
            };
            for (resource, rule) in cx.rules_for(host).take(RULES) {
                let Some(own) = rule.host.as_ref().filter(|it| it.value == host) else {
                    continue;
                };
                if resource.namespace() != Some(client)
                    || ways.applied.contains(&own.span)
                    || !acts(rule)
                    || !out.is_first(own.span)
                {
                    continue;
                }
                let message = format!(
                    "this rule is not used: requests for `{host}` leave through the egress gateway in `{gateway}`, which does not see it"
                );
                out.add(Basis::Proven, own.span, message, |finding| {
                    finding
                        .because(ways.line, "the external host")
                        .help(format!(
                            "put it beside the ServiceEntry and export it to `{gateway}`, or into `{gateway}`"
                        ))
                });
            }
        }
    }
}

/// The namespace of the gateway that a hop is.
fn gateway(hop: &Hop) -> Option<&str> {
    let client = hop.client();
    client.namespace().filter(|_| client.is_gateway())
}

/// Whether it sets anything, for whoever is not chosen by labels.
fn acts(rule: &DestinationRule) -> bool {
    rule.traffic_policy.is_some() && rule.workload_selector.is_none()
}
