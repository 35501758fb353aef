//! The listener of a router on one port of its pod.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::GatewayServer;
use super::merged::claim;
use super::routes::GatewayRoutes;
use crate::egress::filter_chain::{ChainMatch, Chains, FilterChain, Handling, Listener, Names};
use crate::egress::host::overlaps;
use crate::egress::l4_route::L4Route;
use crate::egress::listener::WILDCARD;
use crate::egress::proxy::Proxy;
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::{Items, List, Rare};
use crate::istio::proxy::ServerTlsMode;
use crate::istio::route::RouteDestination;
use crate::source::{Span, Spanned};

/// The listeners of a router on one port, by the address they stand on.
#[derive(Debug, Default)]
pub struct RouterListeners<'m> {
    by_bind: BTreeMap<String, Listener<'m>>,
}

impl<'m> RouterListeners<'m> {
    pub fn of(&self, address: IpAddr) -> Option<&Listener<'m>> {
        self.by_bind
            .get(&address.to_string())
            .or_else(|| self.by_bind.get(WILDCARD))
    }
}

/// The listeners on one port of the pod. One without any chain does not exist.
pub(in crate::egress) fn listeners<'m>(proxy: &Proxy<'m>, port: u32) -> RouterListeners<'m> {
    let merged = proxy.gateway();
    let mut by_bind: BTreeMap<String, Chains<'m>> = BTreeMap::new();
    let mut names: HashMap<String, String> = HashMap::default();
    for servers in merged
        .ports
        .iter()
        .filter(|servers| servers.port.number == port)
    {
        let own = servers
            .servers
            .iter()
            .filter_map(|&at| merged.servers.get(at));
        let plain_http = servers.route_name.as_ref().filter(|_| {
            own.clone()
                .next()
                .is_some_and(|server| server.protocol.is_http())
        });
        let chains = match plain_http {
            Some(route) => vec![FilterChain {
                when: ChainMatch::default(),
                ends_tls: false,
                handling: Handling::GatewayHttp(GatewayRoutes {
                    name: route.clone(),
                }),
                lines: own
                    .clone()
                    .next()
                    .map(GatewayServer::lines)
                    .unwrap_or_default(),
            }],
            None => own
                .flat_map(|server| chains(proxy, server, &mut names))
                .collect(),
        };
        let bind = match servers.port.bind.as_str() {
            "" => WILDCARD,
            bind => bind,
        };
        by_bind.entry(bind.to_owned()).or_default().append(chains);
    }
    RouterListeners {
        by_bind: by_bind
            .into_iter()
            .filter(|(_, chains)| !chains.is_empty())
            .map(|(bind, chains)| (bind, chains.into_gateway_listener()))
            .collect(),
    }
}

/// The chains of a server that is not plaintext HTTP. Which rules of VirtualServices it uses follows from what it
/// does with TLS.
fn chains<'m>(
    proxy: &Proxy<'m>,
    server: &GatewayServer<'m>,
    names: &mut HashMap<String, String>,
) -> Vec<FilterChain<'m>> {
    if server.ends_https() {
        let Some(route) = &server.route_name else {
            return Vec::new();
        };
        return vec![FilterChain {
            when: ChainMatch {
                server_names: server.server_names(),
                ..ChainMatch::default()
            },
            ends_tls: true,
            handling: Handling::GatewayHttp(GatewayRoutes {
                name: route.clone(),
            }),
            lines: server.lines(),
        }];
    }
    match server.tls_mode() {
        None => tcp_chain(proxy, server, Names::new(), false)
            .into_iter()
            .collect(),
        // Every cluster of the mesh by its own server name: none of them leads out of the mesh.
        Some(ServerTlsMode::AutoPassthrough) => Vec::new(),
        Some(ServerTlsMode::Passthrough) => tls_chains(proxy, server, names),
        Some(_) => tcp_chain(proxy, server, server.server_names(), true)
            .into_iter()
            .collect(),
    }
}

