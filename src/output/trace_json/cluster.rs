//! A cluster as Istio hands it to Envoy.

use schemars::JsonSchema;
use serde::Serialize;

use super::because::Reasons;
use crate::egress::facts::{
    CircuitBreakers, ClusterFacts, ClusterType, DnsFacts, Endpoint, ExplicitTls, KeepaliveFacts,
    OutlierFacts, TlsFacts, Traced,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Cluster")]
pub(super) struct JsonCluster<'t> {
    r#type: ClusterType,
    services: Vec<JsonService<'t>>,
    /// `namespace/name`.
    destination_rule: Option<&'t str>,
    connect_timeout_ms: i64,
    lb_policy: &'static str,
    dns: Option<JsonDns>,
    endpoints: Vec<JsonEndpoint<'t>>,
    outlier: Option<JsonOutlier>,
    /// Null: left to Envoy, which means 50.
    panic_threshold_percent: Option<u32>,
    locality_weighted: bool,
    tls: Option<JsonTls<'t>>,
    auto_sni: bool,
    auto_san: bool,
    http2: bool,
    use_downstream_protocol: bool,
    max_requests_per_connection: Option<u32>,
    http_idle_timeout_ms: Option<i64>,
    max_connection_duration_ms: Option<i64>,
    circuit_breakers: JsonBreakers,
    tcp_keepalive: Option<JsonKeepalive>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Service")]
struct JsonService<'t> {
    /// Null where it is unknown.
    namespace: Option<&'t str>,
    host: &'t str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Dns")]
struct JsonDns {
    refresh_rate_ms: i64,
    respect_ttl: bool,
    family: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Endpoint")]
struct JsonEndpoint<'t> {
    address: &'t str,
    port: u32,
    weight: u32,
    priority: u32,
    locality: Option<&'t str>,
}

/// Null is left to Envoy's default.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Outlier")]
struct JsonOutlier {
    consecutive_5xx: Option<u32>,
    enforcing_consecutive_5xx: Option<u32>,
    consecutive_gateway_failure: Option<u32>,
    enforcing_consecutive_gateway_failure: Option<u32>,
    interval_ms: Option<i64>,
    base_ejection_ms: Option<i64>,
    max_ejection_percent: Option<u32>,
    split_external_local: bool,
    consecutive_local_origin_failure: Option<u32>,
    enforcing_consecutive_local_origin_failure: Option<u32>,
    enforcing_success_rate: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tls")]
#[serde(untagged)]
enum JsonTls<'t> {
    /// Set by a DestinationRule.
    Explicit {
        mode: &'static str,
        sni: Option<&'t str>,
        ca: Option<&'t str>,
        sans: &'t [String],
        alpn: &'t [String],
        client_certificate: Option<&'t str>,
    },
    /// The endpoint decides.
    Auto {
        auto: bool,
        matches: &'t [&'static str],
        sni: Option<&'t str>,
    },
}

/// Null is no limit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CircuitBreakers")]
struct JsonBreakers {
    max_connections: Option<u32>,
    max_pending_requests: Option<u32>,
    max_requests: Option<u32>,
    max_retries: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Keepalive")]
struct JsonKeepalive {
    time_s: Option<u32>,
    interval_s: Option<u32>,
    probes: Option<u32>,
}

/// The reasons of the facts of one cluster.
struct At<'w, 's> {
    place: &'w str,
    why: &'w mut Reasons<'s>,
}

impl At<'_, '_> {
    fn take<'v, T>(&mut self, fact: &str, value: &'v Traced<T>) -> &'v T {
        self.why.take(&format!("{}.{fact}", self.place), value)
    }

    fn maybe<'v, T>(&mut self, fact: &str, value: &'v Option<Traced<T>>) -> Option<&'v T> {
        value.as_ref().map(|value| self.take(fact, value))
    }

    fn number<T: Copy>(&mut self, fact: &str, value: &Option<Traced<T>>) -> Option<T> {
        self.maybe(fact, value).copied()
    }
}

impl<'t> JsonCluster<'t> {
    /// `place` is where the cluster stands in the result.
    pub(super) fn new(facts: &'t ClusterFacts, place: &str, why: &mut Reasons<'_>) -> Self {
        let mut at = At { place, why };
        let services = facts.services.iter();
        let mut endpoints = Vec::new();
        for (number, endpoint) in facts.endpoints.iter().enumerate() {
            endpoints.push(JsonEndpoint::new(endpoint, number, &mut at));
        }
        Self {
            r#type: *at.take("type", &facts.cluster_type),
            services: services
                .map(|(namespace, host)| JsonService {
                    namespace: namespace.as_deref(),
                    host,
                })
                .collect(),
            destination_rule: at
                .maybe("destination_rule", &facts.destination_rule)
                .map(String::as_str),
            connect_timeout_ms: *at.take("connect_timeout_ms", &facts.connect_timeout_ms),
            lb_policy: *at.take("lb_policy", &facts.lb_policy),
            dns: facts.dns.as_ref().map(|dns| JsonDns::new(dns, &mut at)),
            endpoints,
            outlier: at
                .take("outlier", &facts.outlier)
                .as_ref()
                .map(|outlier| JsonOutlier::new(outlier, &mut at)),
            panic_threshold_percent: *at
                .take("panic_threshold_percent", &facts.panic_threshold_percent),
            locality_weighted: facts.locality_weighted,
            tls: at
                .take("tls", &facts.tls)
                .as_ref()
                .map(|tls| JsonTls::new(tls, &mut at)),
            auto_sni: facts.auto_sni,
            auto_san: facts.auto_san,
            http2: *at.take("http2", &facts.http2),
            use_downstream_protocol: facts.use_downstream_protocol,
            max_requests_per_connection: at.number(
                "max_requests_per_connection",
                &facts.max_requests_per_connection,
            ),
            http_idle_timeout_ms: at.number("http_idle_timeout_ms", &facts.http_idle_timeout_ms),
            max_connection_duration_ms: at.number(
                "max_connection_duration_ms",
                &facts.max_connection_duration_ms,
            ),
            circuit_breakers: JsonBreakers::new(facts.circuit_breakers.as_deref(), &mut at),
            tcp_keepalive: facts
                .tcp_keepalive
                .as_ref()
                .map(|keepalive| JsonKeepalive::new(keepalive, &mut at)),
        }
    }
}

