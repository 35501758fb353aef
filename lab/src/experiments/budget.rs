//! All hosts dead: how many of them outlier detection ejects.

use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::Connection;
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E4: Experiment = Experiment {
    name: "E4",
    title: "how many hosts may be ejected",
    run,
};

const HOSTS: [u8; 9] = [1, 2, 3, 4, 5, 9, 10, 11, 19];
const PERCENT: [u8; 7] = [10, 33, 34, 49, 50, 99, 100];

/// So many requests for each host: enough for every one to be tried.
const REQUESTS: u16 = 16;

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for hosts in HOSTS {
        rows.push(of(lab, hosts)?);
    }
    Ok(rows)
}

/// Each percentage is a host name of its own, with so many endpoints where nobody listens.
fn of(lab: &Lab, hosts: u8) -> anyhow::Result<Row> {
    let setups = PERCENT.map(|percent| {
        let host = Setup::of_endpoints(&format!("budget-{percent}"), "HTTP", hosts);
        host.route("retries: {attempts: 0}").policy(&format!(
            "{{outlierDetection: {{consecutive5xxErrors: 1, interval: 60s, baseEjectionTime: 60s, maxEjectionPercent: {percent}}}}}"
        ))
    });
    let bench = Bench::start(lab, &setups, 0, 0)?;
    let (mut said, mut measured) = (Vec::new(), Vec::new());
    for (number, (setup, percent)) in setups.iter().zip(PERCENT).enumerate() {
        let mut connection = Connection::open(bench.entry(u8::try_from(number)?))?;
        for _ in 0..REQUESTS * u16::from(hosts) {
            let _ = connection.get(setup.host(), "/", Duration::ZERO);
        }
        said.push(u64::from(hosts) * u64::from(percent) / 100);
        measured.push(bench.stat(number, "outlier_detection.ejections_active")?);
    }
    let percent = PERCENT.map(|it| it.to_string()).join(", ");
    let list = |counts: Vec<u64>| {
        counts
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    Ok(Row::same(
        format!("{hosts} hosts, {percent} %"),
        list(said),
        list(measured),
    ))
}
