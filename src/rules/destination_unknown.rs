//! A route to a host that nothing defines.

use std::cell::OnceCell;

use foldhash::HashSet;

use super::targets::{mirrors, targets};
use super::unknown_hosts::{UnknownHosts, like, shown};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

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

const ROUTED: &str = "requests that take this route fail with 503";
const MIRRORED: &str = "Envoy sends no copy of a request to it, and says nothing";

impl Check for DestinationUnknown {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let hosts = UnknownHosts::new(cx);
        for routes in cx.model.virtual_services.iter() {
            let targets = targets(routes);
            let routed = OnceCell::new();
            let mirrors = mirrors(routes);
            let mirrors = mirrors.iter().map(|target| (target, MIRRORED));
            let routes = targets.iter().map(|target| (target, ROUTED));
            for (target, consequence) in routes.chain(mirrors) {
                let host = target.host();
                let Some(unknown) = hosts.find(&host) else {
                    continue;
                };
                // A host that is routed to beside it is not the one that was meant.
                let host = shown(&host);
                let meant = unknown.meant.filter(|it| {
                    let hosts = || targets.iter().map(|to| to.host()).collect::<HashSet<_>>();
                    !routed.get_or_init(hosts).contains(it.host)
                });
                let message = match (&unknown.wildcard, &unknown.basis, meant) {
                    (Some(wildcard), ..) => format!(
                        "there is no cluster for `{host}`: `{}` covers the name, but makes one cluster of its own name only",
                        wildcard.host
                    ),
                    (None, Basis::Assuming(_), None) => continue,
                    _ => format!("nothing defines `{host}`: {consequence}"),
                };
                let help = match meant {
                    Some(meant) => format!("did you mean `{}`?", meant.host),
                    None => format!("add a ServiceEntry for `{host}`"),
                };
                out.add(unknown.basis, target.line, message, |finding| {
                    like(finding, unknown.wildcard, meant).help(help)
                });
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["host-trailing-dot", "short-host"]
    }
}
