//! What an HTTP route does with a request: its clusters, its time limit, its retries, what it rewrites.

use smol_str::SmolStr;

use super::client::ProxyKind;
use super::destination::{cluster_name, cluster_of};
use super::effective::EffectiveService;
use super::facts::{RouteFacts, Traced, WeightedCluster};
use super::http_match::{HttpMatch, Place};
use super::http_rule::{HttpRule, Target, Written};
use super::l4_route::only_one;
use super::proxy::Proxy;
use super::retry;
use super::service::Port;
use super::virtual_host::{RouteTable, route_port};
use super::virtual_service::{Binding, VirtualService};
use crate::istio::Items;
use crate::istio::decode::{Map, Rare};
use crate::istio::route::{Headers, Percent};
use crate::istio::traffic::{ConsistentHash, PortTrafficPolicy, TrafficPolicy};
use crate::source::{Span, Spanned};

/// A rule that has become a route, under one of its conditions.
#[derive(Clone, Copy, Debug)]
pub struct HttpRoute<'a> {
    pub service: &'a VirtualService<'a>,
    pub rule: HttpRule<'a>,
    pub condition: HttpMatch<'a>,
}

impl HttpRoute<'_> {
    /// The lines that had it chosen: where the rule begins, and of several conditions the one that holds. A single
    /// condition is none: without it the rule would be chosen, too.
    pub(super) fn lines(&self) -> impl Iterator<Item = Span> {
        let several = |written: Written<'_>| written.rule.value.matches.items().len() > 1;
        let own = self.condition.own.filter(|_| several(self.rule.own));
        let root = self.condition.root;
        let root = root.filter(|_| self.rule.root.is_some_and(several));
        let conditions = own.into_iter().chain(root).map(|half| half.written.key);
        self.rule.lines().chain(conditions)
    }
}

/// What a route does.
#[derive(Clone, Debug)]
pub enum HttpAction {
    Forward {
        clusters: Vec<WeightedCluster>,
        route: Box<RouteFacts>,
    },
    Redirect(Span),
    DirectResponse(Traced<u32>),
    /// Istio makes a route without an action, which Envoy refuses.
    Nothing(Span),
}

/// The routes that a VirtualService makes at a place, in order. What comes after one that takes everything is
/// left out.
pub fn routes<'a, 'p>(
    service: &'a VirtualService<'a>,
    place: Place<'p>,
) -> impl Iterator<Item = HttpRoute<'a>> + use<'a, 'p> {
    let mut ended = false;
    service
        .http()
        .flat_map(move |rule| {
            rule.routes(place).map(move |condition| HttpRoute {
                service,
                rule,
                condition,
            })
        })
        .take_while(move |route| {
            let take = !ended;
            ended |= route.condition.is_catch_all();
            take
        })
}

/// Where the routes of an HTTP connection manager are looked at from.
pub(super) struct HttpPlace<'p, 'm> {
    pub proxy: &'p Proxy<'m>,
    /// The port of the listener.
    pub listener_port: u32,
    /// The port that rules see.
    pub port: u32,
    pub binding: Binding<'p>,
    /// The namespace whose service of a host comes first: at a gateway, that of the VirtualService.
    pub namespace: Option<&'p str>,
}

impl<'p, 'm> HttpPlace<'p, 'm> {
    /// Behind a sidecar's listener. `namespace`: that of the VirtualService.
    pub(super) fn in_sidecar(
        proxy: &'p Proxy<'m>,
        table: &RouteTable,
        namespace: Option<&'p str>,
    ) -> Self {
        let listener = proxy.scope.listener_of(table.port);
        Self {
            proxy,
            listener_port: table.port,
            port: listener.map_or(table.port, |listener| route_port(listener, table.port)),
            binding: Binding::Mesh,
            namespace,
        }
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place {
            port: self.port,
            binding: self.binding,
            client: &self.proxy.scope.client,
        }
    }

