//! TCP to a large part of the internet.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::Origin;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "cidr-too-wide",
        summary: "a very wide range takes the TCP connections of other hosts on its ports",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/cidr-too-wide.md"),
    },
    build: super::plain::<CidrTooWide>,
};

#[derive(Debug, Default)]
pub(super) struct CidrTooWide;

/// A range that is wider than this many bits of prefix covers addresses of unrelated hosts. IPv4 and IPv6 alike:
/// no single owner outside of the registries has more.
const NARROWEST: u8 = 8;

impl Check for CidrTooWide {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx.definitions().iter();
        for definition in entries.filter(|it| it.origin == Origin::ServiceEntry) {
            let mut ports = definition.ports.iter();
            let Some(port) = ports.find(|it| it.protocol.is_tcp() && !it.protocol.is_tls()) else {
                continue;
            };
            let mut wide = definition
                .addresses
                .iter()
                .filter(|it| it.net.prefix_len() < NARROWEST);
            let Some(address) = wide.next() else { continue };
            let message = format!(
                "`{}` covers a large part of all addresses: every TCP connection to port {} there is taken by this entry, \
                 those of other hosts too",
                address.text, port.number
            );
            out.add(Basis::Proven, address.line, message, |finding| {
                let line = port.line();
                finding
                    .because(line, "taken as raw bytes")
                    .help("name the ranges that are needed, or let unknown hosts pass with `outboundTrafficPolicy: \
                           {mode: ALLOW_ANY}`")
            });
        }
    }
}
