//! A rule for a port that the Gateway does not have.

use smol_str::SmolStr;

use super::matches::{self, Holds};
use super::served::{HOSTS, served};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::{Items, List, Rare};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-port-mismatch",
        summary: "a rule for a gateway matches a port on which the Gateway has no server",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-port-mismatch.md"),
    },
    build: super::plain::<GatewayPortMismatch>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayPortMismatch;

impl Check for GatewayPortMismatch {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for routes in cx.model.virtual_services.iter() {
            for Holds { gateways, port } in matches::of_rules(routes.spec).flatten() {
                let Some(port) = port else { continue };
                let Some(servers) = servers(cx, gateways, routes) else {
                    continue;
                };
                if servers.iter().any(|(number, _)| *number == port.value) {
                    continue;
                }
                let listed: Vec<String> = servers
                    .iter()
                    .map(|(number, _)| number.to_string())
                    .collect();
                let message = format!(
                    "the Gateway has no server on port {}, only on {}: the rule never matches there",
                    port.value,
                    listed.join(", ")
                );
                out.add(Basis::Proven, port.span, message, |finding| {
                    let lines = servers.iter().take(3);
                    lines
                        .fold(finding, |finding, (_, line)| finding.because(*line, "a server's port"))
                        .help("match the port of the Gateway's server, which is not the port that the route leads to")
                });
            }
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// With more Gateways than this for one rule nothing is said.
const GATEWAYS: usize = 16;

/// The ports of all Gateways that a rule is for; `None` where it is for sidecars, too, one is not in the files, or none
/// has a host of the VirtualService: then the ports are not what is wrong.
fn servers(
    cx: &Context<'_>,
    gateways: &Rare<List<SmolStr>>,
    routes: &VirtualService<'_>,
) -> Option<Vec<(i64, Span)>> {
    let names = gateways.items();
    if names.len() > GATEWAYS {
        return None;
    }
    let mut found = Vec::new();
    let mut has_host = routes.hosts.len() > HOSTS;
    for name in names {
        let Binding::Gateway { namespace, name } = Binding::parse(&name.value, routes.namespace())
        else {
            return None;
        };
        let known = cx.model.gateways.named(namespace, name);
        if known.is_empty() {
            return None;
        }
        let served = served(&known);
        has_host |= served.len() > HOSTS || served.iter().any(|it| it.has_host_of(routes));
        for server in known
            .iter()
            .flat_map(|(_, gateway)| gateway.servers.items())
        {
            let port = server.value.port.as_ref()?.value.number.as_ref()?;
            found.push((port.value, port.span));
        }
    }
    (has_host && !found.is_empty()).then_some(found)
}
