//! TLS on one side only, twice, or with a certificate of the client that the other side does not get.

use std::time::{Duration, Instant};

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::certificates::Authority;
use crate::client::{once, told};
use crate::report::Row;
use crate::setup::Setup;
use crate::tls_client;
use crate::tls_server::{Arrived, Then, TlsServer};

pub(crate) const E22: Experiment = Experiment {
    name: "E22",
    title: "TLS that the other side does not expect, or does not get",
    run,
};

const SIMPLE: &str = "{tls: {mode: SIMPLE}}";

/// What a rule names whose proxy lacks the files.
const MISSING: &str =
    "{tls: {mode: MUTUAL, clientCertificate: /lab/tls.crt, privateKey: /lab/tls.key}}";

/// For so long Envoy waits for a certificate before it serves, of what it had when it started.
const FETCH: Duration = Duration::from_secs(15);

/// What stands on the other side.
#[derive(Clone, Copy, Debug)]
enum Side<'a> {
    PlainText,
    /// A server of HTTP/1.1 over TLS, which may demand a certificate of this authority.
    Tls(Option<&'a Authority>),
}

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let (clients, strangers) = (Authority::new("clients")?, Authority::new("strangers")?);
    let (known, stranger) = (mutual(&clients)?, mutual(&strangers)?);
    let (known, stranger) = (known.as_str(), stranger.as_str());
    let (tls, demands) = (Side::Tls(None), Side::Tls(Some(&clients)));
    let mut rows = Vec::new();
    for (what, protocol, policy, side, said) in [
        (
            "TLS to a server in plain text, L7",
            "HTTP",
            SIMPLE,
            Side::PlainText,
            "503 URX,UF, 3 connects failed",
        ),
        (
            "TLS to a server in plain text, L4",
            "TCP",
            SIMPLE,
            Side::PlainText,
            "cut, 1 connects failed",
        ),
        (
            "HTTP/1.1 in plain text to a TLS server",
            "HTTP",
            "",
            tls,
            "502 UPE, no TLS arrives",
        ),
        (
            "HTTP/2 in plain text to a TLS server",
            "HTTP2",
            "",
            tls,
            "503 UC, no TLS arrives",
        ),
        (
            "HTTP/1.1 over TLS",
            "HTTP",
            SIMPLE,
            tls,
            "200, ALPN http/1.1",
        ),
        (
            "HTTP/2 over TLS to a server that knows HTTP/1.1",
            "HTTP2",
            SIMPLE,
            tls,
            "503 URX,UF, 3 connects failed, ALPN h2",
        ),
        (
            "`SIMPLE` to a server that demands a certificate, L7",
            "HTTP",
            SIMPLE,
            demands,
            "503 UC, ALPN http/1.1",
        ),
        (
            "`SIMPLE` to a server that demands a certificate, L4",
            "TCP",
            SIMPLE,
            demands,
            "cut",
        ),
        (
            "`MUTUAL` with a certificate that it knows",
            "HTTP",
            known,
            demands,
            "200, ALPN http/1.1",
        ),
        (
            "`MUTUAL` with a certificate that it does not know",
            "HTTP",
            stranger,
            demands,
            "503 UC, ALPN http/1.1",
        ),
    ] {
        rows.push(Row::same(what, said, measure(lab, protocol, policy, side)?));
    }
    rows.push(twice(lab, "", "served, a request arrives")?);
    rows.push(twice(
        lab,
        SIMPLE,
        "no handshake, TLS arrives inside of TLS",
    )?);
    rows.extend(missing(lab)?);
    Ok(rows)
}

/// A server, and what the host's address leads to.
fn start(
    lab: &Lab,
    setup: Setup,
    clients: Option<&Authority>,
) -> anyhow::Result<(Bench, TlsServer)> {
    let identity = lab.public.sign(&[setup.host()])?;
    let server = TlsServer::start(&identity, clients)?;
    let mut bench = Bench::start(lab, &[setup], 1, 1)?;
    bench.address(1)?.lead_to(server.at)?;
    Ok((bench, server))
}

