//! Logical DNS has one host: what becomes of several addresses in one answer, and of an ejection when the answer changes.

use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E5: Experiment = Experiment {
    name: "E5",
    title: "several addresses under LOGICAL_DNS",
    run,
};

const CONNECTIONS: usize = 6;

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (protocol, layer) in [("HTTP", "L7"), ("TCP", "L4")] {
        for (silent, timeout, failed, millis) in [
            (false, "1s", 0, 0),
            (true, "1s", 0, 300),
            (true, "0.2s", CONNECTIONS, 200),
        ] {
            let dead = if silent { "is silent" } else { "refuses" };
            let what = format!("{layer}, the first {dead}, `connectTimeout: {timeout}`");
            rows.push(measure(
                lab,
                what,
                setup(protocol, timeout),
                silent,
                failed,
                millis,
            )?);
        }
    }
    rows.push(eject_and_move(lab)?);
    Ok(rows)
}

fn setup(protocol: &'static str, timeout: &str) -> Setup {
    let setup = Setup::dns("several", protocol, "DNS_ROUND_ROBIN");
    let setup = setup.policy(&format!("{{connectionPool: {{tcp: {{connectTimeout: {timeout}}}, http: {{maxRequestsPerConnection: 1}}}}}}"));
    match protocol {
        "HTTP" => setup.route("retries: {attempts: 0}"),
        _ => setup,
    }
}

fn measure(
    lab: &Lab,
    what: String,
    setup: Setup,
    silent: bool,
    fail: usize,
    millis: u64,
) -> anyhow::Result<Row> {
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 2, 2)?;
    match silent {
        true => bench.address(1)?.fall_silent()?,
        false => bench.address(1)?.refuse(),
    }
    let (mut failed, mut fastest) = (0, Duration::MAX);
    for _ in 0..CONNECTIONS {
        let (answer, took) = once(bench.entry(0), &host);
        failed += usize::from(served(&answer).is_none());
        fastest = fastest.min(took);
    }
    let about = Duration::from_millis(millis);
    // Envoy's clock ticks in milliseconds, and the machine may be busy.
    let least = about.saturating_sub(Duration::from_millis(5));
    let most = about + Duration::from_millis(250);
    let said = format!(
        "{fail} of {CONNECTIONS} fail, after {:.1} s",
        about.as_secs_f64()
    );
    let measured = format!(
        "{failed} of {CONNECTIONS} fail, the fastest after {:.2} s",
        fastest.as_secs_f64()
    );
    Ok(Row::new(
        what,
        said,
        measured,
        failed == fail && fastest >= least && fastest <= most,
    ))
}

/// The one host is ejected for long, and then the answer moves to an address that lives.
fn eject_and_move(lab: &Lab) -> anyhow::Result<Row> {
    let setup = Setup::dns("ejected", "HTTP", "DNS_ROUND_ROBIN")
        .route("retries: {attempts: 0}")
        .policy(
            "{outlierDetection: {consecutive5xxErrors: 1, interval: 1s, baseEjectionTime: 60s, maxEjectionPercent: 100}}",
        );
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 2, 1)?;
    bench.address(1)?.refuse();
    let dead = once(bench.entry(0), &host).0;
    bench.resolve_to(&[2]);
    thread::sleep(Duration::from_secs(4));
    let moved = once(bench.entry(0), &host).0;
    let told = |answer| served(answer).map_or("fails", |_| "serves");
    let outlasts = lab.build.pins_logical_dns()?;
    Ok(Row::same(
        "the one host is ejected for 60 s, then the answer moves: 4 s later",
        format!("fails, then {}", if outlasts { "fails" } else { "serves" }),
        format!("{}, then {}", told(&dead), told(&moved)),
    ))
}
