//! A wildcard in a certificate name.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::TlsFacts;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "san-wildcard-literal",
        summary: "`subjectAltNames` are compared letter by letter: `*.` is no pattern",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/san-wildcard-literal.md"),
    },
    build: super::plain::<SanWildcardLiteral>,
};

#[derive(Debug, Default)]
pub(super) struct SanWildcardLiteral;

impl Check for SanWildcardLiteral {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(TlsFacts::Explicit(tls)) = &reached.cluster.tls.value else {
                continue;
            };
            let wildcards = tls.sans.spans().iter().filter(|line| {
                let text = cx.sources.text(**line).trim_matches(['"', '\'']);
                text.starts_with("*.")
            });
            for &line in wildcards {
                if !out.is_first(line) {
                    continue;
                }
                let name = cx.sources.text(line).trim_matches(['"', '\'']);
                let basis = Basis::assuming("the certificate does not carry this very wildcard");
                let message = format!(
                    "`{name}` is compared as a literal text, not as a pattern: a certificate for `{}` does not match it",
                    reached.path.host
                );
                out.add(basis, line, message, |finding| {
                    finding
                        .because(reached.host_line(), "the host that is asked for")
                        .help("write the exact names that the certificate carries; a wildcard certificate carries the \
                               wildcard itself")
                });
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["certificate-name-covers-no-host"]
    }
}
