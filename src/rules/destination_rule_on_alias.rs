//! A policy for a name that only stands for another.

use super::context::originates_tls;
use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;
use crate::egress::service::Resolution;
use crate::istio::traffic::{ClientTlsMode, DestinationRule};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-on-alias",
        summary: "a rule for an `ExternalName` Service is not used: the clusters are those of the name it stands for",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-on-alias.md"),
    },
    build: super::plain::<DestinationRuleOnAlias>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleOnAlias;

impl Check for DestinationRuleOnAlias {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let Some(written) = rule.host.as_ref().filter(|_| asks_for_something(rule)) else {
                continue;
            };
            let host = to_fqdn(&written.value, resource.namespace());
            let mut services = cx.model.registry.of_host(&host).peekable();
            let Some(alias) = services.peek().and_then(|it| it.definition.alias_of) else {
                continue;
            };
            if !services.all(|it| it.resolution == Resolution::Alias) {
                continue;
            }
            let target = to_fqdn(&alias.value, resource.namespace());
            let is_defined = cx.model.registry.of_host(&target).next().is_some();
            let message = format!(
                "this rule is not used: `{}` only stands for `{}`, and what is sent to it takes the clusters of that name{}",
                super::unknown_hosts::shown(&host),
                alias.value,
                match is_defined {
                    true => "",
                    false => ", if any",
                }
            );
            let plain = plain_ports(cx, rule, &alias.value);
            out.add(Basis::Proven, written.span, message, |finding| {
                plain
                    .into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "plain text is sent: the rule does not originate TLS")
                    })
                    .because(alias.span, "the name it stands for")
                    .help(format!("set `host: {}`", alias.value))
            });
        }
    }
}

/// Whether it asks for more than no TLS, which is what there is without it. Istio's documents have such rules.
fn asks_for_something(rule: &DestinationRule) -> bool {
    levels(rule).any(|level| {
        let mode = level.tls.and_then(|tls| tls.value.mode.as_ref());
        let off = mode.is_some_and(|mode| mode.value == ClientTlsMode::Disable);
        level.blocks().any(|(name, _)| name != "tls" || !off)
    })
}

/// So many ports are shown.
const PORTS: usize = 3;

/// Where the rule was to originate TLS: the ports of the host on which plain text is sent.
fn plain_ports(cx: &Context<'_>, rule: &DestinationRule, host: &str) -> Vec<Span> {
    if !originates_tls(rule) {
        return Vec::new();
    }
    let services = cx.model.registry.of_host(host);
    let ports = services.flat_map(|it| &it.definition.ports);
    let plain = ports.filter(|port| port.protocol.is_http()).take(PORTS);
    plain.map(|port| port.line()).collect()
}
