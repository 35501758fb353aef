//! What ends the pin of logical DNS to the address before the move.

use std::thread;
use std::time::{Duration, Instant};

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E10: Experiment = Experiment {
    name: "E10",
    title: "what ends the pin of a kept connection",
    run,
};

/// How long requests are watched after the move, how often one is sent, and how many there are on a slow machine.
const WATCHED: Duration = Duration::from_secs(9);
const EVERY: Duration = Duration::from_millis(200);
const LEAST: usize = 30;

/// `connectionPool`, and whether it ends the pin.
const LIMITS: [(&str, bool); 4] = [
    ("{http: {http1MaxPendingRequests: 1024}}", false),
    ("{http: {idleTimeout: 2s}}", false),
    ("{http: {maxRequestsPerConnection: 20}}", true),
    ("{tcp: {maxConnectionDuration: 5s}}", true),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let pins = lab.build.pins_logical_dns()?;
    let mut rows = Vec::new();
    for (limit, ends) in LIMITS {
        let setup = Setup::dns("pin", "HTTP", "DNS_ROUND_ROBIN")
            .policy(&format!("{{connectionPool: {limit}}}"));
        let host = setup.host().to_owned();
        let bench = Bench::start(lab, &[setup], 2, 1)?;
        let _ = once(bench.entry(0), &host);
        bench.resolve_to(&[2]);
        let start = Instant::now();
        let (mut first, mut failed, mut asked) = (None, 0, 0);
        while start.elapsed() < WATCHED || asked < LEAST {
            asked += 1;
            let answer = once(bench.entry(0), &host).0;
            match served(&answer) {
                Some("192.0.2.2") => first = first.or(Some(start.elapsed())),
                Some(_) => {}
                None => failed += 1,
            }
            thread::sleep(EVERY);
        }
        let reached = first.map_or("never the new address".to_owned(), |it| {
            format!("the new address after {:.1} s", it.as_secs_f64())
        });
        let said = if ends || !pins {
            "the new address"
        } else {
            "never the new address"
        };
        let holds = first.is_some() == (ends || !pins) && failed == 0;
        rows.push(Row::new(
            format!("`connectionPool: {limit}`"),
            said,
            format!("{reached}, {failed} fail"),
            holds,
        ));
    }
    Ok(rows)
}
