//! All ways that HTTP requests for a host can take in a sidecar: not the one of a call, but one for each route.

use super::facts::{RouteFacts, WeightedCluster};
use super::http_route::{HttpAction, HttpPlace, default_route, routes};
use super::proxy::Proxy;
use super::virtual_host::{RouteTable, VirtualHost, find};
use crate::source::Span;

/// A route that forwards.
#[derive(Clone, Debug)]
pub struct Way {
    pub clusters: Vec<WeightedCluster>,
    pub route: RouteFacts,
    /// Where its rule begins; empty where no VirtualService is for the host.
    pub rule: Vec<Span>,
}

impl<'m> Proxy<'m> {
    /// What decides over requests for `host` on `port`.
    pub fn http_host(&self, host: &str, port: u32) -> Option<VirtualHost<'m>> {
        find(self, &table(port), host)
    }

    /// The routes among which it sorts the requests of a port, in order.
    pub fn ways(&self, host: &VirtualHost<'m>, port: u32) -> Vec<Way> {
        match host {
            VirtualHost::Rules { service, .. } => {
                let place = HttpPlace::in_sidecar(self, &table(port), service.namespace());
                routes(service, place.place())
                    .filter_map(|route| way(place.action(&route), route.rule.lines().collect()))
                    .collect()
            }
            VirtualHost::Service { service, port } => {
                let way = way(default_route(self, service, port), Vec::new());
                way.into_iter().collect()
            }
            VirtualHost::Unknown => Vec::new(),
        }
    }
}

fn table(port: u32) -> RouteTable {
    RouteTable { port, only: None }
}

fn way(action: HttpAction, rule: Vec<Span>) -> Option<Way> {
    match action {
        HttpAction::Forward { clusters, route } => Some(Way {
            clusters,
            route: *route,
            rule,
        }),
        HttpAction::Redirect(_) | HttpAction::DirectResponse(_) | HttpAction::Nothing(_) => None,
    }
}
