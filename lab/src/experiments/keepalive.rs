//! Keepalive of less than a second: whether the kernel sends any probes.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{Connection, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E20: Experiment = Experiment {
    name: "E20",
    title: "keepalive of 0 seconds",
    run,
};

/// `tcpKeepalive`, and whether there are probes.
const TIMES: [(&str, bool); 3] = [
    ("time: 30s, interval: 5s", true),
    ("time: 500ms", false),
    ("time: 30s, interval: 500ms", false),
];

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (times, probes) in TIMES {
        let setup = Setup::dns("keepalive", "TCP", "DNS").policy(&format!(
            "{{connectionPool: {{tcp: {{tcpKeepalive: {{{times}}}}}}}}}"
        ));
        let host = setup.host().to_owned();
        let bench = Bench::start(lab, &[setup], 1, 1)?;
        let mut connection = Connection::open(bench.entry(0))?;
        let answer = connection.get(&host, "/", Duration::ZERO);
        let said = match (probes, lab.build.fails_without_keepalive_time()?) {
            (true, _) => "a keepalive timer",
            (false, true) => "no connection",
            (false, false) => "no timer",
        };
        let measured = match served(&answer) {
            None => "no connection",
            Some(_) if has_keepalive_timer(bench.place_of(1))? => "a keepalive timer",
            Some(_) => "no timer",
        };
        rows.push(Row::same(
            format!("`tcpKeepalive: {{{times}}}`"),
            said,
            measured,
        ));
    }
    Ok(rows)
}

/// Whether the kernel will probe the connection to an address, by its table of connections.
fn has_keepalive_timer(to: SocketAddr) -> anyhow::Result<bool> {
    let SocketAddr::V4(to) = to else {
        anyhow::bail!("{to} is no address of IPv4");
    };
    // The table writes the octets the other way around.
    let remote = format!("{:08X}:{:04X}", u32::from(*to.ip()).swap_bytes(), to.port());
    let table = std::fs::read_to_string("/proc/net/tcp")?;
    let mut connections = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let connection = connections
        .find(|it| it.get(2) == Some(&remote.as_str()) && it.get(3) == Some(&ESTABLISHED));
    let connection = connection.with_context(|| format!("there is no connection to {to}"))?;
    Ok(connection
        .get(5)
        .is_some_and(|timer| timer.starts_with(KEEPALIVE)))
}

const ESTABLISHED: &str = "01";
const KEEPALIVE: &str = "02:";
