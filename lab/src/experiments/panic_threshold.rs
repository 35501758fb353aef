//! All hosts ejected: whether requests fail at once or try an ejected host all the same.

use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E12: Experiment = Experiment {
    name: "E12",
    title: "all hosts ejected",
    run,
};

/// How long a connect to a silent host takes.
const CONNECT: Duration = Duration::from_millis(500);

/// `minHealthPercent`, and whether an ejected host is used.
const THRESHOLDS: [(&str, bool); 3] = [
    ("", false),
    (", minHealthPercent: 0", false),
    (", minHealthPercent: 50", true),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (threshold, used) in THRESHOLDS {
        let setup = Setup::of_endpoints("panic", "HTTP", 2).route("retries: {attempts: 0}").policy(&format!(
            "{{connectionPool: {{tcp: {{connectTimeout: 0.5s}}}}, outlierDetection: {{consecutive5xxErrors: 1, interval: 1s, baseEjectionTime: 60s, maxEjectionPercent: 100{threshold}}}}}"
        ));
        let host = setup.host().to_owned();
        let mut bench = Bench::start(lab, &[setup], 2, 0)?;
        for number in [1, 2] {
            bench.address(number)?.fall_silent()?;
        }
        // The first ones eject both.
        for _ in 0..6 {
            let _ = once(bench.entry(0), &host);
        }
        let (answer, took) = once(bench.entry(0), &host);
        let ejected = bench.stat(0, "outlier_detection.ejections_active")?;
        let tried = took >= CONNECT / 2;
        let said = if used {
            "a try that takes `connectTimeout`"
        } else {
            "fails at once"
        };
        let what = match threshold {
            "" => "no `minHealthPercent`".to_owned(),
            threshold => format!("`{}`", threshold.trim_start_matches(", ")),
        };
        let measured = format!(
            "{ejected} of 2 ejected, fails after {:.3} s",
            took.as_secs_f64()
        );
        let fails = served(&answer).is_none();
        rows.push(Row::new(
            what,
            said,
            measured,
            fails && ejected == 2 && tried == used,
        ));
    }
    Ok(rows)
}
