//! Two hosts on one address and port.

use super::tcp_port_conflict::clashes;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "address-conflict",
        summary: "two hosts share an address and a TCP port: one gets the connections of both",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/address-conflict.md"),
    },
    build: super::plain::<AddressConflict>,
};

#[derive(Debug, Default)]
pub(super) struct AddressConflict;

impl Check for AddressConflict {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for clash in clashes(cx, traffic, true, out) {
            let definitions = cx.model.registry.definitions();
            let declared = clash
                .path
                .declared
                .and_then(|it| definitions.get(it.definition));
            let Some(address) = declared.and_then(|it| it.addresses.first()) else {
                continue;
            };
            let message = format!(
                "connections to `{}` at {} on port {} go to `{}`, which has the same address",
                clash.path.host, address.text, clash.path.port, clash.other
            );
            out.add(Basis::Proven, address.line, message, |finding| {
                let other = clash.other_lines.into_iter();
                other
                    .fold(finding, |finding, [host, _]| {
                        finding.because(host, "the host that gets them")
                    })
                    .because(clash.port, "the port that both have")
                    .help("give each host an address of its own")
            });
        }
    }
}
