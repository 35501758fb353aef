//! A policy for a name that only stands for another.

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;
use crate::egress::service::Resolution;
use crate::istio::traffic::{ClientTlsMode, DestinationRule};

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
            let message = format!(
                "this rule is not used: `{}` only stands for `{}`, and what is sent to it takes the clusters of that name",
                super::unknown_hosts::shown(&host),
                alias.value
            );
            out.add(Basis::Proven, written.span, message, |finding| {
                finding
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
