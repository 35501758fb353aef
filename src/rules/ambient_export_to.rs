//! Visibility that ztunnel does not know.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ambient-export-to",
        summary: "`exportTo` does not keep other namespaces away from a host behind a waypoint",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ambient-export-to.md"),
    },
    build: super::plain::<AmbientExportTo>,
};

#[derive(Debug, Default)]
pub(super) struct AmbientExportTo;

impl Check for AmbientExportTo {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for definition in cx.definitions() {
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let label = definition.resource.meta.labels.get("istio.io/use-waypoint");
            let label = label.filter(|it| !it.value.is_empty() && it.value != "none");
            let limit = entry.export_to.items().iter().find(|it| it.value != "*");
            let (Some(label), Some(limit), Some(host)) = (label, limit, definition.hosts.first())
            else {
                continue;
            };
            let message = format!(
                "`exportTo: {}` does not limit who reaches `{}` in ambient mode: ztunnel's table of addresses does not know it",
                limit.value, host.name
            );
            let basis = Basis::assuming("clients in ambient mode are to be kept away");
            out.add(basis, limit.span, message, |finding| {
                finding
                    .because(label.span, "the host is behind a waypoint")
                    .help("limit access with an AuthorizationPolicy at the waypoint")
            });
        }
    }
}
