//! A ServiceEntry for UDP.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::protocol::Protocol;
use crate::egress::service::Origin;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "udp-port",
        summary: "a ServiceEntry with UDP ports only does nothing: UDP goes past the proxy",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/udp-port.md"),
    },
    build: super::plain::<UdpPort>,
};

#[derive(Debug, Default)]
pub(super) struct UdpPort;

impl Check for UdpPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let entries = cx.definitions().iter();
        for entry in entries.filter(|it| it.origin == Origin::ServiceEntry) {
            let mut others = entry
                .ports
                .iter()
                .filter(|port| port.protocol != Protocol::Udp);
            let (Some(first), None, Some(host)) =
                (entry.ports.first(), others.next(), entry.hosts.first())
            else {
                continue;
            };
            let message = format!(
                "this entry does nothing: UDP is not captured, so `{}` is reached past the proxy, and no policy and \
                 no `REGISTRY_ONLY` holds for it",
                super::host_and_port(&host.name, first.number)
            );
            let place = first.line();
            out.add(Basis::Proven, place, message, |finding| {
                finding.help("restrict UDP by a NetworkPolicy, and remove the entry; or declare the port `TCP` if it is")
            });
        }
    }
}
