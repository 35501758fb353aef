//! `resolution: STATIC` with nothing to go to.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Resolution};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "static-without-endpoints",
        summary: "`resolution: STATIC` without endpoints: every request fails",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/static-without-endpoints.md"),
    },
    build: super::plain::<StaticWithoutEndpoints>,
};

#[derive(Debug, Default)]
pub(super) struct StaticWithoutEndpoints;

impl Check for StaticWithoutEndpoints {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for definition in cx.definitions() {
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let empty = entry.endpoints.items().is_empty() && entry.workload_selector.is_none();
            let written = entry.endpoints.as_ref().map(|it| it.span);
            let is_static = definition.origin == Origin::ServiceEntry
                && definition.resolution == Resolution::Static;
            let (Some(place), Some(host)) = (definition.resolution_line, definition.hosts.first())
            else {
                continue;
            };
            let resource = definition.resource;
            let meant = ["endpoints", "workloadSelector"];
            if !is_static || !empty || meant.into_iter().any(|it| resource.misspells(it)) {
                continue;
            }
            let message = format!(
                "`STATIC` takes its addresses from `endpoints`, and there are none: every request to `{}` fails with 503",
                host.name
            );
            out.add(Basis::Proven, place, message, |finding| {
                // Where something will be put in the list's place, the finding goes with it.
                written
                    .into_iter()
                    .fold(finding, |finding, list| {
                        finding.because(list, "an empty list")
                    })
                    .because(host.line, "the host without an address")
                    .help("add `endpoints`, or use `resolution: DNS`")
            });
        }
    }
}
