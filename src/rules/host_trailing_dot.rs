//! A dot at the end of a host.

use super::targets::{mirrors, targets};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "host-trailing-dot",
        summary: "a host with a dot at its end is another host than the one without",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/host-trailing-dot.md"),
    },
    build: super::plain::<HostTrailingDot>,
};

#[derive(Debug, Default)]
pub(super) struct HostTrailingDot;

impl Check for HostTrailingDot {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx
            .definitions()
            .iter()
            .filter(|it| it.origin == Origin::ServiceEntry);
        for host in entries
            .flat_map(|it| &it.hosts)
            .filter(|it| it.name.ends_with('.'))
        {
            let without = host.name.trim_end_matches('.');
            let message = format!(
                "`{}` is another host than `{without}`: requests, certificates and rules name it without the dot and \
                 do not meet this entry",
                host.name
            );
            out.add(Basis::Proven, host.line, message, |finding| {
                finding.help(format!("write `{without}`"))
            });
        }
        for (host, place) in written(cx) {
            let Some(without) = host.strip_suffix('.') else {
                continue;
            };
            let of_host = |host| cx.model.registry.of_host(host).next();
            let (None, Some(service)) = (of_host(&host), of_host(without)) else {
                continue;
            };
            let message = format!(
                "`{host}` is another host than `{without}`, which is defined: Istio compares them letter by letter"
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(service.host.line, "the host that is defined")
                    .help(format!("write `{without}`"))
            });
        }
    }
}

/// The hosts that rules name, as they write them, and their places.
fn written(cx: &Context<'_>) -> Vec<(String, Span)> {
    let rules = cx.destination_rules().filter_map(|(_, rule)| {
        let host = rule.host.as_ref()?;
        Some((host.value.to_string(), host.span))
    });
    let routes = cx.model.virtual_services.iter().flat_map(|routes| {
        let led = targets(routes).into_iter().chain(mirrors(routes));
        let led = led.map(|target| (target.host().into_owned(), target.line));
        let own = routes.hosts.iter();
        own.map(|(host, line)| (host.to_string(), *line)).chain(led)
    });
    let all = rules.chain(routes);
    all.filter(|(host, _)| host.ends_with('.')).collect()
}
