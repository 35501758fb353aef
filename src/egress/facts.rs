//! What Envoy is handed, each value with the lines that made it so.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::source::Span;

/// Why a fact is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// These lines say so.
    Lines(SmallVec<[Span; 2]>),
    /// No line says so; this is what holds then, and where that is known from.
    Default(&'static str),
}

/// A value of the model with its provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced<T> {
    pub value: T,
    pub because: Because,
}

impl<T> Traced<T> {
    pub fn line(value: T, span: Span) -> Self {
        Self {
            value,
            because: Because::Lines(SmallVec::from_slice(&[span])),
        }
    }

    pub fn lines(value: T, spans: impl IntoIterator<Item = Span>) -> Self {
        Self {
            value,
            because: Because::Lines(spans.into_iter().collect()),
        }
    }

    pub fn default(value: T, reason: &'static str) -> Self {
        Self {
            value,
            because: Because::Default(reason),
        }
    }

    /// The lines that made it; none where it is a default.
    pub fn spans(&self) -> &[Span] {
        match &self.because {
            Because::Lines(spans) => spans,
            Because::Default(_) => &[],
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Traced<U> {
        Traced {
            value: f(self.value),
            because: self.because,
        }
    }
}

impl<T> std::ops::Deref for Traced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Envoy's discovery type of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub enum ClusterType {
    #[serde(rename = "STRICT_DNS")]
    StrictDns,
    #[serde(rename = "LOGICAL_DNS")]
    LogicalDns,
    #[serde(rename = "EDS")]
    Eds,
    #[serde(rename = "STATIC")]
    Static,
    #[serde(rename = "ORIGINAL_DST")]
    OriginalDst,
    /// The extension that resolves the host of each request (`resolution: DYNAMIC_DNS`).
    #[serde(rename = "envoy.clusters.dynamic_forward_proxy")]
    DynamicForwardProxy,
}

/// What a client speaks on its connection.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Speaks {
    Http,
    Http2,
    Tls,
    Tcp,
}

/// Which part of Envoy handles a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handler {
    /// The HTTP connection manager: L7.
    Http,
    /// The TCP proxy, by SNI or by address: L4.
    Tcp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Forwarded,
    Passthrough,
    Blackhole,
    DirectResponse,
    Redirect,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallError {
    NoListener,
    NoFilterChain,
    NoVirtualHost,
    NoRoute,
    Protocol,
}

/// One of the clusters that a route chooses from.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedCluster {
    /// `outbound|443|subset|host`.
    pub name: Traced<String>,
    pub weight: Traced<u32>,
}

/// What makes a request be tried again. Istio's own list is that of most routes.
pub type Conditions = Cow<'static, [Cow<'static, str>]>;

/// The retry policy of a route.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    pub attempts: Traced<u32>,
    pub retry_on: Traced<Conditions>,
    pub retriable_status_codes: Vec<u32>,
    pub per_try_timeout_ms: Option<Traced<i64>>,
    pub base_interval_ms: Option<Traced<i64>>,
    pub previous_hosts: bool,
    pub host_selection_attempts: Option<u32>,
    pub ignore_previous_localities: bool,
}

/// The conditions that mean answers of a gRPC server: nobody else gives them.
pub const GRPC_CONDITIONS: [&str; 5] = [
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

impl RetryPolicy {
    /// Whether one of the conditions is among those under which a request is tried again.
    pub fn retries_any_of(&self, conditions: &[&str]) -> bool {
        let mut retried = self.retry_on.value.iter();
        retried.any(|on| conditions.contains(&&**on))
    }

    /// Whether an answer with this status is tried again.
    pub fn retries_status(&self, status: u32) -> bool {
        let by_class: &[&str] = match status {
            502..=504 => &["5xx", "gateway-error"],
            500..=599 => &["5xx"],
            409 => &["retriable-4xx"],
            _ => &[],
        };
        self.retries_any_of(by_class)
            || self.retries_any_of(&["retriable-status-codes"])
                && self.retriable_status_codes.contains(&status)
    }
}

/// The facts of an HTTP route.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteFacts {
    pub timeout_ms: Traced<i64>,
    /// `None`: nothing is retried.
    pub retry: Traced<Option<RetryPolicy>>,
    /// `auto`, or `literal:…`.
    pub host_rewrite: Option<Traced<String>>,
    pub prefix_rewrite: Option<Traced<String>>,
    pub mirrors: Vec<Traced<String>>,
}

/// The facts of a TCP proxy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpFacts {
    pub idle_timeout_ms: Option<Traced<i64>>,
    pub max_connection_duration_ms: Option<Traced<i64>>,
}

/// What becomes of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    pub outcome: Traced<Outcome>,
    pub error: Option<CallError>,
    pub status: Option<u32>,
    pub handler: Option<Handler>,
    /// Which requests go this way, in words, where it is not all of them.
    pub when: Option<Traced<String>>,
    /// The lines that decide over the handler: the protocol of a port, the TLS mode of a Gateway's server.
    pub handler_lines: SmallVec<[Span; 2]>,
    pub clusters: Vec<WeightedCluster>,
    pub route: Option<Box<RouteFacts>>,
    pub tcp: Option<TcpFacts>,
}

