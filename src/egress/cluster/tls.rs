//! What the proxy does to its connections to the upstream: plain text, TLS by a DestinationRule, or auto mTLS.

use smol_str::SmolStr;

use crate::egress::client::Client;
use crate::egress::facts::{ExplicitTls, TlsFacts, Traced};
use crate::egress::policy::Policy;
use crate::istio::decode::{Items, Rare};
use crate::istio::traffic::{ClientTls, ClientTlsMode};
use crate::source::Spanned;

/// What is known of the cluster when its TLS is decided.
pub(super) struct TlsInput<'m> {
    pub(super) policy: &'m Policy<'m>,
    pub(super) client: &'m Client,
    /// The rule has a workload selector.
    pub(super) selective: bool,
    /// The names of the service's certificate: its `subjectAltNames` and the accounts of its endpoints.
    pub(super) service_accounts: &'m dyn Fn() -> Traced<Vec<String>>,
    /// Defined by a ServiceEntry.
    pub(super) external_registry: bool,
    pub(super) http2: bool,
    /// `resolution: DYNAMIC_DNS`.
    pub(super) dynamic: bool,
    /// Mutual TLS is on offer where no rule says otherwise.
    pub(super) auto_mtls: bool,
    /// `ORIGINAL_DST`: the proxy does not know its endpoints.
    pub(super) original_destination: bool,
    /// `outbound_.443_.subset_.host`.
    pub(super) istio_sni: String,
}

/// The transport socket, and whether Envoy derives SNI and names to verify from each request.
pub(super) struct Tls {
    pub(super) facts: Traced<Option<TlsFacts>>,
    pub(super) auto_sni: bool,
    pub(super) auto_san: bool,
}

impl Tls {
    fn none(facts: Traced<Option<TlsFacts>>) -> Self {
        Self {
            facts,
            auto_sni: false,
            auto_san: false,
        }
    }
}

pub(super) fn tls(input: &TlsInput<'_>) -> Tls {
    let Some(block) = input.policy.tls else {
        return without_rule(input);
    };
    let settings = &block.value;
    let mode = settings
        .mode
        .as_ref()
        .map(|mode| mode.value)
        .unwrap_or_default();
    let mode_line = settings.mode.as_ref().map_or(block.key, |mode| mode.span);
    // Istio would have to hand the secret to every sidecar.
    let withheld = settings
        .credential_name
        .as_ref()
        .filter(|name| !name.value.is_empty() && !name.value.starts_with("configmap://"))
        .filter(|_| !input.client.is_gateway() && !input.selective);
    match mode {
        ClientTlsMode::Disable => Tls::none(Traced::line(None, mode_line)),
        ClientTlsMode::IstioMutual => {
            istio_mutual(input, settings, Traced::line(mode.name(), mode_line))
        }
        ClientTlsMode::Simple | ClientTlsMode::Mutual => match withheld {
            Some(credential) => Tls::none(Traced::line(None, credential.span)),
            None => originate(input, settings, Traced::line(mode.name(), mode_line)),
        },
    }
}

fn without_rule(input: &TlsInput<'_>) -> Tls {
    if !input.auto_mtls {
        return Tls::none(match input.policy.taken_away("tls") {
            Some(lines) => Traced::lines(None, lines),
            None => Traced::default(
                None,
                "no tls in a DestinationRule: bytes pass as the client sends them",
            ),
        });
    }
    let reason = "auto mTLS: endpoints with a sidecar get mutual TLS";
    // The endpoints of such a cluster cannot be told apart, so that all get it.
    let facts = match input.original_destination {
        true => TlsFacts::from(ExplicitTls {
            mode: Traced::default(ClientTlsMode::IstioMutual.name(), reason),
            sni: Some(Traced::default(input.istio_sni.clone(), reason)),
            ca: Some(Traced::default("ROOTCA".to_owned(), reason)),
            sans: (input.service_accounts)(),
            alpn: mesh_alpn(input.http2),
            client_certificate: Some(Traced::default("default".to_owned(), reason)),
        }),
        false => TlsFacts::Auto {
            matches: vec!["tlsMode-istio", "tlsMode-disabled"],
            sni: Some(input.istio_sni.clone()),
        },
    };
    Tls {
        facts: Traced::default(Some(facts), reason),
        // For DYNAMIC_DNS the name comes with each request.
        auto_sni: input.dynamic,
        auto_san: input.dynamic,
    }
}

fn istio_mutual(input: &TlsInput<'_>, settings: &ClientTls, mode: Traced<&'static str>) -> Tls {
    let written = settings.sni.as_ref().filter(|sni| !sni.value.is_empty());
    // Empty for DYNAMIC_DNS: there the name comes with each request.
    let sni = match written {
        Some(sni) => Some(Traced::line(sni.value.to_string(), sni.span)),
        None => Some(mode.clone().map(|_| input.istio_sni.clone())).filter(|_| !input.dynamic),
    };
    let sans = match settings.subject_alt_names.items() {
        [] => (input.service_accounts)(),
        names => written_names(names),
    };
    let (auto_sni, auto_san) = match input.dynamic {
        true => automatic(input, settings, sans.value.is_empty()),
        false => (false, false),
    };
    let facts = ExplicitTls {
        sni,
        ca: Some(mode.clone().map(|_| "ROOTCA".to_owned())),
        sans,
        alpn: mesh_alpn(input.http2),
        client_certificate: Some(mode.clone().map(|_| "default".to_owned())),
        mode: mode.clone(),
    };
    Tls {
        facts: mode.map(|_| Some(TlsFacts::from(facts))),
        auto_sni,
        auto_san,
    }
}

