//! The proxy speaks HTTP/2 with prior knowledge to a server that knows HTTP/1.1.

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::once;
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E17: Experiment = Experiment {
    name: "E17",
    title: "HTTP/2 to a server that knows HTTP/1.1",
    run,
};

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (upgrade, status) in [("DO_NOT_UPGRADE", 200), ("UPGRADE", 502)] {
        let setup = Setup::dns("upgrade", "HTTP", "DNS").policy(&format!(
            "{{connectionPool: {{http: {{h2UpgradePolicy: {upgrade}}}}}}}"
        ));
        let host = setup.host().to_owned();
        let bench = Bench::start(lab, &[setup], 1, 1)?;
        let answer = once(bench.entry(0), &host).0?;
        rows.push(Row::same(
            format!("`h2UpgradePolicy: {upgrade}`"),
            status.to_string(),
            answer.status.to_string(),
        ));
    }
    Ok(rows)
}
