//! The servers of an egress gateway on the port at which a call arrives.

use std::collections::BTreeMap;

use super::Context;
use crate::egress::client::Client;
use crate::egress::gateway::{GatewayServer, MergedGateway};
use crate::egress::path::Hop;

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

    /// None where the hop is no gateway's. The port of the hop is one of the pod, to which the gateway's Service leads:
    /// Gateways may write another.
    pub(super) fn at(&mut self, hop: &Hop) -> Vec<&GatewayServer<'c>> {
        let (client, number) = (hop.client(), hop.call.port);
        if !client.is_gateway() {
            return Vec::new();
        }
        let model = self.cx.model;
        let gateway = self
            .known
            .entry(client.clone())
            .or_insert_with(|| MergedGateway::new(&model.gateways, &model.registry, client));
        let ports = gateway.ports.iter().filter(|it| it.port.number == number);
        let servers = ports.flat_map(|port| &port.servers);
        servers.filter_map(|at| gateway.servers.get(*at)).collect()
    }
}
