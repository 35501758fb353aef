//! TCP without an address takes every connection to its port.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Resolution};

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
            for port in &definition.ports {
                let sniffed = port.protocol.is_unsupported();
                if !(sniffed || port.protocol.is_tcp()) || port.protocol.is_tls() {
                    continue;
                }
                let crowded = CROWDED.contains(&port.number);
                let unresolved = definition.resolution == Resolution::Passthrough;
                let carries = match sniffed {
                    true => "names no protocol".to_owned(),
                    false => format!("carries {}", port.protocol.name()),
                };
                let message = format!(
                    "port {} of `{}` {carries} and has no address: its listener takes every connection to the port that \
                     no other entry claims",
                    port.number, host.name,
                );
                let basis = match crowded || unresolved {
                    _ if sniffed => Basis::assuming("what clients send there is not HTTP"),
                    true => Basis::Proven,
                    false => Basis::assuming("clients also connect to other hosts on this port"),
                };
                let place = port.protocol_line.unwrap_or(port.number_line);
                out.add(basis, place, message, |finding| {
                    finding
                        .because(host.line, "the host that gets them")
                        .help("give the entry `addresses`, or declare `TLS` or `HTTP` if that is what the port carries")
                });
            }
        }
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &["tcp-port-conflict"]
    }
}
