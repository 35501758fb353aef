//! A ServiceEntry that no proxy gets.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "exported-to-nobody",
        summary: "`exportTo: [\"~\"]` hides a ServiceEntry from every proxy: it does nothing",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/exported-to-nobody.md"),
    },
    build: super::plain::<ExportedToNobody>,
};

#[derive(Debug, Default)]
pub(super) struct ExportedToNobody;

impl Check for ExportedToNobody {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for definition in cx.definitions() {
            let Spec::ServiceEntry(entry) = &definition.resource.spec else {
                continue;
            };
            let exported = entry.export_to.items();
            let (Some(first), Some(host)) = (exported.first(), definition.hosts.first()) else {
                continue;
            };
            if exported.iter().any(|it| it.value != "~") {
                continue;
            }
            let message = format!(
                "no proxy knows `{}`: `~` exports the entry to no namespace, not even to its own",
                host.name
            );
            out.add(Basis::Proven, first.span, message, |finding| {
                finding
                    .because(host.line, "the external host")
                    .help("write `.` for the namespace of the entry alone")
            });
        }
    }
}
