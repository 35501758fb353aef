//! The servers of an egress gateway on the port at which a call arrives.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::Context;
use crate::egress::client::Client;
use crate::egress::gateway::{GatewayServer, MergedGateway};
use crate::egress::path::Hop;
use crate::istio::decode::Items;
use crate::istio::proxy::ServerTlsMode;
use crate::source::Spanned;

/// Remembers the gateways that were met.
pub(super) struct GatewayServers<'c> {
    cx: &'c Context<'c>,
    known: BTreeMap<Client, MergedGateway<'c>>,
}

impl<'c> GatewayServers<'c> {
    pub(super) fn new(cx: &'c Context<'c>) -> Self {
        Self {
            cx,
            known: BTreeMap::new(),
        }
    }

    /// None where the hop is no gateway's, or where its Services do not tell on which ports of the pod its servers stand.
    /// The port of the hop is one of the pod, to which the gateway's Service leads: Gateways may write another.
    pub(super) fn at(&mut self, hop: &Hop) -> Option<Vec<&GatewayServer<'c>>> {
        let (client, number) = (hop.client(), hop.call.port);
        if !client.is_gateway() {
            return None;
        }
        let model = self.cx.model;
        let gateway = self
            .known
            .entry(client.clone())
            .or_insert_with(|| MergedGateway::new(&model.gateways, &model.registry, client));
        let ports = gateway.ports.iter().filter(|it| it.port.number == number);
        let servers = ports.flat_map(|port| &port.servers);
        let servers = servers.filter_map(|at| gateway.servers.get(*at));
        (!gateway.ambiguous).then(|| servers.collect())
    }
}

/// So many hosts of servers are looked at on one port of a gateway.
const HOSTS: usize = 1000;

/// The hosts of the servers, which take TLS apart; `None` if one of another sort is among them.
pub(super) fn hosts_by_name(servers: &[&GatewayServer<'_>]) -> Option<Vec<Spanned<SmolStr>>> {
    let mut found = Vec::new();
    for server in servers {
        let mode = server
            .written
            .value
            .tls
            .as_ref()?
            .value
            .mode
            .as_ref()?
            .value;
        if matches!(
            mode,
            ServerTlsMode::Passthrough | ServerTlsMode::AutoPassthrough
        ) {
            return None;
        }
        for host in server.written.value.hosts.items() {
            let name = host.value.rsplit('/').next().unwrap_or_default();
            found.push(Spanned::new(
                name.to_lowercase().into(),
                host.span,
                host.key,
            ));
        }
        if found.len() > HOSTS {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}
