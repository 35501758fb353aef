//! The only address is silent: how long a request hangs.

use std::net::SocketAddr;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E7: Experiment = Experiment {
    name: "E7",
    title: "how long a silent address holds a request",
    run,
};

/// The protocol of the port, a line of its route, and the seconds: a connect takes one.
const WAYS: [(&str, &str, u64); 4] = [
    ("HTTP", "", 3),
    ("HTTP", "retries: {attempts: 0}", 1),
    ("HTTP", "timeout: 2s", 2),
    ("TCP", "", 1),
];

/// Of so many requests, one after the other, the fastest counts: the machine may be busy.
const REQUESTS: usize = 2;

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (protocol, route, seconds) in WAYS {
        let setup = Setup::of_endpoints("silent", protocol, 1)
            .policy("{connectionPool: {tcp: {connectTimeout: 1s}}}");
        let setup = match route {
            "" => setup,
            route => setup.route(route),
        };
        let host = setup.host().to_owned();
        let mut bench = Bench::start(lab, &[setup], 1, 0)?;
        bench.address(1)?.fall_silent()?;
        let (served, took) = fastest(bench.entry(0), &host);
        let what = match (protocol, route) {
            ("TCP", _) => "L4".to_owned(),
            (_, "") => "L7, the default retries".to_owned(),
            (_, route) => format!("L7, `{route}`"),
        };
        // Envoy's clock ticks in milliseconds, and between two tries it waits some.
        let about = Duration::from_secs(seconds);
        let least = about.saturating_sub(Duration::from_millis(10));
        let holds = served == 0 && took >= least && took <= about + Duration::from_millis(500);
        rows.push(Row::new(
            what,
            format!("none served, after {seconds} s"),
            format!(
                "{served} of {REQUESTS} served, after {:.2} s",
                took.as_secs_f64()
            ),
            holds,
        ));
    }
    Ok(rows)
}

/// How many requests are served, and how long the fastest takes.
fn fastest(entry: SocketAddr, host: &str) -> (usize, Duration) {
    let answers: Vec<_> = (0..REQUESTS).map(|_| once(entry, host)).collect();
    let served = answers
        .iter()
        .filter(|(answer, _)| served(answer).is_some());
    let fastest = answers.iter().map(|(_, took)| *took).min();
    (served.count(), fastest.unwrap_or_default())
}
