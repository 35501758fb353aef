//! What becomes of one call.

mod result;
mod unknown;

use std::net::{IpAddr, Ipv4Addr};

use super::client::{Client, ProxyKind};
use super::facts::{CallError, CallResult, Handler, Outcome, Speaks, Traced};
use super::filter_chain::{Connection, FilterChain, Handling, Listener};
use super::gateway::routes::{GatewayHost, GatewayRoutes};
use super::host::service_of;
use super::http_route::{HttpPlace, default_route, routes};
use super::listener;
use super::proxy::Proxy;
use super::virtual_host::{RouteTable, VirtualHost, find, kubernetes_name};
use result::{act, error, finish, no_route, result};

/// The address of a call that names none: one that no resource names.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 77);

/// The port to which the traffic of a pod is redirected; nothing may connect to it directly.
const REDIRECTED: u32 = 15001;

/// A connection or request that a client makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub client: Client,
    /// What `Host` or SNI carries.
    pub host: String,
    /// The port that the client connects to; at a gateway, that of the listener on the pod.
    pub port: u32,
    pub speaks: Speaks,
    /// The IP that the client connects to; without it, one that no resource names.
    pub address: Option<IpAddr>,
    pub path: Option<String>,
}

impl Call {
    fn connection(&self) -> Connection<'_> {
        Connection {
            address: self.address.unwrap_or(IpAddr::V4(ELSEWHERE)),
            port: self.port,
            speaks: self.speaks,
            host: &self.host,
        }
    }

    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or("/")
    }
}

/// Which routes of an HTTP connection manager are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Routes {
    /// The one that takes the call's path.
    Taken,
    /// Those that some request of the call's host could take, so many of them.
    First(usize),
}

impl<'m> Proxy<'m> {
    /// What becomes of a call that this proxy gets.
    pub fn call(&self, call: &Call) -> CallResult {
        let mut results = self.results(call, Routes::Taken);
        results.pop().unwrap_or_else(no_route)
    }

    /// What can become of the call, whatever its path and headers: one result for each route, at most so many.
    pub fn every_route(&self, call: &Call, most: usize) -> Vec<CallResult> {
        self.results(call, Routes::First(most))
    }

    fn results(&self, call: &Call, wanted: Routes) -> Vec<CallResult> {
        let connection = call.connection();
        match self.scope.client.proxy {
            ProxyKind::Sidecar => {
                let listeners = self.listeners(call.port);
                let own = self.own_listener(call);
                match own.as_ref().or_else(|| listeners.of(connection.address)) {
                    Some(listener) => self.through(listener, call, wanted),
                    None if call.port == REDIRECTED => vec![self.blackhole()],
                    None => vec![self.unknown_host(call)],
                }
            }
            ProxyKind::Gateway => {
                let listeners = self.router_listeners(call.port);
                match listeners.of(connection.address) {
                    Some(listener) => self.through(listener, call, wanted),
                    None => vec![error(
                        None,
                        CallError::NoListener,
                        "no Gateway opens a listener on this port of the pod",
                    )],
                }
            }
        }
    }