impl JsonDns {
    fn new(dns: &DnsFacts, at: &mut At<'_, '_>) -> Self {
        Self {
            refresh_rate_ms: *at.take("dns.refresh_rate_ms", &dns.refresh_rate_ms),
            respect_ttl: dns.respect_ttl,
            family: *at.take("dns.family", &dns.family),
        }
    }
}

impl<'t> JsonEndpoint<'t> {
    fn new(endpoint: &'t Endpoint, number: usize, at: &mut At<'_, '_>) -> Self {
        let path = format!("endpoints[{number}]");
        Self {
            address: at
                .take(&format!("{path}.address"), &endpoint.address)
                .as_str(),
            port: *at.take(&format!("{path}.port"), &endpoint.port),
            weight: endpoint.weight,
            priority: endpoint.priority,
            locality: at
                .maybe(&format!("{path}.locality"), &endpoint.locality)
                .map(String::as_str),
        }
    }
}

impl JsonOutlier {
    fn new(facts: &OutlierFacts, at: &mut At<'_, '_>) -> Self {
        let mut number = |fact: &str, value: &Option<Traced<u32>>| {
            // That a detector ejects comes from the same line.
            at.number(&format!("outlier.enforcing_{fact}"), value);
            at.number(&format!("outlier.{fact}"), value)
        };
        Self {
            consecutive_5xx: number("consecutive_5xx", &facts.consecutive_5xx),
            enforcing_consecutive_5xx: facts.enforcing_consecutive_5xx,
            consecutive_gateway_failure: number(
                "consecutive_gateway_failure",
                &facts.consecutive_gateway_failure,
            ),
            enforcing_consecutive_gateway_failure: facts.enforcing_consecutive_gateway_failure,
            split_external_local: facts.split_external_local,
            consecutive_local_origin_failure: number(
                "consecutive_local_origin_failure",
                &facts.consecutive_local_origin_failure,
            ),
            enforcing_consecutive_local_origin_failure: facts
                .enforcing_consecutive_local_origin_failure,
            enforcing_success_rate: facts.enforcing_success_rate,
            max_ejection_percent: at
                .number("outlier.max_ejection_percent", &facts.max_ejection_percent),
            interval_ms: at.number("outlier.interval_ms", &facts.interval_ms),
            base_ejection_ms: at.number("outlier.base_ejection_ms", &facts.base_ejection_ms),
        }
    }
}

impl<'t> JsonTls<'t> {
    fn new(tls: &'t TlsFacts, at: &mut At<'_, '_>) -> Self {
        match tls {
            TlsFacts::Explicit(explicit) => Self::explicit(explicit, at),
            TlsFacts::Auto { matches, sni } => Self::Auto {
                auto: true,
                matches,
                sni: sni.as_deref(),
            },
        }
    }

    fn explicit(tls: &'t ExplicitTls, at: &mut At<'_, '_>) -> Self {
        let mode = *at.take("tls.mode", &tls.mode);
        let mut text = |fact: &str, value: &'t Option<Traced<String>>| {
            at.maybe(&format!("tls.{fact}"), value).map(String::as_str)
        };
        Self::Explicit {
            sni: text("sni", &tls.sni),
            ca: text("ca", &tls.ca),
            client_certificate: text("client_certificate", &tls.client_certificate),
            mode,
            sans: at.take("tls.sans", &tls.sans).as_slice(),
            alpn: &tls.alpn,
        }
    }
}

impl JsonBreakers {
    fn new(breakers: Option<&CircuitBreakers>, at: &mut At<'_, '_>) -> Self {
        let none = CircuitBreakers::default();
        let breakers = breakers.unwrap_or(&none);
        let mut number = |fact: &str, value: &Option<Traced<u32>>| {
            at.number(&format!("circuit_breakers.{fact}"), value)
        };
        Self {
            max_connections: number("max_connections", &breakers.max_connections),
            max_pending_requests: number("max_pending_requests", &breakers.max_pending_requests),
            max_requests: number("max_requests", &breakers.max_requests),
            max_retries: number("max_retries", &breakers.max_retries),
        }
    }
}

impl JsonKeepalive {
    fn new(keepalive: &KeepaliveFacts, at: &mut At<'_, '_>) -> Self {
        let mut number = |fact: &str, value: &Option<Traced<u32>>| {
            at.number(&format!("tcp_keepalive.{fact}"), value)
        };
        Self {
            time_s: number("time_s", &keepalive.time_s),
            interval_s: number("interval_s", &keepalive.interval_s),
            probes: number("probes", &keepalive.probes),
        }
    }
}
