//! `tls` of a `DestinationRule`.

use smol_str::SmolStr;

use super::super::Items;
use super::super::traffic::{ClientTls, ClientTlsMode};
use super::super::version::IstioVersion;
use super::{Review, refusal};
use crate::source::Spanned;

pub(super) fn check(tls: Option<&Spanned<ClientTls>>, review: &mut Review<'_>) {
    let Some(tls) = tls else { return };
    let mode = tls.mode.as_ref().map(|mode| mode.value).unwrap_or_default();
    let credential = tls
        .credential_name
        .as_deref()
        .filter(|name| !name.is_empty());
    check_config_map(credential, review);
    check_verification(tls, mode, credential, review);
    if !matches!(mode, ClientTlsMode::Simple | ClientTlsMode::Mutual) {
        return;
    }
    if let Some(credential) = credential {
        for (name, file) in [
            ("clientCertificate", &tls.client_certificate),
            ("privateKey", &tls.private_key),
            ("caCertificates", &tls.ca_certificates),
            ("caCrl", &tls.ca_crl),
        ] {
            let Some(file) = file.as_ref().filter(|file| !file.is_empty()) else {
                continue;
            };
            review.push(
                refusal(
                    file.key,
                    format!("`{name}` and `credentialName` exclude each other"),
                )
                .because(credential.key, "the secret brings the certificates")
                .help("keep the files or the secret"),
            );
        }
        return;
    }
    if mode == ClientTlsMode::Mutual {
        check_client_certificate(tls, review);
    }
}

/// Mutual TLS shows a certificate of the client's own.
fn check_client_certificate(tls: &Spanned<ClientTls>, review: &mut Review<'_>) {
    let files = [
        ("clientCertificate", &tls.client_certificate),
        ("privateKey", &tls.private_key),
    ];
    let missing: Vec<_> = files
        .into_iter()
        .filter(|(_, file)| file.as_ref().is_none_or(|it| it.is_empty()))
        .collect();
    let finding = match missing[..] {
        [] => return,
        [(name, Some(empty))] => refusal(empty.span, format!("mutual TLS needs a `{name}`")),
        [(name, None)] => refusal(tls.key, format!("mutual TLS needs a `{name}`")).absent(name),
        _ => refusal(
            tls.key,
            "mutual TLS needs a `clientCertificate` and a `privateKey`",
        )
        .absent("clientCertificate"),
    };
    let finding = match &tls.mode {
        Some(mode) => finding.because(mode.span, "this mode"),
        None => finding,
    };
    review.push(finding.help("name the files, or the secret as `credentialName`"));
}

/// `insecureSkipVerify` beside what would be verified.
fn check_verification(
    tls: &ClientTls,
    mode: ClientTlsMode,
    credential: Option<&Spanned<SmolStr>>,
    review: &mut Review<'_>,
) {
    let Some(skip) = tls.insecure_skip_verify.as_ref().filter(|skip| skip.value) else {
        return;
    };
    if !matches!(mode, ClientTlsMode::Simple | ClientTlsMode::Mutual) {
        return;
    }
    let ca = tls
        .ca_certificates
        .as_ref()
        .filter(|file| !file.is_empty())
        .map(|it| ("caCertificates", it.key));
    let names = (!tls.subject_alt_names.items().is_empty())
        .then_some(tls.subject_alt_names.as_ref())
        .flatten()
        .map(|it| ("subjectAltNames", it.key));
    // A secret of mutual TLS may hold the client's certificate alone.
    let secret = credential
        .filter(|_| mode == ClientTlsMode::Simple)
        .map(|it| ("credentialName", it.key));
    if let Some((name, key)) = ca.or(names).or(secret) {
        review.push(
            refusal(
                skip.span,
                format!("`insecureSkipVerify` and `{name}` exclude each other"),
            )
            .because(key, "this would be verified")
            .help(format!("remove `insecureSkipVerify`, or `{name}`")),
        );
    }
}

/// `configmap://NAMESPACE/NAME`.
fn check_config_map(credential: Option<&Spanned<SmolStr>>, review: &mut Review<'_>) {
    if review.version < IstioVersion(26) {
        return;
    }
    let Some(credential) = credential else { return };
    let Some(path) = credential.strip_prefix("configmap://") else {
        return;
    };
    let mut parts = path.split('/');
    let (namespace, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if namespace.is_empty() || name.is_empty() {
        review.push(
            refusal(
                credential.span,
                format!("`{}` names no ConfigMap", credential.value),
            )
            .help("write `configmap://NAMESPACE/NAME`"),
        );
    } else if let Some(own) = review.namespace.filter(|own| *own != namespace) {
        let text = format!("the ConfigMap of a rule in `{own}` cannot be in `{namespace}`");
        review.push(refusal(credential.span, text).help("put both into one namespace"));
    }
}
