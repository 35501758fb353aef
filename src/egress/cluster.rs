//! The cluster of one port of a service, or of one subset of it.

use super::client::Client;
use super::destination_rule::EffectiveRule;
use super::effective::EffectiveService;
use super::endpoint::{self, Instance, Wanted};
use super::facts::{ClusterFacts, ClusterType, DnsFacts, Endpoint, Traced};
use super::host;
use super::load_balancer::{lb_policy, passthrough};
use super::locality::{Group, Setting};
use super::model::Model;
use super::policy::Policy;
use super::protocol::Protocol;
use super::service::{Definition, Origin, Port, Resolution};
use super::tls::{TlsInput, tls};
use super::{connection_pool, outlier};
use crate::istio::traffic::{Subset, TrafficPolicy};
use crate::source::Spanned;

/// The name of a cluster as Istio writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterName<'n> {
    pub port: u32,
    /// Empty for the cluster of the whole service.
    pub subset: &'n str,
    pub host: &'n str,
}

impl<'n> ClusterName<'n> {
    /// `outbound|443|subset|host`; `None` for other names, such as `PassthroughCluster`.
    pub fn parse(name: &'n str) -> Option<Self> {
        let mut parts = name.strip_prefix("outbound|")?.splitn(3, '|');
        let (port, subset, host) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            port: port.parse().ok()?,
            subset,
            host,
        })
    }
}

