//! A rule of the client's namespace that hides the one with TLS.

use std::collections::BTreeSet;

use super::levels::levels;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::traffic::DestinationRule;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-shadowed",
        summary: "a DestinationRule of the client's namespace hides the one beside the host, and with it what that one sets",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-shadowed.md"),
    },
    build: super::plain::<DestinationRuleShadowed>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleShadowed;

/// So many rules for one host are looked at.
const RULES: usize = 64;

impl Check for DestinationRuleShadowed {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(used) = &reached.cluster.destination_rule else {
                continue;
            };
            let (Some(definition), Some(&place)) = (reached.definition(cx), used.spans().first())
            else {
                continue;
            };
            let (own, client) = (definition.namespace(), reached.hop.client().namespace());
            if own.is_none() || client.is_none() || own == client {
                continue;
            }
            let rules: Vec<_> = cx.rules_for(&reached.path.host).take(RULES).collect();
            let applied = rules
                .iter()
                .find(|(_, rule)| rule.host.as_ref().is_some_and(|it| it.span == place));
            let hidden = rules
                .iter()
                .find(|(resource, _)| resource.namespace() == own);
            let (Some((by, applied)), Some((beside, hidden))) = (applied, hidden) else {
                continue;
            };
            let lost = lost(applied, hidden);
            let Some((_, first)) = lost.first().filter(|_| by.namespace() == client) else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let names: Vec<String> = lost.iter().map(|(name, _)| format!("`{name}`")).collect();
            let message = format!(
                "for clients in `{}` this rule is the only one: the rule beside `{}` and its {} do not apply",
                client.unwrap_or_default(),
                reached.path.host,
                names.join(", "),
            );
            let together = cx.world.is_one_folder(place.file, beside.span.file);
            let tls = lost.iter().any(|(name, _)| *name == "tls");
            let plain = tls.then_some((reached.port_line(), "plain text is sent here"));
            out.add(Basis::together(together), place, message, |finding| {
                plain
                    .into_iter()
                    .fold(finding, |finding, (line, why)| finding.because(line, why))
                    .because(*first, "set there and not here")
                    .because(reached.host_line(), "the external host")
                    .help("repeat here what the other rule sets: rules of different namespaces are not merged")
            });
        }
    }
}

/// The blocks that one rule sets, at whatever level, and the other nowhere; with their lines.
fn lost(applied: &DestinationRule, hidden: &DestinationRule) -> Vec<(&'static str, Span)> {
    let ours: BTreeSet<&str> = blocks(applied).map(|(name, _)| name).collect();
    let mut seen = BTreeSet::new();
    let theirs = blocks(hidden).filter(|(name, _)| !ours.contains(name) && seen.insert(*name));
    theirs.collect()
}

/// What hurts where it is lost.
fn blocks(rule: &DestinationRule) -> impl Iterator<Item = (&'static str, Span)> {
    let of_ports = rule.traffic_policy.iter();
    let of_ports = of_ports.filter_map(|it| it.port_level_settings.as_ref());
    let of_ports = of_ports.map(|it| ("portLevelSettings", it.key));
    let blocks = levels(rule).flat_map(|level| level.blocks().collect::<Vec<_>>());
    let blocks = blocks.filter(|(name, _)| matches!(*name, "tls" | "outlierDetection"));
    blocks.chain(of_ports)
}
