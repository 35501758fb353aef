//! A dot at the end of a host.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;

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
    }
}
