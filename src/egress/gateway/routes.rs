//! The virtual hosts of a router's HTTP connection manager.

use foldhash::HashMap;

use super::GatewayServer;
use crate::egress::host::{HostIndex, is_wildcard};
use crate::egress::http_match::Place;
use crate::egress::http_route::{HttpRoute, routes};
use crate::egress::namespace::{Same, same};
use crate::egress::proxy::Proxy;
use crate::egress::virtual_service::VirtualService;

/// Which servers' virtual hosts they are: those that share a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayRoutes {
    pub name: String,
}

/// The virtual hosts of the servers that share them.
#[derive(Debug, Default)]
pub struct RouteHosts<'m> {
    by_host: HashMap<String, GatewayHost<'m>>,
}

/// One virtual host of a router. All VirtualServices of a host add their routes.
#[derive(Debug, Default)]
pub struct GatewayHost<'m> {
    pub sources: Vec<RouteSource<'m>>,
    /// Requests without TLS get a redirect.
    pub requires_tls: bool,
}

/// A VirtualService as a server of a Gateway uses it.
#[derive(Clone, Debug)]
pub struct RouteSource<'m> {
    pub service: &'m VirtualService<'m>,
    pub server: GatewayServer<'m>,
}

impl<'m> RouteSource<'m> {
    pub(in crate::egress) fn routes<'p>(
        &self,
        place: Place<'p>,
    ) -> impl Iterator<Item = HttpRoute<'m>> + use<'m, 'p> {
        routes(self.service, place)
    }
}

impl<'m> RouteHosts<'m> {
    pub(in crate::egress) fn new(proxy: &Proxy<'m>, name: &str) -> Self {
        let merged = proxy.gateway();
        let services = &proxy.model.virtual_services;
        let mut out = Self::default();
        // A VirtualService has the same routes on all servers of a Gateway: those of the first.
        let mut first: HashMap<(usize, usize), GatewayServer<'m>> = HashMap::default();
        let numbers = merged.by_route.get(name).into_iter().flatten();
        for server in numbers.filter_map(|&at| merged.servers.get(at)) {
            let hosts = ServerHosts::new(server);
            let gateway = std::ptr::from_ref(server.gateway) as usize;
            let bound = services.of_gateway(&server.binding(), proxy.scope.client.namespace());
            for (at, service) in bound
                .into_iter()
                .filter_map(|at| Some((at, services.get(at)?)))
            {
                let common = hosts.in_common(service);
                if common.is_empty() {
                    continue;
                }
                let source = RouteSource {
                    service,
                    server: first
                        .entry((gateway, at))
                        .or_insert_with(|| server.clone())
                        .clone(),
                };
                let place = Place {
                    port: source.server.number,
                    binding: source.server.binding(),
                    client: &proxy.scope.client,
                };
                if source.routes(place).next().is_none() {
                    continue;
                }
                for host in common {
                    let virtual_host = out.by_host.entry(host.to_lowercase()).or_default();
                    virtual_host.sources.push(source.clone());
                    virtual_host.requires_tls |= server.redirects_to_https();
                }
            }
            if server.redirects_to_https() {
                for host in &server.hosts {
                    // Istio leaves the namespace where it is, and no request is for such a name.
                    let host = match host.only {
                        None => host.name.to_lowercase(),
                        Some(namespace) => format!("{}/{}", namespace.unwrap_or("."), host.name),
                    };
                    out.by_host.entry(host).or_default().requires_tls = true;
                }
            }
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.by_host.is_empty()
    }

    /// The virtual host for a request: that of its name, else that of the longest pattern that covers it.
    pub fn find(&self, host: &str) -> Option<&GatewayHost<'m>> {
        let host = host.to_lowercase();
        let patterns = host.char_indices().map(|(at, _)| at).skip(1);
        self.by_host.get(&host).or_else(|| {
            patterns
                .chain(std::iter::once(host.len()))
                .filter_map(|at| host.get(at..))
                .find_map(|suffix| self.by_host.get(&format!("*{suffix}")))
        })
    }
}

/// The hosts of a server, by the namespaces they are for.
struct ServerHosts<'m> {
    for_all: HostIndex<&'m str>,
    for_one: Vec<(Option<&'m str>, HostIndex<&'m str>)>,
}

impl<'m> ServerHosts<'m> {
    fn new(server: &GatewayServer<'m>) -> Self {
        let mut out = Self {
            for_all: HostIndex::default(),
            for_one: Vec::new(),
        };
        let mut hosts = server.hosts.clone();
        hosts.sort_by_key(|host| host.only);
        for host in hosts {
            match host.only {
                None => out.for_all.insert(host.name, host.name),
                Some(namespace) => {
                    if out
                        .for_one
                        .last()
                        .is_none_or(|(last, _)| *last != namespace)
                    {
                        out.for_one.push((namespace, HostIndex::default()));
                    }
                    if let Some((_, index)) = out.for_one.last_mut() {
                        index.insert(host.name, host.name);
                    }
                }
            }
        }
        out
    }

    /// The hosts that the server and a VirtualService have in common: of two that overlap the narrower.
    fn in_common(&self, service: &VirtualService<'m>) -> Vec<String> {
        let for_one = self
            .for_one
            .iter()
            .filter(|(namespace, _)| same(*namespace, service.namespace()) != Same::No);
        let indexes = std::iter::once(&self.for_all).chain(for_one.map(|(_, index)| index));
        let mut common: Vec<String> = Vec::new();
        for index in indexes {
            for (host, _) in &service.hosts {
                if index.covering(host).next().is_some() {
                    common.push(host.clone().into_owned());
                }
                if is_wildcard(host) {
                    let narrower = index.under(host).flatten();
                    common.extend(narrower.map(|host| (*host).to_owned()));
                }
            }
        }
        common.sort_unstable();
        common.dedup();
        common
    }
}
