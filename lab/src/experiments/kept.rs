//! An address falls silent under a kept HTTP/2 connection, and DNS moves on.

use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E15: Experiment = Experiment {
    name: "E15",
    title: "an address dies under kept connections, DNS moves 2 s later",
    run,
};

const REQUESTS: u32 = 48;
const EVERY: Duration = Duration::from_millis(250);
/// The request before which DNS moves.
const MOVES_AT: u32 = 8;
/// Where the move rescues, at most so many fail: those before it, those of one TTL and some that were on their way.
const BEFORE: usize = 20;

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let pins = lab.build.pins_logical_dns()?;
    let mut rows = Vec::new();
    for (resolution, all) in [("DNS", false), ("DNS_ROUND_ROBIN", pins)] {
        let failed = die(lab, resolution)?;
        let (said, holds) = match all {
            true => ("all fail, after the move too", failed == REQUESTS as usize),
            false => ("those before the move fail", failed > 0 && failed <= BEFORE),
        };
        rows.push(Row::new(
            format!("HTTP/2, `{resolution}`"),
            said,
            format!("{failed} of {REQUESTS} fail"),
            holds,
        ));
    }
    Ok(rows)
}

/// How many requests fail.
fn die(lab: &Lab, resolution: &'static str) -> anyhow::Result<usize> {
    let setup = Setup::dns("kept", "HTTP2", resolution)
        .route("timeout: 1s")
        .policy("{connectionPool: {tcp: {connectTimeout: 1s}}}");
    let host = setup.host().to_owned();
    let mut bench = Bench::start(lab, &[setup], 2, 1)?;
    let entry = bench.entry(0);
    let _ = once(entry, &host);
    bench.address(1)?.fall_silent()?;
    let mut running = Vec::new();
    for number in 0..REQUESTS {
        if number == MOVES_AT {
            bench.resolve_to(&[2]);
        }
        let host = host.clone();
        running.push(thread::spawn(move || {
            served(&once(entry, &host).0).is_some()
        }));
        thread::sleep(EVERY);
    }
    Ok(running
        .into_iter()
        .filter_map(|it| it.join().ok())
        .filter(|served| !served)
        .count())
}
