//! A `tls` block that switches TLS off.

use super::context::tls_blocks;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::istio::traffic::ClientTls;
use crate::source::Spanned;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-mode-missing",
        summary: "`tls` without `mode` means `DISABLE`: plain text is sent",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/tls-mode-missing.md"),
    },
    build: super::plain::<TlsModeMissing>,
};

#[derive(Debug, Default)]
pub(super) struct TlsModeMissing;

impl Check for TlsModeMissing {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, rule) in cx.destination_rules() {
            for tls in tls_blocks(rule) {
                if tls.value.mode.is_some() {
                    continue;
                }
                let Some(set) = first_setting(&tls.value) else {
                    let basis = Basis::assuming("TLS is meant");
                    let message =
                        "`tls` is empty: the default of `mode` is `DISABLE`, so plain text is sent";
                    out.add(basis, tls.key, message, |finding| {
                        finding
                            .absent("mode")
                            .help("add `mode: SIMPLE`, or `mode: DISABLE` if plain text is meant")
                    });
                    continue;
                };
                let message = format!(
                    "`tls` sets `{set}`, but no `mode`: the default is `DISABLE`, so plain text is sent and the rest is not used"
                );
                let help = match mode(&tls.value) {
                    Some(mode) => format!("add `mode: {mode}`"),
                    None => "add `mode: SIMPLE`, or `mode: MUTUAL` if the client has a certificate"
                        .to_owned(),
                };
                out.add(Basis::Proven, tls.key, message, |finding| {
                    finding.absent("mode").help(help).fix(fix(cx, tls))
                });
            }
        }
    }
}

/// The mode that uses what is set, where there is only one.
fn mode(set: &ClientTls) -> Option<&'static str> {
    // A Secret may hold a certificate of the client's or an authority only.
    match (
        &set.client_certificate,
        &set.private_key,
        &set.credential_name,
    ) {
        (Some(_), Some(_), None) => Some("MUTUAL"),
        (None, None, None) => Some("SIMPLE"),
        _ => None,
    }
}

/// Unsafe: it encrypts what was plain.
fn fix(cx: &Context<'_>, tls: &Spanned<ClientTls>) -> Option<Fix> {
    let mode = mode(&tls.value)?;
    let edit = cx
        .texts
        .edit(tls.key, |it| it.insert("mode", &Value::from(mode)))?;
    Some(Fix::new(
        Safety::Unsafe,
        format!("encrypt with `{mode}`"),
        edit,
    ))
}

/// A setting that only makes sense with TLS.
fn first_setting(tls: &ClientTls) -> Option<&'static str> {
    let set = [
        ("clientCertificate", tls.client_certificate.is_some()),
        ("privateKey", tls.private_key.is_some()),
        ("caCrl", tls.ca_crl.is_some()),
        ("caCertificates", tls.ca_certificates.is_some()),
        ("credentialName", tls.credential_name.is_some()),
        ("subjectAltNames", tls.subject_alt_names.is_some()),
        ("sni", tls.sni.is_some()),
        ("insecureSkipVerify", tls.insecure_skip_verify.is_some()),
    ];
    set.into_iter().find_map(|(name, set)| set.then_some(name))
}
