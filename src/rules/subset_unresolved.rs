//! A route to a subset for which the proxy has no cluster.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::path::Hop;
use crate::istio::decode::Items;
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "subset-unresolved",
        summary: "a route names a subset that the client's proxy does not have: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/subset-unresolved.md"),
    },
    build: super::plain::<SubsetUnresolved>,
};

#[derive(Debug, Default)]
pub(super) struct SubsetUnresolved;

impl Check for SubsetUnresolved {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for hop in traffic.paths().iter().flat_map(|path| &path.hops) {
            let Some(name) = Hop::cluster_name(hop).and_then(ClusterName::parse) else {
                continue;
            };
            let service = cx.model.registry.of_host(name.host).next();
            let chosen = hop.result.clusters.get(hop.chosen);
            let Some(&place) = chosen.and_then(|it| it.name.spans().last()) else {
                continue;
            };
            let (Some(service), true) = (service, hop.cluster.is_none() && !name.subset.is_empty())
            else {
                continue;
            };
            if service.port(name.port).is_none() || !out.is_first(place) {
                continue;
            }
            let rules: Vec<_> = cx.rules_for(name.host).take(RULES).collect();
            if rules.is_empty() && !cx.world.knows_all("DestinationRule") {
                continue;
            }
            let defining = rules
                .iter()
                .find_map(|(resource, rule)| Some((resource, subset(rule, name.subset)?)));
            let unlabelled = defining.is_some() && applies(cx, hop, &name);
            let why = match &defining {
                None => "no DestinationRule for the host defines it".to_owned(),
                Some(_) if unlabelled => "its labels select no endpoint of the host".to_owned(),
                Some((resource, _)) => format!(
                    "the rule that defines it, in `{}`, does not apply to clients in `{}`",
                    resource.namespace().unwrap_or("another namespace"),
                    hop.client().namespace().unwrap_or("the client's namespace"),
                ),
            };
            let help = match unlabelled {
                true => "give the endpoints of the host these labels, or the subset none",
                false => {
                    "define the subset in a DestinationRule of the client's namespace, of the host's, or of the root namespace"
                }
            };
            let message = format!(
                "there is no cluster for the subset `{}` of `{}`: {why}",
                name.subset, name.host
            );
            out.add(Basis::Proven, place, message, |finding| {
                let line = defining.map(|(_, line)| line);
                let line = line.or_else(|| {
                    rules
                        .first()
                        .and_then(|(_, rule)| Some(rule.host.as_ref()?.span))
                });
                line.into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "the rule for the host")
                    })
                    .because(service.host.line, "the host")
                    .help(help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// Whether the rule that the proxy has for the host defines the subset.
fn applies(cx: &Context<'_>, hop: &Hop, name: &ClusterName<'_>) -> bool {
    let rule = cx.model.proxy(hop.client()).destination_rule(name.host);
    rule.is_some_and(|rule| rule.subset(name.subset).is_some())
}

/// So many rules for one host are looked at.
const RULES: usize = 64;

fn subset(rule: &DestinationRule, name: &str) -> Option<Span> {
    let names = rule
        .subsets
        .items()
        .iter()
        .filter_map(|it| it.value.name.as_ref());
    names.filter(|it| it.value == name).map(|it| it.span).next()
}
