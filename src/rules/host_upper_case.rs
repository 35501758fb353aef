//! Upper case in a host.

use foldhash::HashMap;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Edit, Fix, Fixable, Safety, Severity};
use crate::egress::service::Origin;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "host-upper-case",
        summary: "a host in upper case does not meet the same host in lower case",
        severity: Severity::Warning,
        fixable: Fixable::Always,
        since: "0.1.0",
        page: include_str!("../../rules/host-upper-case.md"),
    },
    build: super::plain::<HostUpperCase>,
};

#[derive(Debug, Default)]
pub(super) struct HostUpperCase;

impl Check for HostUpperCase {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx
            .definitions()
            .iter()
            .filter(|it| it.origin == Origin::ServiceEntry);
        let hosts: HashMap<&str, Span> = entries
            .flat_map(|it| &it.hosts)
            .map(|it| (&*it.name, it.line))
            .collect();
        for (_, rule) in cx.destination_rules() {
            let Some(host) = &rule.host else { continue };
            let lower = host.value.to_lowercase();
            let Some(&entry) = hosts.get(lower.as_str()).filter(|_| lower != host.value) else {
                continue;
            };
            if hosts.contains_key(host.value.as_str()) {
                continue;
            }
            let message = format!(
                "`{}` is not `{lower}`: hosts of rules are compared letter by letter, and this rule is never used",
                host.value
            );
            out.add(Basis::Proven, host.span, message, |finding| {
                finding
                    .because(entry, "the host in lower case")
                    .help("write it in lower case")
                    .fix(Fix {
                        safety: Safety::Unsafe,
                        message: "write it in lower case".to_owned(),
                        edits: vec![Edit {
                            span: host.span,
                            text: cx.sources.text(host.span).to_lowercase(),
                        }],
                    })
            });
        }
    }
}
