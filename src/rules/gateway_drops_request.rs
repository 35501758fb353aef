//! A gateway that has nothing for what sidecars send it.

use super::gateway_servers::GatewayServers;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::CallError;
use crate::egress::gateway::GatewayServer;
use crate::egress::path::Hop;
use crate::istio::resource::Resource;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-drops-request",
        summary: "the egress gateway has no route for what sidecars send it, or expects another protocol",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-drops-request.md"),
    },
    build: super::plain::<GatewayDropsRequest>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayDropsRequest;

impl Check for GatewayDropsRequest {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        let mut servers = GatewayServers::new(cx);
        for path in traffic.paths() {
            let [.., sender, gateway] = path.hops.as_slice() else {
                continue;
            };
            let Some(error) = gateway
                .result
                .error
                .filter(|_| gateway.client().is_gateway())
            else {
                continue;
            };
            let servers = servers.at(gateway);
            let (Some(&sent), Some((port, server))) =
                (sent_by(sender).first(), port_of(&servers, gateway))
            else {
                continue;
            };
            // The rules for a Gateway whose name is not known yet may be there.
            if cx
                .model
                .gateways
                .of(gateway.client())
                .iter()
                .any(|(it, _)| is_unnamed(it))
            {
                continue;
            }
            let destination = super::host_and_port(&path.host, path.port);
            let (basis, what, help) = match error {
                CallError::Protocol => (
                    Basis::Proven,
                    "the server speaks another protocol".to_owned(),
                    "give the server of the Gateway the protocol of what is sent to it, or lead it to another port",
                ),
                CallError::NoRoute | CallError::NoVirtualHost => (
                    match cx.world.knows_all("VirtualService") {
                        true => Basis::Proven,
                        false => {
                            Basis::assuming("no VirtualService elsewhere has a route for it there")
                        }
                    },
                    format!("none of its routes on port {port} takes it"),
                    "write a rule for the gateway, whose `gateways` and `port` are those of the Gateway's server",
                ),
                CallError::NoListener | CallError::NoFilterChain => continue,
            };
            if !out.is_first(sent) {
                continue;
            }
            let message =
                format!("the gateway fails what is sent to it for `{destination}`: {what}");
            out.add(basis, server, message, |finding| {
                finding.because(sent, "it is sent from here").help(help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }

    fn yields_to(&self) -> &'static [&'static str] {
        &[
            "gateway-host-mismatch",
            "gateway-port-mismatch",
            "gateway-unknown",
            "tls-routes-on-terminating-server",
        ]
    }
}

/// Whether its name will be filled in.
fn is_unnamed(gateway: &Resource) -> bool {
    let name = gateway.meta.name.as_ref();
    name.is_none_or(|name| gateway.placeholders.contains(&name.span))
}

/// The port of the server that has it, and its line.
fn port_of(servers: &[&GatewayServer<'_>], gateway: &Hop) -> Option<(u32, Span)> {
    servers.iter().find_map(|server| {
        let port = server.written.value.port.as_ref()?;
        let line = port.value.protocol.as_ref().map(|it| it.span);
        let decides = line.is_some_and(|line| gateway.result.handler_lines.contains(&line));
        let number = port.value.number.as_ref().filter(|_| decides)?;
        Some((server.number, number.span))
    })
}

/// The lines that name where a hop sends it.
fn sent_by(hop: &Hop) -> &[Span] {
    let chosen = hop.result.clusters.get(hop.chosen);
    chosen.map_or(&[], |cluster| cluster.name.spans())
}
