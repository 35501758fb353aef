//! A hash of requests where no requests are seen.

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E19: Experiment = Experiment {
    name: "E19",
    title: "a hash of requests on L4",
    run,
};

const CONNECTIONS: usize = 40;
/// At random each of two addresses gets at least so many: less is as likely as one in a million.
const LEAST: usize = 6;

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for hash in ["httpHeaderName: x-user", "httpQueryParameterName: user"] {
        let setup = Setup::dns("hash", "TCP", "DNS")
            .policy(&format!("{{loadBalancer: {{consistentHash: {{{hash}}}}}}}"));
        let host = setup.host().to_owned();
        let bench = Bench::start(lab, &[setup], 2, 2)?;
        let answers: Vec<_> = (0..CONNECTIONS)
            .map(|_| once(bench.entry(0), &host).0)
            .collect();
        let by = |address| {
            answers
                .iter()
                .filter(|it| served(it) == Some(address))
                .count()
        };
        let (one, other) = (by("192.0.2.1"), by("192.0.2.2"));
        rows.push(Row::new(
            format!("`consistentHash: {{{hash}}}`"),
            "each connection to any address",
            format!("{one} and {other} of {CONNECTIONS}"),
            one >= LEAST && other >= LEAST && one + other == CONNECTIONS,
        ));
    }
    Ok(rows)
}
