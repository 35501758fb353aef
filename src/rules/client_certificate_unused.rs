//! A client certificate that is never shown.

use smol_str::SmolStr;

use super::context::tls_blocks;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::decode::Rare;
use crate::istio::traffic::{ClientTls, ClientTlsMode};
use crate::source::{Span, Spanned};
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "client-certificate-unused",
        summary: "`mode: SIMPLE` shows no client certificate, though one is configured",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/client-certificate-unused.md"),
    },
    build: super::plain::<ClientCertificateUnused>,
};

#[derive(Debug, Default)]
pub(super) struct ClientCertificateUnused;

impl Check for ClientCertificateUnused {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, rule) in cx.destination_rules() {
            for tls in tls_blocks(rule) {
                let (Some(mode), Some((name, file))) = (&tls.mode, file(tls)) else {
                    continue;
                };
                let (what, instead) = match mode.value {
                    ClientTlsMode::Simple => ("SIMPLE", "no certificate is shown"),
                    ClientTlsMode::IstioMutual => {
                        ("ISTIO_MUTUAL", "Istio's own certificate is shown")
                    }
                    _ => continue,
                };
                let message = format!(
                    "`{name}` is not used in mode `{what}`: {instead}, and a server that asks for this one closes the connection"
                );
                out.add(Basis::Proven, file, message, |finding| {
                    finding
                        .because(mode.span, "this mode")
                        .help(format!(
                            "write `mode: MUTUAL`, or remove `{name}` if the server asks for no certificate"
                        ))
                        .fix(fix(cx, tls))
                });
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["istio-mutual-to-external"]
    }
}

/// The file of the client's own that is named first.
fn file(tls: &ClientTls) -> Option<(&'static str, Span)> {
    let files = [
        ("clientCertificate", &tls.client_certificate),
        ("privateKey", &tls.private_key),
    ];
    files.into_iter().find_map(|(name, file)| {
        let file = file.as_ref().filter(|it| !it.value.is_empty())?;
        Some((name, file.key))
    })
}

/// Unsafe: it sends what was not sent.
fn fix(cx: &Context<'_>, tls: &Spanned<ClientTls>) -> Option<Fix> {
    let mode = tls.mode.as_ref()?;
    let set = |file: &Rare<SmolStr>| file.as_ref().is_some_and(|it| !it.value.is_empty());
    let is_whole = set(&tls.client_certificate) && set(&tls.private_key);
    if !is_whole || mode.value != ClientTlsMode::Simple {
        return None;
    }
    let edit = cx
        .texts
        .edit(mode.key, |it| it.set(&Value::from("MUTUAL")))?;
    Some(Fix::new(Safety::Unsafe, "show the certificate", edit))
}
