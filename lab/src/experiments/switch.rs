//! The GSLB moves the address while requests run and connections are kept.

use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use super::Experiment;
use crate::bench::{Bench, Lab};
use crate::client::{Answer, Connection, once, served};
use crate::report::Row;
use crate::setup::Setup;

pub(crate) const E1: Experiment = Experiment {
    name: "E1",
    title: "the GSLB moves the address",
    run,
};

/// How many requests follow the move on one kept connection, and how many on one of their own.
const REQUESTS: usize = 10;

/// How long the request runs that is there when the address moves.
const RUNNING: Duration = Duration::from_secs(8);
/// When it has reached the old address at the latest.
const SENT: Duration = Duration::from_secs(1);
/// When the answer has reached Envoy at the latest.
const FOLLOWED: Duration = Duration::from_secs(3);
/// Of two requests side by side neither ends before the other has begun.
const BESIDE: Duration = Duration::from_millis(500);

const OLD: &str = "192.0.2.1";
const NEW: &str = "192.0.2.2";

fn run(lab: &Lab) -> anyhow::Result<Vec<Row>> {
    let pins = lab.build.pins_logical_dns()?;
    let mut rows = Vec::new();
    for (protocol, layer) in [("HTTP", "L7"), ("TCP", "L4")] {
        for resolution in ["DNS", "DNS_ROUND_ROBIN"] {
            let pinned = pins && protocol == "HTTP" && resolution == "DNS_ROUND_ROBIN";
            // On L4 the application's own connection stays where it is.
            let kept = if protocol == "TCP" || pinned {
                OLD
            } else {
                NEW
            };
            let fresh = if pinned { OLD } else { NEW };
            let what = format!("`{resolution}`, {layer}");
            rows.extend(switch(
                lab,
                &what,
                Setup::dns("switch", protocol, resolution),
                kept,
                fresh,
            )?);
        }
    }
    Ok(rows)
}

fn switch(
    lab: &Lab,
    what: &str,
    setup: Setup,
    kept: &str,
    fresh: &str,
) -> anyhow::Result<Vec<Row>> {
    let host = setup.host().to_owned();
    let bench = Bench::start(lab, &[setup], 2, 1)?;
    let entry = bench.entry(0);
    // One connection stays idle while a request runs on the other.
    let mut connection = Connection::open(entry)?;
    let other = slow(entry, &host, BESIDE);
    connection.get(&host, "/", BESIDE)?;
    answer(other)?;
    let running = slow(entry, &host, RUNNING);
    thread::sleep(SENT);
    bench.resolve_to(&[2]);
    thread::sleep(FOLLOWED);
    let on_kept = (0..REQUESTS).map(|_| connection.get(&host, "/", Duration::ZERO));
    let on_kept = count(on_kept, kept);
    let on_fresh = count((0..REQUESTS).map(|_| once(entry, &host).0), fresh);
    let two = [slow(entry, &host, BESIDE), slow(entry, &host, BESIDE)];
    let mut two = two
        .into_iter()
        .map(answer)
        .collect::<io::Result<Vec<_>>>()?;
    two.sort_unstable();
    let running = answer(running)?;
    let all = |address: &str| format!("{REQUESTS} of {REQUESTS} by {address}");
    Ok(vec![
        Row::same(format!("{what}: the running request"), OLD, running),
        Row::same(
            format!("{what}: requests on the kept connection"),
            all(kept),
            on_kept,
        ),
        Row::same(format!("{what}: new connections"), all(fresh), on_fresh),
        // Only one finds an idle connection.
        Row::same(
            format!("{what}: two requests side by side"),
            format!("{fresh}, {NEW}"),
            two.join(", "),
        ),
    ])
}

/// A request that takes so long, on a connection of its own.
fn slow(entry: SocketAddr, host: &str, takes: Duration) -> thread::JoinHandle<io::Result<Answer>> {
    let host = host.to_owned();
    thread::spawn(move || Connection::open(entry)?.get(&host, "/", takes))
}

/// Who has answered it.
fn answer(request: thread::JoinHandle<io::Result<Answer>>) -> io::Result<String> {
    let answer = request
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("panicked")));
    Ok(served(&answer).unwrap_or("nobody").to_owned())
}

fn count(answers: impl Iterator<Item = io::Result<Answer>>, by: &str) -> String {
    let served = answers.filter(|answer| served(answer) == Some(by)).count();
    format!("{served} of {REQUESTS} by {by}")
}
