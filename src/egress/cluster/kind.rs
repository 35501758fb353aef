//! How a cluster finds its endpoints: Envoy's discovery type.

use super::Plan;
use super::load_balancer::passthrough;
use crate::egress::facts::{ClusterType, DnsFacts, Traced};
use crate::egress::policy::Policy;
use crate::egress::service::{Definition, Origin, Resolution};
use crate::source::Span;

impl Plan<'_> {
    /// `None`: Istio leaves the cluster out, because it has no name to resolve.
    pub(super) fn cluster_type(&self) -> Option<Traced<ClusterType>> {
        let by_resolution = self.by_resolution();
        if self.dynamic {
            return Some(by_resolution);
        }
        let dns = matches!(
            by_resolution.value,
            ClusterType::StrictDns | ClusterType::LogicalDns
        );
        if dns && self.instances(None).is_empty() {
            return None;
        }
        let whole = self.whole_policy();
        let at_port = whole.map(|whole| Policy::at_port(&whole.value, self.port.number));
        let of_service =
            at_port.and_then(|policy| passthrough(policy.load_balancer.map(|block| &block.value)));
        let policy = self
            .subset
            .and_then(|subset| subset.value.traffic_policy.as_ref());
        let of_subset = policy.and_then(|policy| {
            passthrough(policy.value.load_balancer.as_ref().map(|lb| &lb.value))
        });
        if dns
            && self.subset.is_some()
            && of_service.or(of_subset).is_none()
            && self.instances(self.subset).is_empty()
        {
            return None;
        }
        // A subset stays what the whole service's cluster became.
        let applied = passthrough(self.policy.load_balancer.map(|block| &block.value));
        Some(match applied.or(of_service).or(of_subset) {
            Some(line) => Traced::line(ClusterType::OriginalDst, line),
            None => by_resolution,
        })
    }

    pub(super) fn by_resolution(&self) -> Traced<ClusterType> {
        let definition = self.service.definition;
        let race =
            connect_race(definition).filter(|_| self.model.mesh.version.knows_connect_strategy());
        let value = match definition.resolution {
            Resolution::Dns => match race {
                Some(line) => return Traced::line(ClusterType::LogicalDns, line),
                None => ClusterType::StrictDns,
            },
            Resolution::DnsRoundRobin => ClusterType::LogicalDns,
            // A gateway has no original destination to go to, and gets no endpoints.
            Resolution::Passthrough if !self.client.is_gateway() => ClusterType::OriginalDst,
            Resolution::DynamicDns if self.dynamic => ClusterType::DynamicForwardProxy,
            _ => ClusterType::Eds,
        };
        match (definition.resolution_line, definition.origin) {
            (Some(line), _) => Traced::line(value, line),
            (None, Origin::ServiceEntry) => Traced::default(value, "resolution is not set: NONE"),
            (None, Origin::Kubernetes) => {
                Traced::default(value, "a Service with a cluster IP: Istio lists its pods")
            }
        }
    }

    pub(super) fn dns(&self, cluster_type: ClusterType) -> Option<DnsFacts> {
        matches!(
            cluster_type,
            ClusterType::StrictDns | ClusterType::LogicalDns
        )
        .then(|| {
            let race = connect_race(self.service.definition);
            let race = race.filter(|_| self.model.mesh.version.knows_connect_strategy());
            DnsFacts {
                refresh_rate_ms: self.model.mesh.dns_refresh_rate_ms(),
                respect_ttl: true,
                family: match race {
                    Some(line) => Traced::line("ALL", line),
                    None => Traced::default("V4_ONLY", "the proxy has an IPv4 address"),
                },
            }
        })
    }
}

/// The line that has the proxy connect to all addresses of a name and take the first that answers.
pub fn connect_race(definition: &Definition<'_>) -> Option<Span> {
    let strategy = definition
        .resource
        .meta
        .annotations
        .get("istio.io/connect-strategy")?;
    (definition.origin == Origin::ServiceEntry
        && strategy
            .value
            .eq_ignore_ascii_case("RACE_FIRST_TCP_CONNECT"))
    .then_some(strategy.span)
}
