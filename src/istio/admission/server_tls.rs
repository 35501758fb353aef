//! `tls` of a server, in a `Gateway` or a `Sidecar`.

use smol_str::SmolStr;

use super::super::Items;
use super::super::proxy::{ServerTls, ServerTlsMode, TlsProtocol};
use super::super::version::IstioVersion;
use super::{Review, port, refusal, warning};
use crate::source::{Span, Spanned};

/// Refuses `tls` on a port that carries no TLS.
pub(super) fn check_protocol(
    protocol: Option<&Spanned<SmolStr>>,
    tls_key: Span,
    review: &mut Review<'_>,
) {
    let known = protocol.and_then(|protocol| port::protocol(protocol));
    if port::is_tls(known) {
        return;
    }
    let finding = refusal(tls_key, "`tls` needs the protocol `HTTPS` or `TLS`");
    review.push(match protocol {
        Some(protocol) => finding.because(protocol.span, "this protocol"),
        None => finding,
    });
}

pub(super) fn check(tls: &Spanned<ServerTls>, review: &mut Review<'_>) {
    let mode = tls.mode.as_ref().map(|mode| mode.value).unwrap_or_default();
    let sources = Sources::of(tls, review.version);
    check_version(tls, review);
    if mode == ServerTlsMode::IstioMutual {
        check_istio_mutual(tls, &sources, review);
        return;
    }
    check_unused(tls, mode, &sources, review);
    // Several sources are counted from 1.27 on.
    if review.version >= IstioVersion(27)
        && let [first, .., last] = sources.complete()[..]
    {
        review.push(
            refusal(last, "the server's certificate comes from several places")
                .because(first, "from here too")
                .help("keep one of `credentialName`, `credentialNames`, `tlsCertificates` and the pair of \
                       `serverCertificate` and `privateKey`"),
        );
    }
    let terminates = matches!(
        mode,
        ServerTlsMode::Simple | ServerTlsMode::Mutual | ServerTlsMode::OptionalMutual
    );
    if terminates && (sources.credential.is_some() || sources.credentials.is_some()) {
        return;
    }
    if terminates {
        check_files(tls, mode, &sources, review);
    }
    check_revocation(tls, mode, review);
}

/// Where the server's certificate is said to come from: the keys of the fields that are not empty.
struct Sources {
    certificate: Option<Span>,
    key: Option<Span>,
    credential: Option<Span>,
    credentials: Option<Span>,
    certificates: Option<Span>,
}

impl Sources {
    fn of(tls: &ServerTls, version: IstioVersion) -> Self {
        let text = |value: &Option<Spanned<SmolStr>>| {
            value.as_ref().filter(|it| !it.is_empty()).map(|it| it.key)
        };
        let plural = version >= IstioVersion(27);
        Self {
            certificate: text(&tls.server_certificate),
            key: text(&tls.private_key),
            credential: text(&tls.credential_name),
            credentials: tls
                .credential_names
                .as_ref()
                .filter(|it| plural && !it.is_empty())
                .map(|it| it.key),
            certificates: tls
                .tls_certificates
                .as_ref()
                .filter(|it| plural && !it.is_empty())
                .map(|it| it.key),
        }
    }

