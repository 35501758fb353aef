//! `connectionPool`: timeouts, limits, keepalive, and the protocol spoken to the upstream.

use super::outlier::{count, millis};
use crate::egress::client::Client;
use crate::egress::facts::{CircuitBreakers, KeepaliveFacts, Traced};
use crate::egress::mesh::Mesh;
use crate::egress::policy::Policy;
use crate::egress::service::Port;
use crate::istio::decode::Rare;
use crate::istio::traffic::{ConnectionPool, H2UpgradePolicy, HttpPool, TcpKeepalive, TcpPool};
use crate::istio::value::Duration;
use crate::source::{Span, Spanned};

/// The part of a cluster that the connection pool decides.
pub(super) struct Pool {
    pub(super) connect_timeout_ms: Traced<i64>,
    pub(super) circuit_breakers: Option<Box<CircuitBreakers>>,
    pub(super) max_requests_per_connection: Option<Traced<u32>>,
    pub(super) http_idle_timeout_ms: Option<Traced<i64>>,
    pub(super) max_connection_duration_ms: Option<Traced<i64>>,
    pub(super) tcp_keepalive: Option<KeepaliveFacts>,
    pub(super) http2: Traced<bool>,
    pub(super) use_downstream_protocol: bool,
}

pub(super) fn pool(policy: &Policy<'_>, port: &Port<'_>, client: &Client, mesh: &Mesh<'_>) -> Pool {
    let block = policy.connection_pool.map(|block| &block.value);
    let http = block
        .and_then(|pool: &ConnectionPool| pool.http.as_ref())
        .map(|http| &http.value);
    let tcp = block
        .and_then(|pool: &ConnectionPool| pool.tcp.as_ref())
        .map(|tcp| &tcp.value);
    let upstream = upstream(http, port, client, mesh);
    let breakers = CircuitBreakers {
        max_connections: tcp.and_then(|tcp| positive(&tcp.max_connections)),
        max_pending_requests: http.and_then(|http| positive(&http.http1_max_pending_requests)),
        max_requests: http.and_then(|http| positive(&http.http2_max_requests)),
        max_retries: http.and_then(|http| positive(&http.max_retries)),
    };
    Pool {
        connect_timeout_ms: tcp
            .and_then(|tcp| tcp.connect_timeout.as_deref())
            .map_or_else(|| mesh.connect_timeout_ms(), millis),
        circuit_breakers: (breakers != CircuitBreakers::default()).then(|| Box::new(breakers)),
        max_requests_per_connection: http
            .and_then(|http| positive(&http.max_requests_per_connection)),
        http_idle_timeout_ms: http
            .and_then(|http| http.idle_timeout.as_deref())
            .or_else(|| tcp.and_then(|tcp| tcp.idle_timeout.as_deref()))
            .map(millis),
        max_connection_duration_ms: tcp
            .and_then(|tcp| tcp.max_connection_duration.as_deref())
            .map(millis),
        tcp_keepalive: keepalive(tcp, mesh),
        http2: match &upstream {
            Upstream::Http2(line) => Traced {
                value: true,
                ..line.clone().map(|()| true)
            },
            Upstream::Default(line) => line.clone().map(|()| false),
            Upstream::Downstream(line) => line.clone().map(|()| false),
        },
        use_downstream_protocol: matches!(upstream, Upstream::Downstream(_)),
    }
}

/// 0 means that the limit is not set.
fn positive(value: &Rare<i64>) -> Option<Traced<u32>> {
    value.as_deref().filter(|value| value.value > 0).map(count)
}

/// What is spoken to the upstream, and why.
enum Upstream {
    /// HTTP/1.1 where the cluster carries HTTP at all.
    Default(Traced<()>),
    Http2(Traced<()>),
    /// Whatever the client speaks.
    Downstream(Traced<()>),
}

fn upstream(
    http: Option<&HttpPool>,
    port: &Port<'_>,
    client: &Client,
    mesh: &Mesh<'_>,
) -> Upstream {
    let because = |line: Option<Span>| match line {
        Some(line) => Traced::line((), line),
        None => Traced::default((), "the port gives no protocol"),
    };
    let protocol = because(port.protocol_line);
    if let Some(line) = http
        .and_then(|http| http.use_client_protocol.as_ref())
        .filter(|line| line.value)
    {
        return Upstream::Downstream(Traced::line((), line.span));
    }
    // A gateway does not sniff what its upstream gets.
    if port.protocol.is_unsupported() && !client.is_gateway() {
        return Upstream::Downstream(protocol);
    }
    if port.protocol.is_http2() {
        return Upstream::Http2(protocol);
    }
    let policy = http.and_then(|http| http.h2_upgrade_policy.as_ref());
    match policy.map(|policy| (policy.value, policy.span)) {
        // On any port: who says so knows that it carries HTTP.
        Some((H2UpgradePolicy::Upgrade, line)) => Upstream::Http2(Traced::line((), line)),
        Some((H2UpgradePolicy::DoNotUpgrade, line)) => Upstream::Default(Traced::line((), line)),
        _ => match mesh.h2_upgrade() {
            Some(line) if port.protocol.is_http() => Upstream::Http2(Traced::line((), line.span)),
            _ => Upstream::Default(protocol),
        },
    }
}

/// The mesh's keepalive, each value of which the rule may replace. Only whole seconds count.
fn keepalive(tcp: Option<&TcpPool>, mesh: &Mesh<'_>) -> Option<KeepaliveFacts> {
    let own = tcp.and_then(|tcp| tcp.tcp_keepalive.as_deref());
    let levels: Vec<&TcpKeepalive> = own
        .into_iter()
        .chain(mesh.tcp_keepalive())
        .map(|k| &k.value)
        .collect();
    if levels.is_empty() {
        return None;
    }
    let seconds = |field: fn(&TcpKeepalive) -> &Option<Spanned<Duration>>| {
        let value = levels.iter().find_map(|level| field(level).as_ref())?;
        let seconds = u32::try_from(value.value.millis() / 1000).unwrap_or(0);
        Some(Traced::line(seconds, value.span))
    };
    Some(KeepaliveFacts {
        time_s: seconds(|keepalive| &keepalive.time),
        interval_s: seconds(|keepalive| &keepalive.interval),
        probes: levels.iter().find_map(|level| positive(&level.probes)),
    })
}
