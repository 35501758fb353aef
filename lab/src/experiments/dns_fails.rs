//! DNS fails after it worked.

use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::dns::Says;
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E6: Experiment = Experiment {
    name: "E6",
    title: "DNS fails after it worked",
    run,
};

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for resolution in ["DNS", "DNS_ROUND_ROBIN"] {
        for (says, name) in [
            (Says::NxDomain, "NXDOMAIN"),
            (Says::Addresses(Vec::new()), "no record"),
            (Says::ServFail, "SERVFAIL"),
        ] {
            let goes = resolution == "DNS" && name != "SERVFAIL";
            let setup = Setup::dns("dns-fails", "HTTP", resolution);
            let host = setup.host().to_owned();
            let bench = Bench::start(lab, &[setup], 1, 1)?;
            let before = once(bench.entry(0), &host).0;
            bench.fail_dns(says);
            thread::sleep(Duration::from_secs(3));
            let after = once(bench.entry(0), &host).0;
            let told = |answer| served(answer).map_or("fails", |_| "serves");
            rows.push(Row::same(
                format!("`{resolution}`, {name}"),
                if goes {
                    "serves, then fails"
                } else {
                    "serves, then serves"
                },
                format!("{}, then {}", told(&before), told(&after)),
            ));
        }
    }
    Ok(rows)
}