/// SIMPLE or MUTUAL.
fn originate(input: &TlsInput<'_>, settings: &ClientTls, mode: Traced<&'static str>) -> Tls {
    let names = settings.subject_alt_names.items();
    let skip = settings
        .insecure_skip_verify
        .as_ref()
        .filter(|skip| skip.value);
    let (auto_sni, auto_san) = automatic(input, settings, names.is_empty());
    let sans = match names {
        [] if input.external_registry => (input.service_accounts)(),
        names => written_names(names),
    };
    let mutual = mode.value == ClientTlsMode::Mutual.name();
    let certificates = match text(&settings.credential_name) {
        Some(credential) => Some(from_secret(credential, mutual)),
        None => from_files(settings, mutual),
    };
    let Some((client_certificate, ca)) = certificates else {
        // Istio logs an error and leaves the cluster without TLS, after it has set what is automatic.
        return Tls {
            facts: mode.map(|_| None),
            auto_sni,
            auto_san,
        };
    };
    let facts = ExplicitTls {
        sni: text(&settings.sni),
        ca: Some(ca).filter(|_| skip.is_none()),
        sans: match skip {
            Some(skip) => Traced::line(Vec::new(), skip.span),
            None => sans,
        },
        alpn: if input.http2 {
            vec!["h2".to_owned()]
        } else {
            Vec::new()
        },
        client_certificate,
        mode: mode.clone(),
    };
    Tls {
        facts: mode.map(|_| Some(TlsFacts::from(facts))),
        auto_sni,
        auto_san,
    }
}

/// The value of a field that is not empty.
fn text(field: &Rare<SmolStr>) -> Option<Traced<String>> {
    let field = field.as_deref().filter(|field| !field.value.is_empty())?;
    Some(Traced::line(field.value.to_string(), field.span))
}

/// The client's certificate, and the authorities that are trusted.
type Certificates = (Option<Traced<String>>, Traced<String>);

fn from_secret(credential: Traced<String>, mutual: bool) -> Certificates {
    (
        mutual.then(|| credential.clone().map(|name| secret(&name))),
        credential.map(|name| secret(&format!("{name}-cacert"))),
    )
}

/// `None` where the client's certificate or its key is missing.
fn from_files(settings: &ClientTls, mutual: bool) -> Option<Certificates> {
    let files = match mutual {
        true => Some((
            text(&settings.client_certificate)?,
            text(&settings.private_key)?,
        )),
        false => None,
    };
    let files = files.map(|(certificate, key)| {
        let lines = certificate.spans().iter().chain(key.spans());
        Traced::lines(
            format!("file-cert:{}~{}", certificate.value, key.value),
            lines.copied(),
        )
    });
    let ca = match text(&settings.ca_certificates) {
        Some(path) => path.map(|path| format!("file-root:{path}")),
        None => Traced::default(
            "file-root:system".to_owned(),
            "no caCertificates: the proxy's own list",
        ),
    };
    Some((files, ca))
}

/// Whether Envoy takes the SNI from the request's host, and verifies the certificate against it.
fn automatic(input: &TlsInput<'_>, settings: &ClientTls, no_names: bool) -> (bool, bool) {
    let skip = settings
        .insecure_skip_verify
        .as_ref()
        .is_some_and(|skip| skip.value);
    let auto_sni = settings.sni.as_ref().is_none_or(|sni| sni.value.is_empty());
    let auto_san = !skip && (input.dynamic || auto_sni && no_names);
    (auto_sni, auto_san)
}

fn written_names(names: &[Spanned<SmolStr>]) -> Traced<Vec<String>> {
    Traced::lines(
        names.iter().map(|name| name.value.to_string()).collect(),
        names.iter().map(|name| name.span),
    )
}

/// How a credential is named between Istio and the proxy.
fn secret(credential: &str) -> String {
    match credential {
        "builtin://" => "default".to_owned(),
        "builtin://-cacert" => "ROOTCA".to_owned(),
        name if name.starts_with("builtin://") => "default".to_owned(),
        name if ["kubernetes://", "kubernetes-gateway://", "configmap://"]
            .iter()
            .any(|kind| name.starts_with(kind)) =>
        {
            name.to_owned()
        }
        name => format!("kubernetes://{name}"),
    }
}

fn mesh_alpn(http2: bool) -> Vec<String> {
    let names: &[&str] = if http2 {
        &["istio-peer-exchange", "istio", "h2"]
    } else {
        &["istio-peer-exchange", "istio"]
    };
    names.iter().map(|&name| name.to_owned()).collect()
}
