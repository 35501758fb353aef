//! Over an egress gateway: the tries of two proxies, and their time limits.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{Answer, Connection, grpc, once, told};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E23: Experiment = Experiment {
    name: "E23",
    title: "retries and time limits on both hops of an egress gateway",
    run,
};

/// `retries` at the sidecar and at the gateway, and how many connects the only address refuses.
const TRIES: [(&str, &str, u64); 9] = [
    ("", "", 3),
    ("retries: {attempts: 0}", "", 3),
    (
        "retries: {attempts: 2, retryOn: \"connect-failure,refused-stream,reset\"}",
        "",
        3,
    ),
    ("retries: {attempts: 2, retryOn: 5xx}", "", 9),
    ("retries: {attempts: 3, retryOn: gateway-error}", "", 12),
    (
        "retries: {attempts: 2, retryOn: \"503\"}",
        "retries: {attempts: 1}",
        6,
    ),
    ("retries: {attempts: 2, retryOn: \"500\"}", "", 3),
    (
        "retries: {attempts: 1, retryOn: 5xx}",
        "retries: {attempts: 4, retryOn: 5xx}",
        10,
    ),
    (
        "retries: {attempts: 2, retryOn: 5xx}",
        "retries: {attempts: 0}",
        3,
    ),
];

/// What the rules of the sidecar and of the gateway say, and how long a request takes whose server needs `SLOW`: the
/// seconds, and which time limits ended it, of the sidecar and of the gateway.
const LIMITS: [(&str, &str, u64, [u64; 2]); 4] = [
    ("timeout: 1s", "timeout: 3s", 1, [1, 0]),
    ("timeout: 3s", "timeout: 1s", 1, [0, 1]),
    ("", "timeout: 1s", 1, [0, 1]),
    (
        "retries: {attempts: 1, retryOn: 5xx}",
        "timeout: 1s",
        2,
        [0, 2],
    ),
];

const SLOW: Duration = Duration::from_secs(5);

/// What the rule of the sidecar says, and how long a request takes whose address is silent; a connect takes a second.
const SILENT: [(&str, u64, &str); 3] = [
    ("", 3, "503 URX,UF"),
    ("retries: {attempts: 1, retryOn: 5xx}", 6, "503 URX,UF"),
    ("timeout: 2s", 2, "504 UT"),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (sidecar, gateway, connects) in TRIES {
        let what = format!(
            "it refuses; sidecar {}, gateway {}",
            rule(sidecar),
            rule(gateway)
        );
        let measured = refused(lab, sidecar, gateway, |entry, host| once(entry, host).0)?;
        rows.push(Row::same(
            what,
            format!("503, {connects} connects"),
            measured,
        ));
    }
    let measured = refused(lab, "", "", grpc)?;
    let what = "it refuses; gRPC, both with the default";
    rows.push(Row::same(what, "200, 9 connects", measured));
    for (sidecar, gateway, seconds, ends) in LIMITS {
        rows.push(slow(lab, sidecar, gateway, seconds, ends)?);
    }
    for (sidecar, seconds, said) in SILENT {
        rows.push(silent(lab, sidecar, seconds, said)?);
    }
    Ok(rows)
}

/// A request whose address refuses: its status, and the connects that were made.
fn refused(
    lab: &Lab,
    sidecar: &str,
    gateway: &str,
    ask: impl Fn(SocketAddr, &str) -> io::Result<Answer>,
) -> anyhow::Result<String> {
    let setup = setup(sidecar, gateway);
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 1, 1)?;
    bench.address(1)?.refuse();
    let status = ask(bench.entry(0), &host)?.status;
    let connects = bench.stat_of_gateway(0, "upstream_cx_connect_fail")?;
    Ok(format!("{status}, {connects} connects"))
}

fn slow(
    lab: &Lab,
    sidecar: &str,
    gateway: &str,
    seconds: u64,
    ends: [u64; 2],
) -> anyhow::Result<Row> {
    let setup = setup(sidecar, gateway);
    let host = setup.host().to_owned();
    let bench = Bench::start(lab, &[setup], 1, 1)?;
    let start = Instant::now();
    let answer = Connection::open(bench.entry(0))?.get(&host, "/", SLOW);
    let took = start.elapsed();
    let ended = [
        bench.stat(0, "upstream_rq_timeout")?,
        bench.stat_of_gateway(0, "upstream_rq_timeout")?,
    ];
    let told = told(&answer);
    let by = |[sidecar, gateway]: [u64; 2]| format!("ended {sidecar} + {gateway} times");
    Ok(Row::new(
        format!(
            "it is slow; sidecar {}, gateway {}",
            rule(sidecar),
            rule(gateway)
        ),
        format!("504 UT after {seconds} s, {}", by(ends)),
        format!("{told} after {:.2} s, {}", took.as_secs_f64(), by(ended)),
        told == "504 UT" && ended == ends && is_about(took, seconds),
    ))
}

fn silent(lab: &Lab, sidecar: &str, seconds: u64, said: &str) -> anyhow::Result<Row> {
    let setup = setup(sidecar, "").policy("{connectionPool: {tcp: {connectTimeout: 1s}}}");
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 1, 1)?;
    bench.address(1)?.fall_silent()?;
    let (answer, took) = once(bench.entry(0), &host);
    let told = told(&answer);
    Ok(Row::new(
        format!("it is silent; sidecar {}", rule(sidecar)),
        format!("{said} after {seconds} s"),
        format!("{told} after {:.2} s", took.as_secs_f64()),
        told == said && is_about(took, seconds),
    ))
}

fn setup(sidecar: &str, gateway: &str) -> Setup {
    let setup = Setup::dns("hops", "HTTP", "DNS").over_gateway(gateway);
    match sidecar {
        "" => setup,
        line => setup.route(line),
    }
}

fn rule(line: &str) -> String {
    match line {
        "" => "with the default".to_owned(),
        line => format!("`{line}`"),
    }
}

/// Envoy's clock ticks in milliseconds, between two tries it waits some, and the machine may be busy.
fn is_about(took: Duration, seconds: u64) -> bool {
    let about = Duration::from_secs(seconds);
    took >= about.saturating_sub(Duration::from_millis(10))
        && took <= about + Duration::from_millis(800)
}
