//! A route to a host that nothing defines.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::http_rule::Target;
use crate::istio::decode::Items;
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
            let http = routes.http();
            let of_http = http.flat_map(|rule| {
                let targets = rule.route().iter().filter_map(|entry| rule.target(entry));
                targets
                    .map(|target| (target.host(), target.line))
                    .collect::<Vec<_>>()
            });
            let namespace = routes.namespace();
            let tls = routes
                .spec
                .tls
                .items()
                .iter()
                .flat_map(|it| it.value.route.items());
            let tcp = routes
                .spec
                .tcp
                .items()
                .iter()
                .flat_map(|it| it.value.route.items());
            let of_l4 = tls.chain(tcp).filter_map(|it| {
                let destination = it.value.destination.as_ref()?;
                let target = Target::new(&destination.value, destination.span, namespace);
                Some((target.host(), target.line))
            });
            for (host, line) in of_http.chain(of_l4) {
                judge(cx, &host, line, out);
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