    pub(super) fn action(&self, route: &HttpRoute<'_>) -> HttpAction {
        let rule = &route.rule;
        if let Some(redirect) = rule.redirect() {
            let code = redirect.value.redirect_code.as_ref();
            return match code.map_or(301, |code| code.value) {
                0 | 301 | 302 | 303 | 307 | 308 => HttpAction::Redirect(redirect.key),
                _ => HttpAction::Nothing(code.map_or(redirect.key, |code| code.span)),
            };
        }
        if let Some(response) = rule.direct_response() {
            let status = response.value.status.as_ref();
            let value = status.and_then(|status| u32::try_from(status.value).ok());
            let line = status.map_or(response.key, |status| status.span);
            return HttpAction::DirectResponse(Traced::line(value.unwrap_or(0), line));
        }
        let clusters = self.clusters(rule);
        if clusters.is_empty() {
            return HttpAction::Nothing(rule.own.rule.key);
        }
        HttpAction::Forward {
            clusters,
            route: Box::new(self.facts(rule)),
        }
    }

    fn clusters(&self, rule: &HttpRule<'_>) -> Vec<WeightedCluster> {
        match rule.route() {
            [only] => rule
                .target(only)
                .map(|target| WeightedCluster {
                    name: self.cluster(&target),
                    weight: only_one(),
                })
                .into_iter()
                .collect(),
            several => several
                .iter()
                .filter_map(|entry| {
                    let weight = entry.value.weight.as_ref()?;
                    let share = u32::try_from(weight.value)
                        .ok()
                        .filter(|&share| share > 0)?;
                    Some(WeightedCluster {
                        name: self.cluster(&rule.target(entry)?),
                        weight: Traced::line(share, weight.span),
                    })
                })
                .collect(),
        }
    }

    fn cluster(&self, target: &Target<'_>) -> Traced<String> {
        let service = self.service(&target.host());
        let ports: Vec<u32> = service
            .iter()
            .flat_map(|service| service.ports().map(|port| port.number))
            .collect();
        // A sidecar's route table knows of a service only the port it is for.
        let ports = match self.proxy.scope.client.proxy {
            ProxyKind::Sidecar if self.port != 0 => vec![self.port],
            _ => ports,
        };
        let known = service.as_ref().map(|service| (&service.base, &*ports));
        cluster_of(target, known, self.port)
    }

    /// The service that a destination means.
    fn service(&self, host: &str) -> Option<EffectiveService<'m>> {
        match self.proxy.scope.client.proxy {
            ProxyKind::Sidecar => self
                .proxy
                .services_on(self.listener_port)
                .get(host)
                .cloned(),
            ProxyKind::Gateway => self.proxy.gateway_service(host, self.namespace),
        }
    }

    fn facts(&self, rule: &HttpRule<'_>) -> RouteFacts {
        let mesh = self.proxy.model.mesh.config;
        let hash = match rule.route() {
            [only] => rule
                .target(only)
                .and_then(|target| self.consistent_hash(&target)),
            _ => None,
        };
        let rewrite = rule.rewrite().map(|rewrite| &rewrite.value);
        let rewrites_by_regex = rewrite.is_some_and(|rewrite| rewrite.uri_regex_rewrite.is_some());
        let prefix = rewrite.and_then(|rewrite| rewrite.uri.as_ref());
        RouteFacts {
            timeout_ms: match rule.timeout() {
                Some(timeout) => Traced::line(timeout.value.millis(), timeout.span),
                None => Traced::default(0, "the route sets no timeout: Istio disables Envoy's"),
            },
            retry: retry::policy(rule.retries(), mesh, hash),
            host_rewrite: host_rewrite(rule),
            prefix_rewrite: prefix
                .filter(|prefix| !prefix.value.is_empty() && !rewrites_by_regex)
                .map(|prefix| Traced::line(prefix.value.to_string(), prefix.span)),
            mirrors: self.mirrors(rule),
        }
    }

    fn mirrors(&self, rule: &HttpRule<'_>) -> Vec<Traced<String>> {
        let share = |percent: Option<&Spanned<Percent>>| {
            let value = percent.map(|percent| percent.value.value.as_ref());
            value.map(|value| value.map_or(0.0, |value| value.value))
        };
        let whole = share(rule.mirror_percentage())
            .or(rule.mirror_percent().map(|percent| percent.value as f64));
        let mirror = rule.mirror().map(|target| (target, whole));
        let mirrors = rule
            .mirrors()
            .map(|(target, percent)| (target, share(percent)));
        mirror
            .into_iter()
            .chain(mirrors)
            .filter(|(_, share)| share.is_none_or(|share| share > 0.0))
            .map(|(target, _)| self.cluster(&target))
            .collect()
    }

    /// The line that sends requests of one kind to one host, so that retries stay there too.
    fn consistent_hash(&self, target: &Target<'_>) -> Option<Span> {
        let rule = self.proxy.destination_rule(&target.host())?;
        let subset = target.destination.subset.as_ref();
        let subset = rule.subset(subset.map_or("", |subset| &subset.value));
        let of_subset = subset.and_then(|subset| subset.value.traffic_policy.as_ref());
        let of_subset = of_subset.map(|policy| &policy.value);
        let whole = rule.traffic_policy().map(|policy| &policy.value);
        let port = target.port().map(|port| port.value);
        let at_port = |policy: Option<&'_ TrafficPolicy>| -> Option<Span> {
            let settings = policy?.port_level_settings.items();
            let entry = settings
                .iter()
                .find(|entry| number(entry) == port.unwrap_or(-1))?;
            hash_line(
                entry
                    .value
                    .load_balancer
                    .as_ref()
                    .map(|b| &b.value.consistent_hash),
            )
        };
        let of = |policy: Option<&'_ TrafficPolicy>| -> Option<Span> {
            hash_line(
                policy?
                    .load_balancer
                    .as_ref()
                    .map(|b| &b.value.consistent_hash),
            )
        };
        at_port(of_subset)
            .or_else(|| of(of_subset))
            .or_else(|| at_port(whole))
            .or_else(|| of(whole))
    }
}

