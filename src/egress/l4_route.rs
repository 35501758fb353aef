//! What a TCP proxy does with a connection: which clusters it chooses from, and for how long it holds.

use smallvec::SmallVec;

use super::destination::{cluster_name, cluster_of};
use super::destination_rule::EffectiveRule;
use super::facts::{TcpFacts, Traced, WeightedCluster};
use super::http_rule::Target;
use super::proxy::Proxy;
use super::virtual_service::VirtualService;
use crate::istio::route::RouteDestination;
use crate::source::{Span, Spanned};

/// Where a TCP proxy leads.
#[derive(Clone, Debug)]
pub enum L4Route<'m> {
    /// To the service itself, as no VirtualService is for it.
    Service {
        host: &'m str,
        port: u32,
        /// Of the host and of the port.
        lines: [Span; 2],
    },
    /// A `tls` or `tcp` rule of a VirtualService.
    Rule {
        service: &'m VirtualService<'m>,
        route: &'m [Spanned<RouteDestination>],
        /// Where the rule begins.
        line: Span,
        /// The port that destinations without one mean.
        port: u32,
    },
}

/// The clusters and settings of a TCP proxy.
#[derive(Clone, Debug)]
pub struct L4Facts {
    pub clusters: Vec<WeightedCluster>,
    pub tcp: TcpFacts,
}

impl<'m> L4Route<'m> {
    /// The lines that lead there.
    pub(super) fn lines(&self) -> SmallVec<[Span; 2]> {
        match self {
            Self::Service { lines, .. } => SmallVec::from(*lines),
            Self::Rule { line, .. } => SmallVec::from_slice(&[*line]),
        }
    }

    pub(super) fn facts(&self, proxy: &Proxy<'m>) -> L4Facts {
        match self {
            Self::Service { host, port, lines } => {
                let name = Traced::lines(cluster_name(*port, "", host), *lines);
                L4Facts {
                    tcp: tcp_facts(proxy.destination_rule(host).as_ref()),
                    clusters: vec![WeightedCluster {
                        name,
                        weight: only_one(),
                    }],
                }
            }
            Self::Rule {
                service,
                route,
                port,
                ..
            } => rule_facts(proxy, service, route, *port),
        }
    }
}

/// The weight of a destination without others beside it.
pub(super) fn only_one() -> Traced<u32> {
    Traced::default(100, "the only destination takes everything")
}

fn rule_facts(
    proxy: &Proxy<'_>,
    virtual_service: &VirtualService<'_>,
    route: &[Spanned<RouteDestination>],
    port: u32,
) -> L4Facts {
    let namespace = virtual_service.namespace();
    let targets: Vec<_> = route
        .iter()
        .filter_map(|entry| {
            let destination = entry.value.destination.as_ref()?;
            let target = Target::new(&destination.value, destination.key, namespace);
            Some((target, entry.value.weight.as_ref()))
        })
        .collect();
    let cluster = |target: &Target<'_>| {
        let service = proxy.scope.service(&target.host());
        let ports: Vec<u32> = service
            .iter()
            .flat_map(|service| service.ports().map(|port| port.number))
            .collect();
        let known = service.as_ref().map(|service| (&service.base, &*ports));
        cluster_of(target, known, port)
    };
    // The settings are those of the first destination's rule, whatever its weight.
    let rule = targets
        .first()
        .and_then(|(target, _)| proxy.destination_rule(&target.host()));
    let clusters = match targets.as_slice() {
        [(target, _)] => vec![WeightedCluster {
            name: cluster(target),
            weight: only_one(),
        }],
        several => several
            .iter()
            .filter_map(|(target, weight)| {
                let weight = weight.filter(|weight| weight.value > 0)?;
                let share = u32::try_from(weight.value).ok()?;
                Some(WeightedCluster {
                    name: cluster(target),
                    weight: Traced::line(share, weight.span),
                })
            })
            .collect(),
    };
    L4Facts {
        clusters,
        tcp: tcp_facts(rule.as_ref()),
    }
}

/// Only the policy of the whole host counts here, not that of a port or a subset.
fn tcp_facts(rule: Option<&EffectiveRule<'_>>) -> TcpFacts {
    let tcp = rule
        .and_then(|rule| rule.traffic_policy())
        .and_then(|policy| policy.value.connection_pool.as_ref())
        .and_then(|pool| pool.value.tcp.as_ref());
    let millis = |duration: &Spanned<crate::istio::Duration>| {
        Traced::line(duration.value.millis(), duration.span)
    };
    TcpFacts {
        idle_timeout_ms: tcp
            .and_then(|tcp| tcp.value.idle_timeout.as_deref())
            .map(millis),
        max_connection_duration_ms: tcp
            .and_then(|tcp| tcp.value.max_connection_duration.as_deref())
            .map(millis),
    }
}