/// The first `tcp` rule that is for the server.
fn tcp_chain<'m>(
    proxy: &Proxy<'m>,
    server: &GatewayServer<'m>,
    server_names: Names<'m>,
    ends_tls: bool,
) -> Option<FilterChain<'m>> {
    let found = bound(proxy, server).into_iter().find_map(|service| {
        let mut rules = service.spec.tcp.items().iter();
        let rule = rules.find(|rule| {
            let conditions = rule.value.matches.items();
            let admits = |gateways, port| admits(server, service, gateways, port);
            conditions.is_empty()
                || conditions
                    .iter()
                    .any(|asked| admits(&asked.value.gateways, &asked.value.port))
        })?;
        Some((service, rule.value.route.items(), rule.key))
    });
    let (service, route, line) = found?;
    Some(FilterChain {
        when: ChainMatch {
            server_names,
            ..ChainMatch::default()
        },
        ends_tls,
        handling: l4(service, route, line, server.number),
        lines: server.lines(),
    })
}

/// One chain for each `tls` condition that is for the server and whose names no other has taken.
fn tls_chains<'m>(
    proxy: &Proxy<'m>,
    server: &GatewayServer<'m>,
    names: &mut HashMap<String, String>,
) -> Vec<FilterChain<'m>> {
    let mut chains = Vec::new();
    for service in bound(proxy, server) {
        for rule in service.spec.tls.items() {
            for asked in rule.value.matches.items() {
                if !admits(server, service, &asked.value.gateways, &asked.value.port) {
                    continue;
                }
                let asked_names = asked.value.sni_hosts.items().iter();
                let asked_names: Vec<&str> = asked_names.map(|name| name.value.as_str()).collect();
                let claimed = asked_names.iter().map(|name| (*name).to_owned()).collect();
                if claim(names, claimed, server.bind()) {
                    chains.push(FilterChain {
                        when: ChainMatch {
                            server_names: asked_names.into_iter().map(Cow::Borrowed).collect(),
                            ..ChainMatch::default()
                        },
                        ends_tls: false,
                        handling: l4(service, rule.value.route.items(), rule.key, server.number),
                        lines: server.lines(),
                    });
                }
            }
        }
    }
    chains
}

fn l4<'m>(
    service: &'m VirtualService<'m>,
    route: &'m [Spanned<RouteDestination>],
    line: Span,
    port: u32,
) -> Handling<'m> {
    Handling::Tcp(L4Route::Rule {
        service,
        route,
        line,
        port,
    })
}

/// The VirtualServices that are bound to the server's Gateway and have a host in common with the server.
fn bound<'m>(proxy: &Proxy<'m>, server: &GatewayServer<'m>) -> Vec<&'m VirtualService<'m>> {
    let services = &proxy.model.virtual_services;
    services
        .of_gateway(&server.binding(), proxy.scope.client.namespace())
        .into_iter()
        .filter_map(|at| services.get(at))
        .filter(|service| {
            server
                .hosts
                .iter()
                .filter(|host| host.is_for(service.namespace()))
                .any(|host| {
                    service
                        .hosts
                        .iter()
                        .any(|(own, _)| overlaps(own, host.name))
                })
        })
        .collect()
}

/// Of the conditions of an L4 rule a gateway only looks at its own name and its port, as the Gateway writes it.
fn admits(
    server: &GatewayServer<'_>,
    service: &VirtualService<'_>,
    gateways: &Rare<List<SmolStr>>,
    port: &Rare<i64>,
) -> bool {
    let port = port.as_ref().map_or(0, |port| port.value);
    let gateways = gateways.items();
    (port == 0 || port == i64::from(server.number))
        && (gateways.is_empty()
            || gateways.iter().any(|gateway| {
                Binding::parse(&gateway.value, service.namespace()).is(&server.binding())
            }))
}
