//! TLS that accepts any valid certificate.

use super::traffic::{Reached, Traffic};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{Handler, Speaks, TlsFacts};
use crate::egress::host::is_wildcard;
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "certificate-name-unchecked",
        summary: "the name in the certificate is not verified: any valid certificate is accepted",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/certificate-name-unchecked.md"),
    },
    build: super::plain::<CertificateNameUnchecked>,
};

#[derive(Debug, Default)]
pub(super) struct CertificateNameUnchecked;

impl Check for CertificateNameUnchecked {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let cluster = reached.cluster;
            let Some(TlsFacts::Explicit(tls)) = &cluster.tls.value else {
                continue;
            };
            let own = matches!(tls.mode.value, "SIMPLE" | "MUTUAL");
            let checked = !tls.sans.value.is_empty()
                || cluster.auto_san && is_http(reached.hop.result.handler);
            let Some(&place) = tls.mode.spans().first() else {
                continue;
            };
            // Around what arrives encrypted there should be no TLS at all.
            let twice =
                reached.hop.call.speaks == Speaks::Tls && !is_http(reached.hop.result.handler);
            if !own
                || checked
                || twice
                || tls.ca.is_none()
                || skips_verification(cx, place)
                || !out.is_first(place)
            {
                continue;
            }
            let (basis, why) = match &tls.sni {
                Some(sni) if is_http(reached.hop.result.handler) => (
                    Basis::assuming("the name is to be verified"),
                    format!(
                        "`sni: {}` without `subjectAltNames` switches that off",
                        sni.value
                    ),
                ),
                _ => (
                    reached.basis_of_bytes(cx),
                    "Istio does that for HTTP only".to_owned(),
                ),
            };
            let message = format!(
                "the name in the certificate of `{}` is not verified: {why}, and any trusted certificate is accepted",
                reached.destination()
            );
            out.add(basis, place, message, |finding| {
                let lines = tls.sni.iter().flat_map(|sni| sni.spans()).copied();
                lines
                    .fold(finding, |finding, line| {
                        finding.because(line, "the server name that is sent")
                    })
                    .because(reached.host_line(), "the external host")
                    .absent("subjectAltNames")
                    .help(format!("set `subjectAltNames: [{}]`", reached.path.host))
                    .fix(fix(
                        cx,
                        &reached,
                        tls.sni.as_ref().map(|sni| sni.as_str()),
                        place,
                    ))
            });
        }
    }
}

/// The host is the name, unless another one is asked for. Unsafe: a certificate that was accepted may be refused.
fn fix(cx: &Context<'_>, reached: &Reached<'_>, sni: Option<&str>, mode: Span) -> Option<Fix> {
    let host = reached.path.host.as_str();
    if !reached.has_rule_of_its_own(cx) || is_wildcard(host) || sni.is_some_and(|sni| sni != host) {
        return None;
    }
    let names = Value::List(vec![Value::from(host)]);
    let edit = cx
        .texts
        .edit(mode, |it| it.insert_beside("subjectAltNames", &names))?;
    let message = format!("accept only a certificate for `{host}`");
    Some(Fix::new(Safety::Unsafe, message, edit))
}

fn is_http(handler: Option<Handler>) -> bool {
    handler == Some(Handler::Http)
}

/// Whether the block with this mode says that nothing is to be verified.
fn skips_verification(cx: &Context<'_>, mode: Span) -> bool {
    let skip = cx
        .tls_block(mode)
        .and_then(|tls| tls.insecure_skip_verify.as_ref());
    skip.is_some_and(|skip| skip.value)
}
