//! The sidecar ejects an egress gateway for what the gateway passes on.

use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, told};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E24: Experiment = Experiment {
    name: "E24",
    title: "outlier detection for an egress gateway whose host fails",
    run,
};

/// So many answers fill the count.
const ANSWERS: usize = 3;

/// When the thread that balances knows of an ejection at the latest.
const EJECTED: Duration = Duration::from_millis(200);

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (outlier, said) in [
        (
            "consecutive5xxErrors: 3, maxEjectionPercent: 100",
            "1 ejected, then 503 UH",
        ),
        (
            "consecutiveGatewayErrors: 3, consecutive5xxErrors: 0, maxEjectionPercent: 100",
            "1 ejected, then 503 UH",
        ),
        (
            "splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, consecutive5xxErrors: 0, maxEjectionPercent: 100",
            "0 ejected, then 503 URX,UF",
        ),
    ] {
        let setup = Setup::dns("behind", "HTTP", "DNS").over_gateway("");
        let setup = setup.gateway_policy(&format!(
            "{{outlierDetection: {{{outlier}, interval: 1s, baseEjectionTime: 60s}}}}"
        ));
        let host = setup.host().to_owned();
        let mut bench = Bench::start(lab, &[setup], 1, 1)?;
        bench.address(1)?.refuse();
        for _ in 0..ANSWERS {
            let _ = once(bench.entry(0), &host);
        }
        thread::sleep(EJECTED);
        let ejected = bench.stat(0, "outlier_detection.ejections_active")?;
        let next = once(bench.entry(0), &host).0;
        rows.push(Row::same(
            format!("`{outlier}`"),
            said,
            format!("{ejected} ejected, then {}", told(&next)),
        ));
    }
    Ok(rows)
}