/// The policy with a certificate of a client that this authority knows.
fn mutual(authority: &Authority) -> anyhow::Result<String> {
    let (certificate, key) = authority.write(&authority.sign(&["client.lab.example"])?)?;
    Ok(format!(
        "{{tls: {{mode: MUTUAL, clientCertificate: {}, privateKey: {}}}}}",
        certificate.display(),
        key.display()
    ))
}

fn setup(protocol: &'static str, policy: &str) -> Setup {
    let setup = Setup::dns("misfit", protocol, "DNS");
    match policy {
        "" => setup,
        policy => setup.policy(policy),
    }
}

/// A request that the application makes in plain text.
fn measure(
    lab: &Lab,
    protocol: &'static str,
    policy: &str,
    side: Side<'_>,
) -> anyhow::Result<String> {
    let setup = setup(protocol, policy);
    let host = setup.host().to_owned();
    let (bench, server) = match side {
        Side::PlainText => (Bench::start(lab, &[setup], 1, 1)?, None),
        Side::Tls(clients) => {
            let (bench, server) = start(lab, setup, clients)?;
            (bench, Some(server))
        }
    };
    let mut measured = told(&once(bench.entry(0), &host).0);
    let failed = bench.stat(0, "upstream_cx_connect_fail")?;
    if failed > 0 {
        measured += &format!(", {failed} connects failed");
    }
    match server.and_then(|server| server.first()) {
        Some(Arrived::NoTls) => measured += ", no TLS arrives",
        Some(Arrived::Tls { alpn, .. }) if !alpn.is_empty() => {
            measured += &format!(", ALPN {}", alpn.join(" "));
        }
        _ => {}
    }
    Ok(measured)
}

/// A request that the application encrypts.
fn twice(lab: &Lab, policy: &str, said: &str) -> anyhow::Result<Row> {
    let setup = setup("TLS", policy);
    let host = setup.host().to_owned();
    let (bench, server) = start(lab, setup, None)?;
    let answer = tls_client::once(bench.entry(0), &host, &lab.public)?;
    let answer = answer.map_or("no handshake", |_| "served");
    let arrived = match server.first() {
        Some(Arrived::Tls { then, .. }) => match then {
            Then::Request => "a request arrives",
            Then::Tls => "TLS arrives inside of TLS",
            Then::Other | Then::Nothing => "nothing known arrives",
        },
        _ => "no TLS arrives",
    };
    let what = match policy {
        "" => "TLS of the application".to_owned(),
        policy => format!("TLS of the application, `{policy}`"),
    };
    Ok(Row::same(what, said, format!("{answer}, {arrived}")))
}

/// Nobody hands over the client's certificate.
fn missing(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let hosts = ["HTTP", "TCP"].map(|protocol| {
        let setup = Setup::dns(&protocol.to_lowercase(), protocol, "DNS");
        setup.policy(MISSING)
    });
    let start = Instant::now();
    let bench = Bench::start(lab, &hosts, 1, 1)?;
    let took = start.elapsed();
    let mut rows = vec![Row::new(
        "the files of `MUTUAL` are missing: the proxy serves",
        format!("after {} s", FETCH.as_secs()),
        format!("after {:.1} s", took.as_secs_f64()),
        took >= FETCH,
    )];
    for ((number, host), said) in (0..)
        .zip(&hosts)
        .zip(["503 URX,UF, 3 connects failed", "cut, 1 connects failed"])
    {
        let answer = once(bench.entry(number), host.host()).0;
        let failed = bench.stat(number.into(), "upstream_cx_connect_fail")?;
        rows.push(Row::same(
            format!("then, {}", if number == 0 { "L7" } else { "L4" }),
            said,
            format!("{}, {failed} connects failed", told(&answer)),
        ));
    }
    Ok(rows)
}