    /// That of the Service which is called, on an address that no file gives.
    fn own_listener(&self, call: &Call) -> Option<Listener<'m>> {
        if call.address.is_some() {
            return None;
        }
        let host = call.host.trim_end_matches('.').to_lowercase();
        let host = match service_of(&host) {
            Some(_) => host,
            None => kubernetes_name(&host, self.scope.client.namespace())?,
        };
        let mut defined = self.model.registry.of_host(&host);
        let own = defined.any(|it| it.definition.gets_address());
        own.then(|| listener::of_service(self, &host, call.port))?
    }

    fn through(&self, listener: &Listener<'m>, call: &Call, wanted: Routes) -> Vec<CallResult> {
        match listener.chain(&call.connection()) {
            Ok(chain) => self.in_chain(chain, call, wanted),
            Err(_) => vec![error(
                None,
                CallError::NoFilterChain,
                "no filter chain of the listener takes the connection",
            )],
        }
    }

    fn in_chain(&self, chain: &FilterChain<'m>, call: &Call, wanted: Routes) -> Vec<CallResult> {
        let mut results = self.handled(chain, call, wanted);
        for result in &mut results {
            if result.handler_lines.is_empty() {
                result.handler_lines.clone_from(&chain.lines);
            }
        }
        results
    }

    fn handled(&self, chain: &FilterChain<'m>, call: &Call, wanted: Routes) -> Vec<CallResult> {
        let tls = call.speaks == Speaks::Tls;
        if chain.ends_tls && !tls {
            return vec![error(None, CallError::Protocol, "the listener expects TLS")];
        }
        let is_http = matches!(call.speaks, Speaks::Http | Speaks::Http2);
        let http = |results: Vec<CallResult>| match is_http || (chain.ends_tls && tls) {
            true => results,
            false => vec![error(
                Some(Handler::Http),
                CallError::Protocol,
                "the listener only speaks HTTP",
            )],
        };
        match &chain.handling {
            Handling::Http(table) => http(self.request(table, call, wanted)),
            Handling::GatewayHttp(routes) => http(self.gateway_request(routes, call, wanted)),
            Handling::Tcp(route) => {
                let facts = route.facts(self);
                vec![CallResult {
                    outcome: Traced::lines(Outcome::Forwarded, route.lines()),
                    clusters: facts.clusters,
                    tcp: Some(facts.tcp),
                    ..result(Outcome::Forwarded, Some(Handler::Tcp))
                }]
            }
            Handling::Unknown => vec![self.unknown_host(call)],
        }
    }

    fn request(&self, table: &RouteTable, call: &Call, wanted: Routes) -> Vec<CallResult> {
        let Some(found) = find(self, table, &call.host) else {
            return vec![error(
                Some(Handler::Http),
                CallError::NoVirtualHost,
                "no virtual host has the name",
            )];
        };
        let port = match &found {
            VirtualHost::Rules { host, .. } => {
                let services = self.services_on(table.port);
                services
                    .get(host)
                    .and_then(|service| service.port(table.port))
            }
            VirtualHost::Service { port, .. } => Some(*port),
            VirtualHost::Unknown => None,
        };
        let mut results = match found {
            VirtualHost::Rules { service, .. } => {
                let place = HttpPlace::in_sidecar(self, table, service.namespace());
                let mut all = routes(service, place.place()).enumerate();
                let act = |(at, route)| act(&place, &route, at == 0);
                match wanted {
                    Routes::First(most) => all.take(most).map(act).collect(),
                    Routes::Taken => {
                        let taken = all.find(|(_, it)| it.condition.matches_path(call.path()));
                        vec![taken.map_or_else(no_route, act)]
                    }
                }
            }
            VirtualHost::Service { service, port } => {
                vec![finish(default_route(self, &service, port), Vec::new())]
            }
            VirtualHost::Unknown => vec![self.unknown_request()],
        };
        // On a port that many services share, the protocol of the one that is meant says why it is HTTP.
        let line = port.map(|port| port.line());
        for result in &mut results {
            result.handler_lines.extend(line);
        }
        results
    }

    fn gateway_request(
        &self,
        table: &GatewayRoutes,
        call: &Call,
        wanted: Routes,
    ) -> Vec<CallResult> {
        let hosts = self.route_hosts(&table.name);
        let Some(host) = hosts.find(&call.host) else {
            // Without any virtual host there is one without routes for everything.
            return vec![match hosts.is_empty() {
                true => no_route(),
                false => error(
                    Some(Handler::Http),
                    CallError::NoVirtualHost,
                    "no virtual host of the Gateway has the name",
                ),
            }];
        };
        if host.requires_tls && call.speaks != Speaks::Tls {
            return vec![CallResult {
                outcome: Traced::default(
                    Outcome::Redirect,
                    "the server of the Gateway sets httpsRedirect",
                ),
                status: Some(301),
                ..result(Outcome::Redirect, Some(Handler::Http))
            }];
        }
        self.gateway_routes(host, call, wanted)
    }

    /// Routes that take everything come after those of all VirtualServices that do not.
    fn gateway_routes(
        &self,
        host: &GatewayHost<'m>,
        call: &Call,
        wanted: Routes,
    ) -> Vec<CallResult> {
        let mut found = Vec::new();
        let mut is_first = true;
        for takes_everything in [false, true] {
            for source in &host.sources {
                let binding = source.server.binding();
                let place = HttpPlace {
                    proxy: self,
                    listener_port: source.server.number,
                    port: source.server.number,
                    binding,
                    namespace: source.service.namespace(),
                };
                let routes = source.routes(place.place());
                for route in routes.filter(|it| it.condition.is_catch_all() == takes_everything) {
                    match wanted {
                        Routes::First(most) if found.len() < most => {
                            found.push(act(&place, &route, is_first));
                        }
                        Routes::First(_) => return found,
                        Routes::Taken if route.condition.matches_path(call.path()) => {
                            return vec![act(&place, &route, is_first)];
                        }
                        Routes::Taken => {}
                    }
                    is_first = false;
                }
            }
        }
        if found.is_empty() {
            found.push(no_route());
        }
        found
    }
}
