//! Rules by server name for a port that carries plain HTTP.

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::decode::Items;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "tls-routes-on-http-port",
        summary: "`tls` rules for a host without a TLS port are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/tls-routes-on-http-port.md"),
    },
    build: super::plain::<TlsRoutesOnHttpPort>,
};

#[derive(Debug, Default)]
pub(super) struct TlsRoutesOnHttpPort;

impl Check for TlsRoutesOnHttpPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let Some(tls) = service.tls.as_ref().filter(|it| !it.value.is_empty()) else {
                continue;
            };
            let gateways = service.gateways.items();
            if gateways.iter().any(|it| it.value != "mesh") {
                continue;
            }
            let hosts = service.hosts.items().iter();
            let mut defined = Vec::new();
            let mut complete = true;
            for host in hosts {
                let found = cx.hosts_overlapping(&host.value, resource.namespace());
                complete &= !found.is_empty();
                defined.extend(found);
            }
            let ports: Vec<&Port<'_>> =
                defined.iter().flat_map(|it| &it.definition.ports).collect();
            let external = defined
                .iter()
                .all(|it| it.definition.origin == Origin::ServiceEntry);
            let Some(first) = ports.first().filter(|_| complete && external) else {
                continue;
            };
            if ports.iter().any(|port| port.protocol.is_tls()) {
                continue;
            }
            let message = format!(
                "these `tls` rules are not used: port {} of `{}` carries {}, and they are for TLS ports only",
                first.number,
                defined.first().map_or("", |it| it.host),
                first.protocol.name(),
            );
            out.add(Basis::Proven, tls.key, message, |finding| {
                let ports = ports.iter().take(3);
                ports
                    .fold(finding, |finding, port| {
                        finding.because(port.protocol_line.unwrap_or(port.number_line), "no TLS is seen on this port")
                    })
                    .help("declare the port `TLS` if the application speaks TLS itself, or use `http` rules")
            });
        }
    }
}
