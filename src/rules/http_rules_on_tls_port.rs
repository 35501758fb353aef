//! A VirtualService with `http` rules for a host on which no HTTP is seen.

use super::context::{Defined, HOSTS};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Port};
use crate::istio::decode::Items;
use crate::istio::resource::Resource;
use crate::istio::route::VirtualService;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "http-rules-on-tls-port",
        summary: "`http` rules for a host whose ports carry TLS or TCP are not used",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/http-rules-on-tls-port.md"),
    },
    build: super::plain::<HttpRulesOnTlsPort>,
};

#[derive(Debug, Default)]
pub(super) struct HttpRulesOnTlsPort;

impl Check for HttpRulesOnTlsPort {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (resource, service) in cx.virtual_services() {
            let Some(http) = service.http.as_ref().filter(|http| !http.value.is_empty()) else {
                continue;
            };
            let Some(hosts) = hosts_without_http(cx, resource, service) else {
                continue;
            };
            let ports: Vec<&Port<'_>> = hosts.iter().flat_map(|h| &h.definition.ports).collect();
            let Some(first) = ports.first() else { continue };
            let message = format!(
                "the `http` section of this VirtualService is not used: port {} of `{}` carries {}, not HTTP",
                first.number,
                hosts.first().map_or("", |defined| defined.host),
                first.protocol.name(),
            );
            let basis = basis(cx, &hosts, &ports);
            out.add(basis, http.key, message, |mut finding| {
                for defined in hosts.iter().take(LABELS) {
                    finding = finding.because(defined.line, "the host of the rules");
                }
                for port in ports.iter().take(LABELS) {
                    let line = port.protocol_line.unwrap_or(port.number_line);
                    finding = finding.because(line, "the sidecar passes these bytes on unseen");
                }
                finding.help(match first.protocol.is_tls() {
                    true => {
                        "route by `sniHosts` under `tls`, or declare an `HTTP` port with `targetPort` 443 and let a \
                         DestinationRule originate TLS"
                    }
                    false => "route under `tcp`, or declare the port `HTTP` if that is what it carries",
                })
            });
        }
    }
}

/// More lines than that say nothing more.
const LABELS: usize = 3;

/// All hosts that the rules are for, if the sidecar sees HTTP on none of them; `None` otherwise, and where the rules
/// are also for a gateway or for a host that these files do not define.
fn hosts_without_http<'c>(
    cx: &'c Context<'_>,
    resource: &Resource,
    service: &VirtualService,
) -> Option<Vec<Defined<'c>>> {
    let gateways = service.gateways.items();
    if gateways.iter().any(|gateway| gateway.value != "mesh") {
        return None;
    }
    let mut all = Vec::new();
    for host in service.hosts.items() {
        let defined = cx.hosts_overlapping(&host.value, resource.namespace());
        let unseen = |defined: &Defined<'_>| {
            defined.definition.origin == Origin::ServiceEntry
                && defined
                    .definition
                    .ports
                    .iter()
                    .all(|port| port.protocol.is_tcp())
        };
        let some = !defined.is_empty() && defined.len() < HOSTS && all.len() < HOSTS;
        if !some || !defined.iter().all(unseen) {
            return None;
        }
        all.extend(defined);
    }
    Some(all)
}

/// Protocols that Istio does not know and that other controllers route by the `http` section.
const FOREIGN: [&str; 4] = ["brpc", "dubbo", "metaprotocol", "thrift"];

fn basis(cx: &Context<'_>, hosts: &[Defined<'_>], ports: &[&Port<'_>]) -> Basis {
    let foreign = |name: &str| name.split('-').any(|part| FOREIGN.contains(&part));
    if ports.iter().any(|port| foreign(port.name)) {
        return Basis::assuming("no other controller reads the section");
    }
    if hosts.iter().any(|defined| cx.originates_tls(defined.host)) {
        return Basis::assuming("nobody sends plain HTTP to a host for which TLS is originated");
    }
    Basis::Proven
}
