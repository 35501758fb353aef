//! The cluster of one port of a service, or of one subset of it.

mod connection_pool;
mod endpoints;
mod identity;
mod kind;
mod load_balancer;
mod locality;
mod name;
mod outlier;
#[cfg(test)]
mod tests;
mod tls;

pub use kind::connect_race;
pub use name::ClusterName;

use load_balancer::lb_policy;
use locality::Setting;
use tls::{TlsInput, tls};

use super::client::Client;
use super::destination_rule::{EffectiveRule, subset_name};
use super::effective::EffectiveService;
use super::facts::{ClusterFacts, ClusterType, Traced};
use super::host;
use super::model::Model;
use super::policy::Policy;
use super::protocol::Protocol;
use super::service::{Origin, Port, Resolution};
use crate::istio::traffic::{Subset, TrafficPolicy};
use crate::source::Spanned;

/// What a cluster is built from.
struct Plan<'m> {
    model: &'m Model<'m>,
    client: &'m Client,
    service: &'m EffectiveService<'m>,
    port: &'m Port<'m>,
    rule: Option<EffectiveRule<'m>>,
    subset: Option<&'m Spanned<Subset>>,
    policy: Policy<'m>,
    /// `resolution: DYNAMIC_DNS` for a wildcard host.
    dynamic: bool,
}

/// The cluster that a client has for a port of a service; `None` where Istio makes none.
pub(super) fn cluster(
    model: &Model<'_>,
    client: &Client,
    service: &EffectiveService<'_>,
    port: u32,
    subset: &str,
) -> Option<ClusterFacts> {
    let port = service
        .ports()
        .find(|p| p.number == port && p.protocol != Protocol::Udp)?;
    let dynamic = service.resolution == Resolution::DynamicDns && host::is_wildcard(service.name());
    let resolves = model.mesh.version.resolves_hosts_of_requests();
    let proxied = resolves
        && matches!(
            port.protocol,
            Protocol::Http | Protocol::Tls | Protocol::Grpc | Protocol::Http2
        );
    if service.resolution == Resolution::Alias || dynamic && (!proxied || !subset.is_empty()) {
        return None;
    }
    let rule = model.rules.of(client, &service.base);
    let subset = match subset {
        "" => None,
        name => Some(rule.as_ref()?.subset(name)?),
    };
    let whole = rule.as_ref().and_then(|rule| rule.traffic_policy());
    let policy = Policy::of(whole, subset, port.number, Some(&model.mesh));
    Plan {
        model,
        client,
        service,
        port,
        rule,
        subset,
        policy,
        dynamic,
    }
    .build()
}

impl<'m> Plan<'m> {
    fn build(&self) -> Option<ClusterFacts> {
        let cluster_type = self.cluster_type()?;
        let model = self.model;
        let pool = connection_pool::pool(&self.policy, self.port, self.client, &model.mesh);
        let outlier = outlier::outlier(&self.policy);
        let original = cluster_type.value == ClusterType::OriginalDst;
        let setting = Setting::of(&self.policy, self.service.definition, &model.mesh);
        let tls = tls(&TlsInput {
            policy: &self.policy,
            client: self.client,
            selective: self.rule.as_ref().is_some_and(|rule| rule.has_selector()),
            service_accounts: &|| self.accounts(),
            external_registry: self.service.origin == Origin::ServiceEntry,
            http2: pool.http2.value,
            dynamic: self.dynamic,
            auto_mtls: self.auto_mtls(),
            original_destination: original,
            istio_sni: self.istio_sni(),
        });
        let forced = self.service.traffic_distribution.map(|(_, line)| line);
        let subset = self.subset.map(subset_name);
        let rule = self.rule.as_ref();
        let mut overridden = rule.map(|rule| rule.overridden(subset)).unwrap_or_default();
        overridden.extend(self.policy.overridden.iter().cloned());
        Some(ClusterFacts {
            services: vec![(
                self.service.namespace().map(str::to_owned),
                self.service.name().to_owned(),
            )],
            destination_rule: self
                .rule
                .as_ref()
                .map(|rule| Traced::line(rule.name(), rule.host_line())),
            connect_timeout_ms: pool.connect_timeout_ms,
            lb_policy: match original || self.dynamic {
                true => cluster_type.clone().map(|_| "CLUSTER_PROVIDED"),
                false => lb_policy(&self.policy),
            },
            dns: self.dns(cluster_type.value).map(Box::new),
            endpoints: self.endpoints(cluster_type.value, setting.as_ref()),
            panic_threshold_percent: match self.dynamic {
                true => Traced::default(None, "there is no load balancing among hosts"),
                false => outlier::panic_threshold(&self.policy, forced, model.mesh.version),
            },
            locality_weighted: !self.dynamic
                && setting.is_some_and(|setting| setting.is_weighted(outlier.is_some())),
            outlier: outlier.map(|outlier| outlier.map(Box::new)),
            tls: tls.facts,
            auto_sni: tls.auto_sni,
            auto_san: tls.auto_san,
            http2: pool.http2,
            use_downstream_protocol: pool.use_downstream_protocol,
            max_requests_per_connection: pool.max_requests_per_connection,
            http_idle_timeout_ms: pool.http_idle_timeout_ms,
            max_connection_duration_ms: pool.max_connection_duration_ms,
            circuit_breakers: pool.circuit_breakers,
            tcp_keepalive: pool.tcp_keepalive.map(Box::new),
            overridden,
            cluster_type,
        })
    }

    fn whole_policy(&self) -> Option<&'m Spanned<TrafficPolicy>> {
        self.rule.as_ref().and_then(|rule| rule.traffic_policy())
    }
}
