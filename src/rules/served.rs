//! The hosts that Gateways have.

use crate::egress::host::overlaps;
use crate::egress::namespace::{Same, same};
use crate::egress::virtual_service::VirtualService;
use crate::istio::decode::Items;
use crate::istio::proxy::Gateway;
use crate::istio::resource::Resource;
use crate::source::Span;

/// With more hosts than this, of a VirtualService or of a Gateway, nothing is said.
pub(super) const HOSTS: usize = 64;

/// A host of a server, as the Gateway writes it: the namespace whose VirtualServices may be for it, or all.
pub(super) struct Served<'a> {
    only: Option<Option<&'a str>>,
    host: &'a str,
    pub(super) line: Span,
    /// The number of the server's port.
    pub(super) port: Option<Span>,
}

impl Served<'_> {
    pub(super) fn is_for(&self, routes: &VirtualService<'_>) -> bool {
        let admits = |only| same(only, routes.namespace()) != Same::No;
        self.only.is_none_or(admits) && self.has_host_of(routes)
    }

    pub(super) fn has_host_of(&self, routes: &VirtualService<'_>) -> bool {
        let mut hosts = routes.hosts.iter();
        hosts.any(|(host, _)| overlaps(host, self.host))
    }
}

/// The hosts of all servers of Gateways of one name.
pub(super) fn served<'a>(gateways: &[(&'a Resource, &'a Gateway)]) -> Vec<Served<'a>> {
    let hosts = gateways.iter().flat_map(|(resource, gateway)| {
        let servers = gateway.servers.items().iter();
        let hosts = servers.flat_map(|server| {
            let port = server.value.port.as_ref();
            let port = port.and_then(|port| port.value.number.as_ref());
            let hosts = server.value.hosts.items().iter();
            hosts.map(move |host| (host, port.map(|number| number.span)))
        });
        hosts.map(|(host, port)| {
            let (namespace, name) = match host.value.split_once('/') {
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, host.value.as_str()),
            };
            let only = match namespace {
                None | Some("*") => None,
                Some(".") => Some(resource.namespace()),
                named => Some(named),
            };
            Served {
                only,
                host: name,
                line: host.span,
                port,
            }
        })
    });
    hosts.take(HOSTS + 1).collect()
}
