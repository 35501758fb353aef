//! TCP without an address takes every connection to its port.

use std::collections::BTreeMap;

use super::port_name_not_protocol::by_name;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Host, Origin, Port, Resolution};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tcp-without-address",
        summary: "a TCP port without `addresses` listens on every address: it takes the connections of other hosts, too",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tcp-without-address.md"),
    },
    build: super::plain::<TcpWithoutAddress>,
};

#[derive(Debug, Default)]
pub(super) struct TcpWithoutAddress;

/// Ports on which nearly every client has connections to other hosts.
const CROWDED: [u32; 2] = [80, 443];

impl Check for TcpWithoutAddress {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        if cx.allocates_addresses() {
            return;
        }
        let entries = cx.definitions().iter();
        let entries =
            entries.filter(|it| it.origin == Origin::ServiceEntry && it.addresses.is_empty());
        for definition in entries {
            let Some(host) = definition.hosts.first() else {
                continue;
            };
            // A Service of that name has an address, and wins.
            let same = cx
                .model
                .registry
                .of_host_in(&host.name, definition.namespace());
            if same.into_iter().any(|it| it.origin == Origin::Kubernetes) {
                continue;
            }
            // Addresses are what all ports of the entry lack: one word for those that are alike.
            let mut alike: BTreeMap<_, Vec<&Port<'_>>> = BTreeMap::new();
            for port in &definition.ports {
                let sniffed = port.protocol.is_unsupported();
                if !(sniffed || port.protocol.is_tcp()) || port.protocol.is_tls() {
                    continue;
                }
                // Where the name says what has no need of an address, `protocol` is what is missing.
                let named = by_name(port);
                if sniffed && (named.is_http() || named.is_tls()) {
                    continue;
                }
                let crowded = CROWDED.contains(&port.number);
                let unresolved = definition.resolution == Resolution::Passthrough;
                let why = if sniffed {
                    Why::Sniffed
                } else if unresolved {
                    Why::Open
                } else if crowded {
                    Why::Crowded
                } else {
                    Why::Alone
                };
                let key = (why, port.protocol.name());
                alike.entry(key).or_default().push(port);
            }
            for ((why, protocol), ports) in alike {
                report(why, protocol, &ports, host, out);
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["tcp-port-conflict"]
    }
}

/// What it rests on that nothing else gets the connections.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// The port names no protocol: what is not HTTP is TCP.
    Sniffed,
    /// Where a connection goes the client says.
    Open,
    /// Clients have connections to other hosts on the port.
    Crowded,
    Alone,
}

/// So many ports are labelled.
const PORTS: usize = 16;

fn report(why: Why, protocol: &str, ports: &[&Port<'_>], host: &Host<'_>, out: &mut Findings) {
    let Some((first, others)) = ports.split_first() else {
        return;
    };
    let (name, several) = (&host.name, !others.is_empty());
    let carries = match (why, several) {
        (Why::Sniffed, false) => "names no protocol".to_owned(),
        (Why::Sniffed, true) => "name no protocol".to_owned(),
        (_, false) => format!("carries {protocol}"),
        (_, true) => format!("carry {protocol}"),
    };
    let message = match several {
        _ if why == Why::Open => format!(
            "{} {} of `{name}` {carries} without an address: with the resolution `NONE`, connections to any address get \
             out there, also under `REGISTRY_ONLY`",
            if several { "ports" } else { "port" },
            numbers(ports),
        ),
        false => format!(
            "port {} of `{name}` {carries} and has no address: its listener takes every connection to the port \
             that no other entry claims",
            first.number
        ),
        true => format!(
            "ports {} of `{name}` {carries} and have no address: their listeners take every connection that no other \
             entry claims",
            numbers(ports)
        ),
    };
    let basis = match why {
        Why::Sniffed => Basis::assuming("what clients send there is not HTTP"),
        Why::Open | Why::Crowded => Basis::Proven,
        Why::Alone if several => {
            Basis::assuming("clients also connect to other hosts on these ports")
        }
        Why::Alone => Basis::assuming("clients also connect to other hosts on this port"),
    };
    let place = |port: &Port<'_>| port.line();
    out.add(basis, place(first), message, |finding| {
        let finding = others.iter().take(PORTS).fold(finding, |finding, port| {
            finding.because(place(port), "this one, too")
        });
        finding.because(host.line, "the host that gets them").help(
            "give the entry `addresses`, or declare `TLS` or `HTTP` if that is what the port carries",
        )
    });
}

/// `1, 2 and 3`; of many the first ones.
fn numbers(ports: &[&Port<'_>]) -> String {
    const MOST: usize = 3;
    let mut all: Vec<String> = ports.iter().map(|it| it.number.to_string()).collect();
    if let Some(more) = ports.len().checked_sub(MOST).filter(|more| *more > 0) {
        all.truncate(MOST);
        all.push(format!("{more} more"));
    }
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}
