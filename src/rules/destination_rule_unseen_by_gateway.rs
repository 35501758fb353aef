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
            let host = &reached.path.host;
            let through_gateways = cx.model.virtual_services.routing_gateways_to(host);
            let first = reached.path.hops.first();
            let Some(client) = first.and_then(|hop| hop.client().namespace()) else {
                continue;
            };
            if through_gateways.is_empty() {
                continue;
            }
            let ways = by_client.entry((client, host)).or_insert_with(|| Ways {
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
            for (resource, rule) in cx.rules_for(host).take(RULES) {
                let own = rule.host.as_ref().filter(|it| it.value == host);
                if let Some(own) =
                    own.filter(|_| resource.namespace() == Some(client) && acts(rule))
                {
                    judge(cx, (client, host), &ways, own.span, out);
                }
            }
        }
    }
}

/// Judges a rule of the clients' namespace by some of their ways. Other ways may show that it is used.
fn judge(
    cx: &Context<'_>,
    (client, host): (&str, &str),
    ways: &Ways<'_>,
    own: Span,
    out: &mut Findings,
) {
    let gateway = ways.gateway.filter(|it| *it != client);
    let Some(gateway) = gateway.filter(|_| !ways.applied.contains(&own)) else {
        out.rule_out(own);
        return;
    };
    // What the gateway has instead may be all that is meant.
    let mut rules = cx.rules_for(host).take(RULES);
    let instead = rules.find_map(|(resource, rule)| {
        let place = rule.host.as_ref().filter(|it| it.value == host)?.span;
        (resource.namespace() == Some(gateway) && ways.applied.contains(&place)).then_some(place)
    });
    let (basis, why) = match instead {
        None => (Basis::Proven, "which does not see it"),
        Some(_) => (
            Basis::assuming("it sets what the other rule lacks"),
            "which has one of its own",
        ),
    };
    let message = format!(
        "this rule is not used: requests for `{host}` leave through the egress gateway in `{gateway}`, {why}"
    );
    let help = match instead {
        None => format!(
            "put it beside the ServiceEntry and export it to `{gateway}`, or into `{gateway}`"
        ),
        Some(_) => format!("move what it sets into the rule in `{gateway}`, or remove it"),
    };
    let rank = (u8::from(instead.is_some()), 0);
    out.add_worst((own, rank), basis, own, message, |finding| {
        let finding = instead.into_iter().fold(finding, |finding, place| {
            finding.because(place, "the gateway uses this one")
        });
        finding.because(ways.line, "the external host").help(help)
    });
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
