//! Two addresses, one of which accepts connections and closes them: who notices, in plain text and over TLS.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;
use crate::tls_server::TlsServer;

pub(crate) const E16: Experiment = Experiment {
    name: "E16",
    title: "an address accepts TCP and is dead behind: it closes",
    run,
};

const REQUESTS: usize = 40;
/// Between two requests: an ejection takes some milliseconds to reach the thread that balances.
const EVERY: Duration = Duration::from_millis(50);
/// Nobody notices: at least so many fail; half of them go to the address that closes.
const LOST: usize = 10;

const SPLIT: &str = "splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, maxEjectionPercent: 50";

/// Where the proxy sees requests, where it originates TLS for them, and where it sees bytes.
const L7: &str = "L7";
const TLS: &str = "L7, TLS";
const L4: &str = "L4";

/// One of these, a line of the route, `outlierDetection` beside its times, and how many fail; `None` is half of them,
/// without end.
const WAYS: [(&str, &str, &str, Option<usize>); 8] = [
    (TLS, "", "", Some(0)),
    (TLS, "retries: {attempts: 0}", SPLIT, Some(3)),
    (L7, "", "", None),
    (
        L7,
        "retries: {attempts: 2, retryOn: \"gateway-error,connect-failure,refused-stream\"}",
        "",
        Some(0),
    ),
    (
        L7,
        "retries: {attempts: 0}",
        "consecutive5xxErrors: 3, maxEjectionPercent: 50",
        Some(3),
    ),
    (L7, "retries: {attempts: 0}", SPLIT, None),
    (L4, "", SPLIT, None),
    (
        L4,
        "",
        "consecutive5xxErrors: 3, maxEjectionPercent: 50",
        None,
    ),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let hosts: Vec<(Bench, String)> = WAYS
        .iter()
        .map(|&(layer, route, outlier, _)| start(lab, layer, route, outlier))
        .collect::<anyhow::Result<_>>()?;
    let failed: Vec<usize> = thread::scope(|scope| {
        let each = hosts.iter().map(|(bench, host)| {
            let entry = bench.entry(0);
            scope.spawn(move || failures(entry, host))
        });
        let each: Vec<_> = each.collect();
        each.into_iter()
            .map(|it| it.join().unwrap_or_default())
            .collect()
    });
    let rows = WAYS
        .into_iter()
        .zip(failed)
        .map(|((layer, route, outlier, fail), failed)| {
            let settings = [route, outlier].into_iter().filter(|it| !it.is_empty());
            let settings: Vec<String> = settings.map(|it| format!(", `{it}`")).collect();
            let (said, holds) = match fail {
                Some(count) => (format!("{count} fail"), failed == count),
                None => ("about half fail".to_owned(), failed >= LOST),
            };
            Row::new(
                format!("{layer}{}", settings.concat()),
                said,
                format!("{failed} of {REQUESTS} fail"),
                holds,
            )
        });
    Ok(rows.collect())
}

fn start(lab: &Lab, layer: &str, route: &str, outlier: &str) -> anyhow::Result<(Bench, String)> {
    let protocol = if layer == L4 { "TCP" } else { "HTTP" };
    let mut setup = Setup::dns("accepted", protocol, "DNS");
    if !route.is_empty() {
        setup = setup.route(route);
    }
    let mut policy = Vec::new();
    if layer == TLS {
        policy.push("tls: {mode: SIMPLE}".to_owned());
    }
    if !outlier.is_empty() {
        let times = "interval: 1s, baseEjectionTime: 60s";
        policy.push(format!("outlierDetection: {{{outlier}, {times}}}"));
    }
    if !policy.is_empty() {
        setup = setup.policy(&format!("{{{}}}", policy.join(", ")));
    }
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 2, 2)?;
    bench.address(1)?.close_at_once()?;
    if layer == TLS {
        let server = TlsServer::start(&lab.public.sign(&[&host])?, None)?;
        bench.address(2)?.lead_to(server.at)?;
    }
    Ok((bench, host))
}

/// How many of the requests fail, one after the other.
fn failures(entry: SocketAddr, host: &str) -> usize {
    let answers = (0..REQUESTS).map(|_| {
        thread::sleep(EVERY);
        once(entry, host).0
    });
    answers.filter(|answer| served(answer).is_none()).count()
}
