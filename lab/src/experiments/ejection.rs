//! Two addresses, one of which refuses, on L4: after how many failed connections it is ejected.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E3: Experiment = Experiment {
    name: "E3",
    title: "what ejects a dead address on L4",
    run,
};

const CONNECTIONS: usize = 60;

/// Between two connections: an ejection takes some milliseconds to reach the thread that balances.
const EVERY: Duration = Duration::from_millis(50);

/// Never ejected: at least so many connections fail; half of them go to the address that refuses.
const LOST: usize = 15;

/// `outlierDetection` beside its times, and the failed connections until it ejects; `None` is never.
const SETTINGS: [(&str, Option<usize>); 8] = [
    (
        "splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, maxEjectionPercent: 50",
        Some(3),
    ),
    ("consecutive5xxErrors: 3, maxEjectionPercent: 50", Some(3)),
    (
        "consecutiveGatewayErrors: 3, consecutive5xxErrors: 0, maxEjectionPercent: 50",
        Some(3),
    ),
    ("maxEjectionPercent: 50", Some(5)),
    (
        "splitExternalLocalOriginErrors: true, consecutive5xxErrors: 3, maxEjectionPercent: 50",
        Some(5),
    ),
    (
        "splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3",
        None,
    ),
    (
        "splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, maxEjectionPercent: 49",
        None,
    ),
    ("consecutive5xxErrors: 0, maxEjectionPercent: 50", None),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let hosts: Vec<Setup> = (0..)
        .zip(SETTINGS)
        .map(|(number, (settings, _))| {
            let host = Setup::dns(&format!("ejection-{number}"), "TCP", "DNS");
            host.policy(&format!(
                "{{outlierDetection: {{{settings}, interval: 1s, baseEjectionTime: 60s}}}}"
            ))
        })
        .collect();
    let mut bench = Bench::start(lab, &hosts, 2, 2)?;
    bench.address(1)?.refuse();
    let failed: Vec<usize> = thread::scope(|scope| {
        let each = (0..).zip(&hosts).map(|(number, host)| {
            let entry = bench.entry(number);
            scope.spawn(move || failures(entry, host.host()))
        });
        let each: Vec<_> = each.collect();
        each.into_iter()
            .map(|it| it.join().unwrap_or(CONNECTIONS))
            .collect()
    });
    let rows = SETTINGS
        .into_iter()
        .zip(failed)
        .map(|((settings, ejected_after), failed)| {
            let (said, holds) = match ejected_after {
                Some(count) => (format!("{count}, then ejected"), failed == count),
                None => ("never ejected".to_owned(), failed >= LOST),
            };
            Row::new(
                format!("`{settings}`"),
                said,
                format!("{failed} of {CONNECTIONS} fail"),
                holds,
            )
        });
    Ok(rows.collect())
}

/// How many of the connections fail, one after the other.
fn failures(entry: SocketAddr, host: &str) -> usize {
    let answers = (0..CONNECTIONS).map(|_| {
        thread::sleep(EVERY);
        once(entry, host).0
    });
    answers.filter(|answer| served(answer).is_none()).count()
}