    fn complete(&self) -> Vec<Span> {
        let files = self.certificate.filter(|_| self.key.is_some());
        [files, self.credential, self.credentials, self.certificates]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Before TLS 1.2 there are no ciphers that Envoy offers by itself.
fn check_version(tls: &ServerTls, review: &mut Review<'_>) {
    let old = |version: &&Spanned<TlsProtocol>| {
        matches!(version.value, TlsProtocol::V1_0 | TlsProtocol::V1_1)
    };
    if let Some(version) = tls.min_protocol_version.as_ref().filter(old)
        && tls.cipher_suites.items().is_empty()
    {
        let text = format!(
            "`{}` cannot be spoken with the default `cipherSuites`, which need TLS 1.2",
            version.value.name()
        );
        review.push(
            warning(version.span, text)
                .help("set `cipherSuites`, or leave out `minProtocolVersion`"),
        );
    }
}

/// A server that passes TLS through shows no certificate.
fn check_unused(tls: &ServerTls, mode: ServerTlsMode, sources: &Sources, review: &mut Review<'_>) {
    let passes = matches!(
        mode,
        ServerTlsMode::Passthrough | ServerTlsMode::AutoPassthrough
    );
    let file = |file: &Option<Spanned<SmolStr>>| {
        file.as_ref().filter(|it| !it.is_empty()).map(|it| it.key)
    };
    let keys = [
        sources.certificate,
        sources.key,
        sources.credential,
        sources.credentials,
        sources.certificates,
        file(&tls.ca_certificates),
        file(&tls.ca_crl),
    ];
    let Some(key) = keys.into_iter().flatten().next().filter(|_| passes) else {
        return;
    };
    let text = format!(
        "the mode `{}` uses no certificate: TLS goes through as it is",
        mode.name()
    );
    let finding = warning(key, text).help("remove it, or set a mode that ends TLS");
    review.push(match &tls.mode {
        Some(mode) => finding.because(mode.span, "this mode"),
        None => finding,
    });
}

fn check_istio_mutual(tls: &ServerTls, sources: &Sources, review: &mut Review<'_>) {
    let ca = tls
        .ca_certificates
        .as_ref()
        .filter(|it| !it.is_empty())
        .map(|it| it.key);
    for (name, key) in [
        ("serverCertificate", sources.certificate),
        ("privateKey", sources.key),
        ("caCertificates", ca),
        ("tlsCertificates", sources.certificates),
        ("credentialName", sources.credential),
        ("credentialNames", sources.credentials),
    ] {
        let (Some(key), Some(mode)) = (key, &tls.mode) else {
            continue;
        };
        review.push(
            refusal(key, format!("the mode `ISTIO_MUTUAL` uses Istio's own certificates, so `{name}` cannot be set"))
                .because(mode.span, "this mode")
                .help(format!("remove `{name}`")),
        );
    }
}

fn check_files(
    tls: &Spanned<ServerTls>,
    mode: ServerTlsMode,
    sources: &Sources,
    review: &mut Review<'_>,
) {
    if mode != ServerTlsMode::Simple
        && tls
            .ca_certificates
            .as_ref()
            .is_none_or(|file| file.is_empty())
    {
        lacks(tls.key, "caCertificates", mode, review);
    }
    if sources.certificates.is_some() {
        for certificate in tls.tls_certificates.items() {
            for (name, file) in [
                ("serverCertificate", &certificate.server_certificate),
                ("privateKey", &certificate.private_key),
            ] {
                if file.as_ref().is_none_or(|file| file.is_empty()) {
                    lacks(certificate.key, name, mode, review);
                }
            }
        }
        return;
    }
    match (sources.certificate, sources.key) {
        (Some(_), Some(_)) => {}
        (Some(_), None) => lacks(tls.key, "privateKey", mode, review),
        (None, Some(_)) => lacks(tls.key, "serverCertificate", mode, review),
        (None, None) => review.push(
            refusal(tls.key, format!("the mode `{}` needs a certificate", mode.name()))
                .absent("credentialName")
                .help("name the secret as `credentialName`, or the files as `serverCertificate` and `privateKey`"),
        ),
    }
}

fn lacks(key: Span, name: &str, mode: ServerTlsMode, review: &mut Review<'_>) {
    review.push(
        refusal(key, format!("the mode `{}` needs a `{name}`", mode.name()))
            .absent(name)
            .help("name the files, or the secret as `credentialName`"),
    );
}

fn check_revocation(tls: &ServerTls, mode: ServerTlsMode, review: &mut Review<'_>) {
    let Some(list) = tls.ca_crl.as_ref().filter(|file| !file.is_empty()) else {
        return;
    };
    if let Some(credential) = tls.credential_name.as_ref().filter(|name| !name.is_empty()) {
        review.push(
            refusal(list.key, "`caCrl` and `credentialName` exclude each other")
                .because(credential.key, "the secret brings the list")
                .help("put the list into the secret"),
        );
    }
    if mode == ServerTlsMode::Simple {
        review.push(
            refusal(
                list.key,
                "the mode `SIMPLE` asks for no client certificates, so `caCrl` cannot be set",
            )
            .help("remove `caCrl`, or set the mode to `MUTUAL`"),
        );
    }
}
