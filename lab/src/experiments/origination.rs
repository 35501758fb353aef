//! TLS that the proxy originates: which name it asks for, and which certificate it takes.

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::certificates::{Authority, Identity};
use crate::client::{once, told};
use crate::report::Row;
use crate::setup::Setup;
use crate::tls_server::{Arrived, TlsServer};

pub(crate) const E21: Experiment = Experiment {
    name: "E21",
    title: "TLS origination: the name that is asked for, the certificate that is taken",
    run,
};

const HOST: &str = "tls.lab.example";
/// Another name by which an application may call.
const INTERNAL: &str = "partner.payments.svc.cluster.local";

/// What the server shows.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Own,
    Wildcard,
    Other,
    /// For both names.
    Both,
    Private,
    /// Neither the name nor the authority.
    Stranger,
}
use Shown::{Both, Other, Own, Private, Stranger, Wildcard};

/// What becomes of it.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Taken,
    /// Refused, by this counter of Envoy.
    Refused(&'static str),
}
use Fate::Taken;

const OTHER_NAME: Fate = Fate::Refused("fail_verify_san");
const UNKNOWN: Fate = Fate::Refused("fail_verify_error");

/// The protocol of the port, what `tls` says beside `mode: SIMPLE` (`CA` is the file of an authority of one's own), a
/// line of the ServiceEntry, the certificate, the SNI, and what becomes of it.
type Way = (
    &'static str,
    &'static str,
    &'static str,
    Shown,
    Option<&'static str>,
    Fate,
);

const OTHER: &str = "subjectAltNames: [other.lab.example]";
const PATTERN: &str = "subjectAltNames: ['*.lab.example']";

const WAYS: [Way; 20] = [
    ("HTTP", "", "", Own, Some(HOST), Taken),
    ("HTTP", "", "", Wildcard, Some(HOST), Taken),
    ("HTTP", "", "", Other, Some(HOST), OTHER_NAME),
    ("HTTP", "", "", Private, Some(HOST), UNKNOWN),
    ("HTTP", "sni: a.example", "", Own, Some("a.example"), Taken),
    (
        "HTTP",
        "sni: a.example",
        "",
        Other,
        Some("a.example"),
        Taken,
    ),
    ("HTTP", OTHER, "", Own, Some(HOST), OTHER_NAME),
    ("HTTP", OTHER, "", Other, Some(HOST), Taken),
    ("HTTP", PATTERN, "", Own, Some(HOST), OTHER_NAME),
    ("HTTP", PATTERN, "", Wildcard, Some(HOST), Taken),
    ("HTTP", "", OTHER, Own, Some(HOST), OTHER_NAME),
    ("HTTP", "", OTHER, Other, Some(HOST), OTHER_NAME),
    ("HTTP", "", OTHER, Both, Some(HOST), Taken),
    (
        "HTTP",
        "sni: a.example",
        OTHER,
        Other,
        Some("a.example"),
        Taken,
    ),
    ("HTTP", "caCertificates: CA", "", Private, Some(HOST), Taken),
    ("HTTP", "caCertificates: CA", "", Own, Some(HOST), UNKNOWN),
    (
        "HTTP",
        "insecureSkipVerify: true",
        "",
        Stranger,
        Some(HOST),
        Taken,
    ),
    ("TCP", "", "", Other, None, Taken),
    ("TCP", "sni: a.example", "", Other, Some("a.example"), Taken),
    (
        "TCP",
        "subjectAltNames: [tls.lab.example]",
        "",
        Other,
        None,
        OTHER_NAME,
    ),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let private = Authority::new("an authority of one's own")?;
    let certificates = Certificates {
        own: lab.public.sign(&[HOST])?,
        wildcard: lab.public.sign(&["*.lab.example"])?,
        other: lab.public.sign(&["other.lab.example"])?,
        both: lab.public.sign(&[HOST, "other.lab.example"])?,
        private: private.sign(&[HOST])?,
        stranger: private.sign(&["other.lab.example"])?,
    };
    let ca = private.file().display().to_string();
    let rows = WAYS
        .iter()
        .map(|way| measure(lab, way, HOST, &certificates, &ca));
    let mut rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
    let internal = ("HTTP", "", "", Own, Some(INTERNAL), OTHER_NAME);
    rows.push(measure(lab, &internal, INTERNAL, &certificates, &ca)?);
    Ok(rows)
}

struct Certificates {
    own: Identity,
    wildcard: Identity,
    other: Identity,
    both: Identity,
    private: Identity,
    stranger: Identity,
}

fn measure(
    lab: &Lab,
    &(protocol, tls, entry, shown, sni, fate): &Way,
    called: &str,
    certificates: &Certificates,
    ca: &str,
) -> anyhow::Result<Row> {
    let mode = match tls {
        "" => "mode: SIMPLE".to_owned(),
        tls => format!("mode: SIMPLE, {}", tls.replace("CA", ca)),
    };
    let mut setup = Setup::dns("tls", protocol, "DNS").policy(&format!("{{tls: {{{mode}}}}}"));
    if !entry.is_empty() {
        setup = setup.entry(entry);
    }
    let mut bench = Bench::start(lab, &[setup], 1, 1)?;
    let (certificate, of) = match shown {
        Own => (&certificates.own, "of its own"),
        Wildcard => (&certificates.wildcard, "for `*.lab.example`"),
        Other => (&certificates.other, "for another name"),
        Both => (&certificates.both, "for both names"),
        Private => (&certificates.private, "of an unknown authority"),
        Stranger => (
            &certificates.stranger,
            "of an unknown authority for another name",
        ),
    };
    let server = TlsServer::start(certificate, None)?;
    bench.address(1)?.lead_to(server.at)?;
    let answer = once(bench.entry(0), called).0;
    let mut measured = format!("{}, {}", name(server.first()), told(&answer));
    for counter in ["fail_verify_san", "fail_verify_error"] {
        let count = bench.stat(0, &format!("ssl.{counter}"))?;
        if count > 0 {
            measured += &format!(", {counter} {count}");
        }
    }
    let ends = match (fate, protocol) {
        (Taken, _) => "200".to_owned(),
        (Fate::Refused(counter), "HTTP") => format!("503 URX,UF, {counter} 3"),
        (Fate::Refused(counter), _) => format!("cut, {counter} 1"),
    };
    let settings = [("", tls), ("the entry has ", entry)];
    let settings = settings.into_iter().filter(|(_, it)| !it.is_empty());
    let settings: Vec<String> = settings.map(|(of, it)| format!(", {of}`{it}`")).collect();
    let by = if called == HOST {
        String::new()
    } else {
        format!(", called `{called}`")
    };
    Ok(Row::same(
        format!("{protocol}{}{by}: a certificate {of}", settings.concat()),
        format!(
            "{}, {ends}",
            sni.map_or("no SNI".to_owned(), |sni| format!("SNI {sni}"))
        ),
        measured,
    ))
}

/// The name of the handshake.
fn name(arrived: Option<Arrived>) -> String {
    match arrived {
        Some(Arrived::Tls { sni: Some(sni), .. }) => format!("SNI {sni}"),
        Some(Arrived::Tls { sni: None, .. }) => "no SNI".to_owned(),
        Some(Arrived::NoTls) | None => "no handshake".to_owned(),
    }
}
