//! Two addresses, one of which refuses: which retries rescue a failed connect.

use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{Connection, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E2: Experiment = Experiment {
    name: "E2",
    title: "which retries rescue a failed connect",
    run,
};

const REQUESTS: usize = 100;

/// Rescued: at most so many fail. Not rescued: at least so many; half of them go to the address that refuses.
const RESCUED: usize = 5;
const LOST: usize = 25;

/// The `retries` of the route, and whether they rescue.
const POLICIES: [(&str, bool); 12] = [
    ("", true),
    ("retries: {attempts: 2, retryOn: connect-failure}", true),
    ("retries: {attempts: 2, retryOn: 5xx}", true),
    ("retries: {attempts: 2, retryOn: gateway-error}", true),
    ("retries: {attempts: 2, retryOn: reset}", true),
    (
        "retries: {attempts: 2, retryOn: reset-before-request}",
        true,
    ),
    ("retries: {attempts: 0}", false),
    ("retries: {attempts: 2, retryOn: \"503\"}", false),
    ("retries: {attempts: 2, retryOn: refused-stream}", false),
    (
        "retries: {attempts: 2, retryOn: \"unavailable,cancelled\"}",
        false,
    ),
    (
        "retries: {attempts: 2, retryOn: retriable-status-codes}",
        false,
    ),
    ("retries: {attempts: 2, retryOn: retriable-4xx}", false),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let hosts: Vec<Setup> = (0..)
        .zip(POLICIES)
        .map(|(number, (retries, _))| {
            let host = Setup::dns(&format!("retries-{number}"), "HTTP", "DNS");
            match retries {
                "" => host,
                retries => host.route(retries),
            }
        })
        .collect();
    let mut bench = Bench::start(lab, &hosts, 2, 2)?;
    bench.address(1)?.refuse();
    let mut rows = Vec::new();
    for (number, (host, (retries, rescues))) in (0..).zip(hosts.iter().zip(POLICIES)) {
        let mut connection = Connection::open(bench.entry(number))?;
        let mut failed = 0;
        for _ in 0..REQUESTS {
            let answer = connection.get(host.host(), "/", Duration::ZERO);
            failed += usize::from(served(&answer).is_none());
        }
        let what = match retries {
            "" => "the default".to_owned(),
            retries => format!("`{retries}`"),
        };
        let (said, holds) = match rescues {
            true => ("rescued", failed <= RESCUED),
            false => ("not rescued", failed >= LOST),
        };
        rows.push(Row::new(
            what,
            said,
            format!("{failed} of {REQUESTS} fail"),
            holds,
        ));
    }
    Ok(rows)
}
