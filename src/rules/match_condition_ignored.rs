//! A condition of a match that nobody looks at.

use smol_str::SmolStr;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::virtual_service::names_mesh;
use crate::istio::decode::{Items, List, Rare};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "match-condition-ignored",
        summary: "a condition of a match is not looked at: the rule holds for more than it says",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/match-condition-ignored.md"),
    },
    build: super::plain::<MatchConditionIgnored>,
};

#[derive(Debug, Default)]
pub(super) struct MatchConditionIgnored;

impl Check for MatchConditionIgnored {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, service) in cx.virtual_services() {
            for it in service
                .http
                .items()
                .iter()
                .flat_map(|it| it.matches.items())
            {
                let Some(gateways) = it.gateways.as_ref().filter(|it| !it.value.is_empty()) else {
                    continue;
                };
                let named = [
                    ("sourceLabels", it.source_labels.as_ref().map(|it| it.key)),
                    (
                        "sourceNamespace",
                        it.source_namespace.as_ref().map(|it| it.key),
                    ),
                ];
                for (name, key) in set(named) {
                    let message = format!(
                        "`{name}` beside `gateways` is not looked at: the match holds for every client"
                    );
                    out.add(Basis::Proven, key, message, |finding| {
                        finding
                            .because(gateways.key, "this decides alone")
                            .help("give the rule a VirtualService of its own, whose `gateways` stand at the top")
                    });
                }
            }
            let tls = service.tls.items().iter().flat_map(|it| it.matches.items());
            for it in tls.filter(|it| is_for_gateways(&it.gateways)) {
                let subnets = it.destination_subnets.as_ref().map(|it| it.key);
                let labels = it.source_labels.as_ref().map(|it| it.key);
                let namespace = it.source_namespace.as_ref().map(|it| it.key);
                at_gateway([subnets, labels, namespace], &it.gateways, out);
            }
            for it in service.tcp.items().iter().flat_map(|it| it.matches.items()) {
                if let Some(subnet) = &it.source_subnet {
                    let message = "`sourceSubnet` is not looked at: the match holds for connections from everywhere";
                    out.add(Basis::Proven, subnet.key, message, |finding| {
                        finding.help("choose clients by `sourceLabels` or `sourceNamespace`")
                    });
                }
                if is_for_gateways(&it.gateways) {
                    let subnets = it.destination_subnets.as_ref().map(|it| it.key);
                    let labels = it.source_labels.as_ref().map(|it| it.key);
                    let namespace = it.source_namespace.as_ref().map(|it| it.key);
                    at_gateway([subnets, labels, namespace], &it.gateways, out);
                }
            }
        }
    }
}

fn set<const N: usize>(
    named: [(&'static str, Option<Span>); N],
) -> impl Iterator<Item = (&'static str, Span)> {
    named
        .into_iter()
        .filter_map(|(name, key)| Some((name, key?)))
}

fn is_for_gateways(names: &Rare<List<SmolStr>>) -> bool {
    !names_mesh(names.items())
}

/// Of a connection a gateway looks at the port and the server name.
fn at_gateway(
    [subnets, labels, namespace]: [Option<Span>; 3],
    gateways: &Rare<List<SmolStr>>,
    out: &mut Findings,
) {
    for (name, key) in set([
        ("destinationSubnets", subnets),
        ("sourceLabels", labels),
        ("sourceNamespace", namespace),
    ]) {
        let message =
            format!("a gateway does not look at `{name}`: the match holds for every connection");
        out.add(Basis::Proven, key, message, |finding| {
            let lines = gateways.iter().map(|it| it.key);
            lines
                .fold(finding, |finding, line| finding.because(line, "the match is for gateways"))
                .help("choose by port and `sniHosts`, or restrict who may connect with an AuthorizationPolicy")
        });
    }
}
