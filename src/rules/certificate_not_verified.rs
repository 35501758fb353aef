//! TLS that does not ask who the other side is.

use super::levels::levels;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::traffic::ClientTlsMode;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "certificate-not-verified",
        summary: "`insecureSkipVerify` accepts any certificate of an external host: nobody knows who is at the other end",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/certificate-not-verified.md"),
    },
    build: super::plain::<CertificateNotVerified>,
};

#[derive(Debug, Default)]
pub(super) struct CertificateNotVerified;

impl Check for CertificateNotVerified {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, rule) in cx.destination_rules() {
            let mut blocks = levels(rule)
                .filter_map(|level| level.tls)
                .filter(|tls| originates(tls.value.mode.as_ref().map(|mode| mode.value)))
                .filter_map(|tls| tls.value.insecure_skip_verify.as_ref())
                .filter(|skip| skip.value)
                .peekable();
            let (Some(host), Some(_)) = (&rule.host, blocks.peek()) else {
                continue;
            };
            let Some(external) = cx.external_under(&host.value, resource.namespace()) else {
                continue;
            };
            for skip in blocks {
                let message = format!(
                    "`insecureSkipVerify` accepts any certificate: whoever answers for `{}` can read and change what is sent",
                    external.host
                );
                out.add(Basis::Proven, skip.span, message, |finding| {
                    finding
                        .because(external.line, "the external host")
                        .help("remove it, and name the authority under `caCertificates` if it is none of the system's")
                });
            }
        }
    }
}

fn originates(mode: Option<ClientTlsMode>) -> bool {
    matches!(mode, Some(ClientTlsMode::Simple | ClientTlsMode::Mutual))
}
