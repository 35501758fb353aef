//! A host without a dot.

use foldhash::HashMap;

use super::targets::targets;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::host::to_fqdn;
use crate::egress::service::Origin;
use crate::istio::decode::Items;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "short-host",
        summary: "a host without dots means a Service of the namespace, not the ServiceEntry of that name",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/short-host.md"),
    },
    build: super::plain::<ShortHost>,
};

#[derive(Debug, Default)]
pub(super) struct ShortHost;

/// So many routes to the same name are shown.
const TARGETS: usize = 64;

impl Check for ShortHost {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx
            .definitions()
            .iter()
            .filter(|it| it.origin == Origin::ServiceEntry);
        let hosts = entries
            .flat_map(|it| &it.hosts)
            .filter(|it| !it.name.contains('.'));
        let short: HashMap<&str, Span> = hosts.map(|it| (&*it.name, it.line)).collect();
        if short.is_empty() {
            return;
        }
        let rules = cx.destination_rules().filter_map(|(resource, rule)| {
            let host = rule.host.as_ref()?;
            Some((resource, host, None))
        });
        let routes = cx.model.virtual_services.iter().flat_map(|routes| {
            let hosts = routes.spec.hosts.items().iter();
            hosts.map(move |host| (routes.resource, host, Some(routes)))
        });
        for (resource, host, routes) in rules.chain(routes) {
            let Some(&entry) = short.get(host.value.as_str()) else {
                continue;
            };
            let namespace = resource.namespace().unwrap_or("<namespace>");
            let message = format!(
                "`{}` is read as `{0}.{namespace}.svc.cluster.local` and does not meet the ServiceEntry of that name",
                host.value
            );
            let same = to_fqdn(&host.value, resource.namespace());
            let targets = routes.map(targets).unwrap_or_default();
            let targets = targets.iter().filter(|it| it.host() == same);
            out.add(Basis::Proven, host.span, message, |finding| {
                targets
                    .take(TARGETS)
                    .fold(finding, |finding, target| {
                        finding.because(target.line, "so it is here")
                    })
                    .because(entry, "the entry, whose host is taken as it is")
                    .help("give the ServiceEntry a host with a dot")
            });
        }
    }
}
