//! A DestinationRule for a host that nothing defines.

use super::unknown_hosts::{UnknownHosts, like, shown};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-rule-host-unknown",
        summary: "a DestinationRule is for a host that nothing defines: it applies to nothing",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-rule-host-unknown.md"),
    },
    build: super::plain::<DestinationRuleHostUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationRuleHostUnknown;

impl Check for DestinationRuleHostUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let hosts = UnknownHosts::new(cx);
        for (resource, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let name = to_fqdn(&host.value, resource.namespace());
            let Some(unknown) = hosts.find(&name) else {
                continue;
            };
            let name = shown(&name);
            // A host that has a rule of its own is not the one that was meant.
            let has_own = unknown.meant.is_some_and(|meant| {
                let rule = cx.rules_for(meant.host).next();
                let host = rule.and_then(|(_, rule)| rule.host.as_ref());
                host.is_some_and(|host| host.value == meant.host)
            });
            let meant = unknown.meant.filter(|_| !has_own);
            let message = match (&unknown.wildcard, &unknown.basis, meant) {
                (Some(wildcard), ..) => format!(
                    "this rule applies to nothing: a rule is found by the whole host of the entry, which is `{}`",
                    wildcard.host
                ),
                (None, Basis::Assuming(_), None) => continue,
                _ => format!("this rule applies to nothing: nothing defines `{name}`"),
            };
            let help = match (&unknown.wildcard, meant) {
                (_, Some(meant)) => format!("did you mean `{}`?", meant.host),
                (Some(wildcard), None) => format!(
                    "write `host: \"{}\"`, or add a ServiceEntry for `{name}`",
                    wildcard.host
                ),
                (None, None) => format!("add a ServiceEntry for `{name}`, or remove the rule"),
            };
            out.add(unknown.basis, host.span, message, |finding| {
                like(finding, unknown.wildcard, meant).help(help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["host-trailing-dot", "host-upper-case", "short-host"]
    }
}