impl std::fmt::Display for ClusterName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "outbound|{}|{}|{}", self.port, self.subset, self.host)
    }
}

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
        .ports
        .iter()
        .copied()
        .find(|p| p.number == port && p.protocol != Protocol::Udp)?;
    let dynamic = service.resolution == Resolution::DynamicDns && host::is_wildcard(service.name());
    let proxied = matches!(
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
        let accounts = self.accounts();
        let tls = tls(&TlsInput {
            policy: &self.policy,
            client: self.client,
            selective: self.rule.as_ref().is_some_and(|rule| rule.has_selector()),
            service_accounts: &accounts,
            external_registry: self.service.origin == Origin::ServiceEntry,
            http2: pool.http2.value,
            dynamic: self.dynamic,
            auto_mtls: self.auto_mtls(),
            original_destination: original,
            istio_sni: self.istio_sni(),
        });
        let forced = self.service.traffic_distribution.map(|(_, line)| line);
        let mut overridden = self
            .rule
            .as_ref()
            .map(|rule| rule.overridden())
            .unwrap_or_default();
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
            dns: self.dns(cluster_type.value),
            endpoints: self.endpoints(cluster_type.value, setting.as_ref()),
            panic_threshold_percent: match self.dynamic {
                true => Traced::default(None, "there is no load balancing among hosts"),
                false => outlier::panic_threshold(&self.policy, forced, model.mesh.version),
            },
            locality_weighted: !self.dynamic
                && setting.is_some_and(|setting| setting.is_weighted(outlier.is_some())),
            outlier,
            tls: tls.facts,
            auto_sni: tls.auto_sni,
            auto_san: tls.auto_san,
            http2: pool.http2,
            use_downstream_protocol: pool.use_downstream_protocol,
            max_requests_per_connection: pool.max_requests_per_connection,
            http_idle_timeout_ms: pool.http_idle_timeout_ms,
            max_connection_duration_ms: pool.max_connection_duration_ms,
            circuit_breakers: pool.circuit_breakers,
            tcp_keepalive: pool.tcp_keepalive,
            overridden,
            cluster_type,
        })
    }

    /// `None`: Istio leaves the cluster out, because it has no name to resolve.
    fn cluster_type(&self) -> Option<Traced<ClusterType>> {
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
            at_port.and_then(|policy| passthrough(policy.load_balancer.map(|block| &*block.value)));
        let policy = self
            .subset
            .and_then(|subset| subset.value.traffic_policy.as_ref());
        let of_subset = policy.and_then(|policy| {
            passthrough(policy.value.load_balancer.as_ref().map(|lb| &*lb.value))
        });
        if dns
            && self.subset.is_some()
            && of_service.or(of_subset).is_none()
            && self.instances(self.subset).is_empty()
        {
            return None;
        }
        // A subset stays what the whole service's cluster became.
        let applied = passthrough(self.policy.load_balancer.map(|block| &*block.value));
        Some(match applied.or(of_service).or(of_subset) {
            Some(line) => Traced::line(ClusterType::OriginalDst, line),
            None => by_resolution,
        })
    }

    fn by_resolution(&self) -> Traced<ClusterType> {
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

    fn dns(&self, cluster_type: ClusterType) -> Option<DnsFacts> {
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

    fn whole_policy(&self) -> Option<&'m Spanned<TrafficPolicy>> {
        self.rule.as_ref().and_then(|rule| rule.traffic_policy())
    }

    /// The endpoints of the port, or those of a subset.
    fn instances(&self, subset: Option<&Spanned<Subset>>) -> Vec<Instance<'m>> {
        let dns = matches!(
            self.service.resolution,
            Resolution::Dns | Resolution::DnsRoundRobin
        );
        let wanted = match dns {
            true => Wanted::Number(self.port.number),
            // The first port of the number gives the name, be it the UDP one.
            false => Wanted::Name(
                self.service
                    .port(self.port.number)
                    .map_or(self.port.name, |port| port.name),
            ),
        };
        let mut all = endpoint::instances(
            &self.model.registry,
            &self.model.workloads,
            &self.service.base,
            wanted,
        );
        if !dns {
            all.retain(Instance::is_ip);
        }
        if let Some(labels) = subset.and_then(|subset| subset.value.labels.as_ref()) {
            all.retain(|instance| instance.has_labels(&labels.value));
        }
        all
    }

    fn endpoints(&self, cluster_type: ClusterType, setting: Option<&Setting<'m>>) -> Vec<Endpoint> {
        if matches!(
            cluster_type,
            ClusterType::OriginalDst | ClusterType::DynamicForwardProxy
        ) {
            return Vec::new();
        }
        let mut groups: Vec<Group<'m>> = Vec::new();
        let mut all = self.instances(self.subset);
        let place = |instance: &Instance<'_>| {
            instance
                .locality
                .as_ref()
                .map_or(String::new(), |(l, _)| l.to_string())
        };
        all.sort_by_cached_key(place);
        for instance in all {
            let locality = place(&instance);
            match groups.last_mut() {
                Some(group) if group.locality == locality => group.instances.push(instance),
                _ => groups.push(Group {
                    locality,
                    priority: 0,
                    instances: vec![instance],
                }),
            }
        }
        if let Some(setting) = setting {
            let eds = cluster_type == ClusterType::Eds;
            // For EDS only the rule's own outlier detection counts, not the mesh's default.
            let outlier = match eds {
                true => self.own_outlier(),
                false => self.policy.outlier_detection.is_some(),
            };
            let version = self.model.mesh.version;
            let by_labels = eds || self.subset.is_none() && version.failover_priority_for_dns();
            groups = setting.order(groups, self.client, outlier, by_labels);
        }
        groups.into_iter().flat_map(facts).collect()
    }

    fn own_outlier(&self) -> bool {
        let own = Policy::of(self.whole_policy(), self.subset, self.port.number, None);
        own.outlier_detection.is_some()
    }

    /// The names that the upstream's certificate may carry, where no rule gives any.
    fn accounts(&self) -> Traced<Vec<String>> {
        let none = Traced::default(
            Vec::new(),
            "neither the rule nor the service names the certificate",
        );
        if self.dynamic {
            return none;
        }
        let model = self.model;
        let service = &self.service.base;
        // Of several entries for the host, the last one's names are taken.
        let all = model
            .registry
            .of_host_in(service.name(), service.namespace());
        let last = all.last();
        let names = last
            .map(|last| last.definition.subject_alt_names())
            .unwrap_or_default();
        let mut names: Vec<_> = names
            .iter()
            .map(|name| (name.value.clone(), name.span))
            .collect();
        names.extend(endpoint::accounts(
            &model.registry,
            &model.workloads,
            service,
            model.mesh.trust_domain(),
        ));
        names.sort();
        names.dedup_by(|a, b| a.0 == b.0);
        match names.is_empty() {
            true => none,
            false => {
                let (names, lines): (Vec<_>, Vec<_>) = names.into_iter().unzip();
                Traced::lines(names, lines)
            }
        }
    }

    /// Whether endpoints with a sidecar get mutual TLS although no rule asks for it.
    fn auto_mtls(&self) -> bool {
        if self.service.mesh_external || !self.model.mesh.auto_mtls() {
            return false;
        }
        let policy = match self.subset {
            Some(subset) => subset.value.traffic_policy.as_ref(),
            None => self.whole_policy(),
        };
        let balancer = policy
            .and_then(|policy| policy.value.load_balancer.as_ref())
            .map(|block| &*block.value);
        if self.service.resolution != Resolution::Passthrough && passthrough(balancer).is_none() {
            return true;
        }
        // Where the proxy does not know the endpoint, all of them must have a sidecar.
        let wanted = match self.service.origin {
            Origin::ServiceEntry => Wanted::Number(self.port.number),
            Origin::Kubernetes => Wanted::Name(self.port.name),
        };
        let all = endpoint::instances(
            &self.model.registry,
            &self.model.workloads,
            &self.service.base,
            wanted,
        );
        !all.is_empty() && all.iter().all(|instance| instance.mutual_tls)
    }

    fn istio_sni(&self) -> String {
        if self.dynamic {
            return String::new();
        }
        let subset = self
            .subset
            .and_then(|subset| subset.value.name.as_ref())
            .map_or("", |name| &name.value);
        format!(
            "outbound_.{}_.{subset}_.{}",
            self.port.number,
            self.service.name()
        )
    }
}

/// The line that has the proxy connect to all addresses of a name and take the first that answers.
fn connect_race(definition: &Definition<'_>) -> Option<crate::source::Span> {
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

fn facts(group: Group<'_>) -> impl Iterator<Item = Endpoint> {
    let priority = group.priority;
    group.instances.into_iter().map(move |instance| Endpoint {
        address: match instance.address_line {
            Some(line) => Traced::line(instance.address.to_owned(), line),
            None => Traced::default(
                instance.address.to_owned(),
                "the pod of a gateway; its address is assumed",
            ),
        },
        port: Traced::line(instance.port, instance.port_line),
        weight: instance.weight,
        priority,
        locality: instance
            .locality
            .map(|(locality, line)| Traced::line(locality.into_owned(), line)),
    })
}
