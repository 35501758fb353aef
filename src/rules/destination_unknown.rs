//! A route to a host that nothing defines.

use super::targets::targets;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "destination-unknown",
        summary: "a route leads to a host that nothing defines: requests fail with 503",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/destination-unknown.md"),
    },
    build: super::plain::<DestinationUnknown>,
};

#[derive(Debug, Default)]
pub(super) struct DestinationUnknown;

impl Check for DestinationUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        if !cx.world.knows_all("ServiceEntry") || !cx.world.knows_all("Service") {
            return;
        }
        for routes in cx.model.virtual_services.iter() {
            for target in targets(routes) {
                judge(cx, &target.host(), target.line, out);
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

fn judge(cx: &Context<'_>, host: &str, line: Span, out: &mut Findings) {
    if cx.model.registry.of_host(host).next().is_some() {
        return;
    }
    let wildcard = cx.hosts_overlapping(host, None).into_iter().next();
    let message = match &wildcard {
        Some(wildcard) => format!(
            "there is no cluster for `{host}`: `{}` covers the name, but makes one cluster of its own name only",
            wildcard.host
        ),
        None => format!("nothing defines `{host}`: requests that take this route fail with 503"),
    };
    out.add(Basis::Proven, line, message, |finding| {
        wildcard
            .iter()
            .fold(finding, |finding, it| {
                finding.because(it.line, "the entry with the wildcard")
            })
            .help(format!("add a ServiceEntry for `{host}`"))
    });
}