fn number(entry: &Spanned<PortTrafficPolicy>) -> i64 {
    let port = entry.value.port.as_ref();
    let number = port.and_then(|port| port.value.number.as_ref());
    number.map_or(0, |number| number.value)
}

fn hash_line(hash: Option<&Rare<ConsistentHash>>) -> Option<Span> {
    hash?.as_ref().map(|hash| hash.key)
}

/// `literal:…`. The rewrite of the rule wins over its headers, those over the headers of its only destination.
fn host_rewrite(rule: &HttpRule<'_>) -> Option<Traced<String>> {
    let rewrite = rule
        .rewrite()
        .and_then(|rewrite| rewrite.value.authority.as_ref())
        .filter(|authority| !authority.value.is_empty());
    let own = rule.headers().and_then(|headers| authority(&headers.value));
    let of_destination = match rule.route() {
        [only] => only.value.headers.as_ref(),
        _ => None,
    };
    let of_destination = of_destination.and_then(|headers| authority(&headers.value));
    let found = rewrite.or(own).or(of_destination)?;
    Some(Traced::line(format!("literal:{}", found.value), found.span))
}

/// The value that header operations give `Host`; that of `set` before that of `add`.
fn authority(headers: &Headers) -> Option<&Spanned<SmolStr>> {
    let request = &headers.request.as_ref()?.value;
    [&request.set, &request.add]
        .into_iter()
        .flatten()
        .find_map(|operations| host_header(&operations.value))
}

fn host_header(operations: &Map<SmolStr>) -> Option<&Spanned<SmolStr>> {
    operations
        .iter()
        .filter(|(name, _)| {
            name.value.eq_ignore_ascii_case("host") || name.value.eq_ignore_ascii_case(":authority")
        })
        .map(|(_, value)| value)
        .find(|value| !value.value.is_empty())
}

/// The route to a service that no VirtualService is for.
pub(super) fn default_route(
    proxy: &Proxy<'_>,
    service: &EffectiveService<'_>,
    port: &Port<'_>,
) -> HttpAction {
    // The route table has the host in lower case, whatever the cluster is called.
    let host = service.base.host.name.to_lowercase();
    let lines = [service.base.host.line, port.number_line];
    HttpAction::Forward {
        clusters: vec![WeightedCluster {
            name: Traced::lines(cluster_name(port.number, "", &host), lines),
            weight: only_one(),
        }],
        route: Box::new(RouteFacts {
            timeout_ms: Traced::default(
                0,
                "no VirtualService is for the host: Istio disables Envoy's timeout",
            ),
            retry: retry::policy(None, proxy.model.mesh.config, None),
            host_rewrite: None,
            prefix_rewrite: None,
            mirrors: Vec::new(),
        }),
    }
}

/// The route for unknown hosts: no time limit and no retries.
pub(super) fn passthrough_facts() -> RouteFacts {
    RouteFacts {
        timeout_ms: Traced::default(0, "Istio sets no time limit for unknown hosts"),
        retry: Traced::default(None, "Istio retries nothing for unknown hosts"),
        host_rewrite: None,
        prefix_rewrite: None,
        mirrors: Vec::new(),
    }
}
