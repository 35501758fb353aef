//! An ejected address leaves the answer of DNS and comes back.

use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E18: Experiment = Experiment {
    name: "E18",
    title: "an ejected address leaves the answer and comes back",
    run,
};

/// When an answer has reached Envoy at the latest.
const FOLLOWED: Duration = Duration::from_secs(4);

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let setup = Setup::dns("returning", "HTTP", "DNS")
        .route("retries: {attempts: 0}")
        .policy(
            "{outlierDetection: {consecutive5xxErrors: 1, interval: 1s, baseEjectionTime: 60s, maxEjectionPercent: 100}}",
        );
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 2, 1)?;
    let entry = bench.entry(0);
    bench.address(1)?.refuse();
    let _ = once(entry, &host);
    let ejected = bench.stat(0, "outlier_detection.ejections_active")?;
    bench.address(1)?.serve()?;
    let still = once(entry, &host).0;
    bench.resolve_to(&[2]);
    thread::sleep(FOLLOWED);
    let other = once(entry, &host).0;
    bench.resolve_to(&[1]);
    thread::sleep(FOLLOWED);
    let back = once(entry, &host).0;
    let by = |answer| served(answer).unwrap_or("nobody").to_owned();
    Ok(vec![
        Row::same(
            "its first failure",
            "1 ejected",
            format!("{ejected} ejected"),
        ),
        Row::same(
            "it is well again, the ejection of 60 s runs",
            "served by nobody",
            format!("served by {}", by(&still)),
        ),
        Row::same(
            "the answer names another one",
            "served by 192.0.2.2",
            format!("served by {}", by(&other)),
        ),
        Row::same(
            "the answer names it again",
            "served by 192.0.2.1",
            format!("served by {}", by(&back)),
        ),
    ])
}