impl CallResult {
    /// Why the call goes the way it goes: what decides over the handler, and the rule that was chosen.
    pub fn why(&self) -> Because {
        let mut lines = self.handler_lines.clone();
        lines.extend(
            self.outcome
                .spans()
                .iter()
                .copied()
                .filter(|line| !self.handler_lines.contains(line)),
        );
        match lines.is_empty() {
            true => self.outcome.because.clone(),
            false => Because::Lines(lines),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DnsFacts {
    pub refresh_rate_ms: Traced<i64>,
    pub respect_ttl: bool,
    /// `V4_ONLY`, `ALL`, …
    pub family: Traced<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    pub address: Traced<String>,
    pub port: Traced<u32>,
    pub weight: u32,
    pub priority: u32,
    pub locality: Option<Traced<String>>,
}

/// `outlier_detection` as Istio hands it over: `None` is left to Envoy's default.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlierFacts {
    pub consecutive_5xx: Option<Traced<u32>>,
    pub enforcing_consecutive_5xx: Option<u32>,
    pub consecutive_gateway_failure: Option<Traced<u32>>,
    pub enforcing_consecutive_gateway_failure: Option<u32>,
    pub interval_ms: Option<Traced<i64>>,
    pub base_ejection_ms: Option<Traced<i64>>,
    pub max_ejection_percent: Option<Traced<u32>>,
    pub split_external_local: bool,
    pub consecutive_local_origin_failure: Option<Traced<u32>>,
    pub enforcing_consecutive_local_origin_failure: Option<u32>,
    pub enforcing_success_rate: Option<u32>,
}

impl OutlierFacts {
    /// Whether every detector is off, so that no host is ever ejected. What is not set is Envoy's default: 5xx answers
    /// eject, and with the split failed connections too; gateway errors do not.
    pub fn detects_nothing(&self) -> bool {
        self.enforcing_consecutive_5xx == Some(0)
            && self.enforcing_consecutive_gateway_failure.unwrap_or(0) == 0
            && !self.split_external_local
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum TlsFacts {
    /// Set by a DestinationRule.
    Explicit(Box<ExplicitTls>),
    /// Auto mTLS: the endpoint decides.
    Auto {
        matches: Vec<&'static str>,
        sni: Option<String>,
    },
}

impl From<ExplicitTls> for TlsFacts {
    fn from(tls: ExplicitTls) -> Self {
        Self::Explicit(Box::new(tls))
    }
}

/// The TLS context of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplicitTls {
    /// `SIMPLE`, `MUTUAL` or `ISTIO_MUTUAL`.
    pub mode: Traced<&'static str>,
    pub sni: Option<Traced<String>>,
    /// The secret that holds the authorities: `file-root:system`, `ROOTCA`, …; none where nothing is verified.
    pub ca: Option<Traced<String>>,
    /// The names of which the certificate must have one.
    pub sans: Traced<Vec<String>>,
    pub alpn: Vec<String>,
    pub client_certificate: Option<Traced<String>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CircuitBreakers {
    pub max_connections: Option<Traced<u32>>,
    pub max_pending_requests: Option<Traced<u32>>,
    pub max_requests: Option<Traced<u32>>,
    pub max_retries: Option<Traced<u32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct KeepaliveFacts {
    pub time_s: Option<Traced<u32>>,
    pub interval_s: Option<Traced<u32>>,
    pub probes: Option<Traced<u32>>,
}

/// A cluster as Istio hands it to Envoy.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterFacts {
    pub cluster_type: Traced<ClusterType>,
    /// `(namespace, host)` of the services it is made from. The namespace is `None` where it is unknown.
    pub services: Vec<(Option<String>, String)>,
    /// `namespace/name` of the DestinationRule that was looked up, with its `host` line.
    pub destination_rule: Option<Traced<String>>,
    pub connect_timeout_ms: Traced<i64>,
    pub lb_policy: Traced<&'static str>,
    pub dns: Option<Box<DnsFacts>>,
    pub endpoints: Vec<Endpoint>,
    /// `None`: no outlier detection; the reason may be a line that dropped it.
    pub outlier: Traced<Option<Box<OutlierFacts>>>,
    /// `None`: left to Envoy, which means 50.
    pub panic_threshold_percent: Traced<Option<u32>>,
    pub locality_weighted: bool,
    pub tls: Traced<Option<TlsFacts>>,
    pub auto_sni: bool,
    pub auto_san: bool,
    pub http2: Traced<bool>,
    pub use_downstream_protocol: bool,
    pub max_requests_per_connection: Option<Traced<u32>>,
    pub http_idle_timeout_ms: Option<Traced<i64>>,
    pub max_connection_duration_ms: Option<Traced<i64>>,
    /// `None`: no limit is set.
    pub circuit_breakers: Option<Box<CircuitBreakers>>,
    pub tcp_keepalive: Option<Box<KeepaliveFacts>>,
    /// Settings of the files that have no effect on this cluster, and the line that took it away.
    pub overridden: Vec<Overridden>,
}

/// The reason why a block does not reach a port whose `portLevelSettings` do not repeat it.
pub const LOST_TO_PORT: &str =
    "portLevelSettings for the port replace the whole policy: what they leave out is default";

/// A block of a DestinationRule that does not act on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overridden {
    /// The key of the block that is lost, such as `outlierDetection`.
    pub span: Span,
    pub block: &'static str,
    /// The line that took it away, such as the `portLevelSettings` entry.
    pub because: Span,
    pub reason: &'static str,
}
