//! What one proxy does: the route it takes, and the cluster it takes it to.

use super::columns::{Columns, Row};
use crate::egress::client::{Client, ProxyKind};
use crate::egress::facts::{
    Because, CallError, ClusterFacts, ClusterType, Endpoint, Handler, Outcome, OutlierFacts,
    RetryPolicy, Speaks, TlsFacts, Traced,
};
use crate::egress::forecast::span_of_time;
use crate::egress::host::UNKNOWN_NAMESPACE;
use crate::egress::path::Hop;

/// More endpoints than this are counted.
const ENDPOINTS: usize = 3;

/// How a client's words are called.
pub(super) fn spoken(speaks: Speaks) -> &'static str {
    match speaks {
        Speaks::Http => "HTTP",
        Speaks::Http2 => "HTTP/2",
        Speaks::Tls => "TLS",
        Speaks::Tcp => "TCP",
    }
}

pub(super) fn draw(out: &mut String, at: usize, hop: &Hop, columns: &Columns<'_>) {
    columns.heading(
        out,
        &format!("{}", at + 1),
        &proxy(hop.client(), hop.call.port),
    );
    path(out, hop, columns);
    if let Some(cluster) = &hop.cluster {
        facts(out, hop, cluster, columns);
    } else if let Some(name) = hop
        .cluster_name()
        .filter(|name| name.starts_with("outbound|"))
    {
        let because = Because::Default("");
        columns.row(
            out,
            &Row::new(
                "cluster",
                format!("{name} is not known from these files"),
                &because,
            ),
        );
    }
}

fn proxy(client: &Client, port: u32) -> String {
    match client.proxy {
        ProxyKind::Sidecar => "sidecar of the client".to_owned(),
        ProxyKind::Gateway => {
            let labels: Vec<String> = client
                .labels
                .iter()
                .map(|(k, v)| format!("{k}={v}"))
                .collect();
            let namespace = client.namespace().unwrap_or("an unknown namespace");
            format!(
                "egress gateway in {namespace} ({}), port {port}",
                labels.join(", ")
            )
        }
    }
}

/// What becomes of the call here, and the facts of the route.
fn path(out: &mut String, hop: &Hop, columns: &Columns<'_>) {
    let result = &hop.result;
    let text = match (result.outcome.value, result.handler) {
        (Outcome::Forwarded, Some(Handler::Http)) => "HTTP: each request is routed (L7)",
        (Outcome::Forwarded, _) if hop.call.speaks == Speaks::Tls => {
            "TCP: bytes are passed on by SNI (L4)"
        }
        (Outcome::Forwarded, _) => "TCP: bytes are passed on (L4)",
        (Outcome::Passthrough, _) => {
            "let through to the address the client chose: no rule of these files applies"
        }
        (Outcome::Blackhole, _) => "dropped: the outbound policy lets no unknown host through",
        (Outcome::DirectResponse, _) => "answered by the proxy itself",
        (Outcome::Redirect, _) => "redirected",
        (Outcome::Error, _) => match result.error {
            Some(CallError::NoListener) => "fails: nothing listens there",
            Some(CallError::NoFilterChain) => "fails: no filter chain takes the connection",
            Some(CallError::NoVirtualHost) => "fails: no virtual host has the name",
            Some(CallError::NoRoute) | None => "fails: no route takes it",
            Some(CallError::Protocol) => "fails: the listener speaks another protocol",
        },
    };
    let status = result
        .status
        .map_or(String::new(), |status| format!(" (status {status})"));
    columns.row(
        out,
        &Row::new("path", format!("{text}{status}"), &result.why()),
    );
    if let Some(when) = &result.when {
        columns.row(
            out,
            &Row::new("requests", when.value.clone(), &when.because),
        );
    }
    if let Some(route) = &result.route {
        let retries = retries(route.retry.value.as_ref());
        columns.row(out, &Row::new("retries", retries, &route.retry.because));
        if route.timeout_ms.value > 0 {
            let timeout = span_of_time(route.timeout_ms.value);
            columns.row(
                out,
                &Row::new("timeout", timeout, &route.timeout_ms.because),
            );
        }
    }
    for mirror in result.route.iter().flat_map(|route| &route.mirrors) {
        columns.row(
            out,
            &Row::new("mirror", mirror.value.clone(), &mirror.because),
        );
    }
    if let Some(tcp) = &result.tcp {
        maybe_time(out, columns, "idle timeout", tcp.idle_timeout_ms.as_ref());
        maybe_time(
            out,
            columns,
            "longest life",
            tcp.max_connection_duration_ms.as_ref(),
        );
    }
}

/// How requests share connections. What is passed on unseen has limits of its own, which stand with the path.
fn pool(out: &mut String, cluster: &ClusterFacts, columns: &Columns<'_>) {
    if cluster.http2.value {
        let text = "HTTP/2 upstream: one connection carries all requests";
        columns.row(out, &Row::new("protocol", text, &cluster.http2.because));
    }
    if let Some(limit) = &cluster.max_requests_per_connection {
        let text = format!("{} requests a connection", limit.value);
        columns.row(out, &Row::new("pool", text, &limit.because));
    }
    let limits = [
        ("idle timeout", &cluster.http_idle_timeout_ms),
        ("longest life", &cluster.max_connection_duration_ms),
    ];
    for (name, limit) in limits {
        maybe_time(out, columns, name, limit.as_ref());
    }
}

fn retries(policy: Option<&RetryPolicy>) -> String {
    let Some(policy) = policy else {
        return "none".to_owned();
    };
    let codes = policy.retriable_status_codes.iter().map(u32::to_string);
    // The codes say more than that there are some.
    let only_codes = |on: &str| on == "retriable-status-codes" && codes.len() > 0;
    let conditions = policy.retry_on.value.iter();
    let conditions = conditions.filter(|on| !on.is_empty() && !only_codes(on));
    let conditions = conditions.map(|on| on.to_string());
    let on: Vec<String> = conditions.chain(codes.clone()).collect();
    let each = policy.per_try_timeout_ms.as_ref();
    let each = each.map_or(String::new(), |time| {
        format!(", each try {}", span_of_time(time.value))
    });
    format!("{} on {}{each}", policy.attempts.value, on.join(", "))
}

fn facts(out: &mut String, hop: &Hop, cluster: &ClusterFacts, columns: &Columns<'_>) {
    let chosen = hop.result.clusters.get(hop.chosen);
    if let Some(chosen) = chosen {
        let share = match hop.result.clusters.len() {
            1 => String::new(),
            _ => format!("  (weight {})", chosen.weight.value),
        };
        let name = format!("{}{share}", chosen.name.value);
        columns.row(out, &Row::new("cluster", name, &chosen.name.because));
    }
    columns.row(
        out,
        &Row::new(
            "type",
            kind(cluster.cluster_type.value),
            &cluster.cluster_type.because,
        ),
    );
    endpoints(out, &cluster.endpoints, columns);
    if let Some(dns) = cluster.dns.as_ref().filter(|_| by_name(&cluster.endpoints)) {
        let refresh = span_of_time(dns.refresh_rate_ms.value);
        let text = format!("asked again after the TTL; after {refresh} where there is none");
        columns.row(out, &Row::new("dns", text, &dns.refresh_rate_ms.because));
    }
    if let Some(rule) = &cluster.destination_rule {
        let unknown = format!("{UNKNOWN_NAMESPACE}/");
        let name = rule.value.strip_prefix(&unknown).unwrap_or(&rule.value);
        let text = format!("DestinationRule {name}");
        columns.row(out, &Row::new("policy", text, &rule.because));
    }
    let connect = span_of_time(cluster.connect_timeout_ms.value);
    columns.row(
        out,
        &Row::new(
            "connect timeout",
            connect,
            &cluster.connect_timeout_ms.because,
        ),
    );
    outlier(out, hop, cluster, columns);
    tls(out, cluster, columns);
    if hop.result.handler == Some(Handler::Http) {
        pool(out, cluster, columns);
    }
    columns.row(
        out,
        &Row::new(
            "load balancing",
            cluster.lb_policy.value,
            &cluster.lb_policy.because,
        ),
    );
    for lost in &cluster.overridden {
        let because = Because::Lines([lost.span, lost.because].into_iter().collect());
        let text = format!("{}: {}", lost.block, lost.reason);
        columns.row(out, &Row::new("no effect", text, &because).struck());
    }
}

fn kind(kind: ClusterType) -> &'static str {
    match kind {
        ClusterType::StrictDns => "STRICT_DNS: each address of the answer is a host",
        ClusterType::LogicalDns => {
            "LOGICAL_DNS: one host; the answer is used when a connection is opened"
        }
        ClusterType::Eds => "EDS: the endpoints that Istio knows",
        ClusterType::Static => "STATIC",
        ClusterType::OriginalDst => "ORIGINAL_DST: to the address that the client chose",
        ClusterType::DynamicForwardProxy => {
            "dynamic forward proxy: the host of each request is resolved"
        }
    }
}

fn by_name(endpoints: &[Endpoint]) -> bool {
    endpoints
        .iter()
        .any(|it| it.address.value.parse::<std::net::IpAddr>().is_err())
}

fn endpoints(out: &mut String, endpoints: &[Endpoint], columns: &Columns<'_>) {
    let shown = endpoints.iter().take(ENDPOINTS);
    let mut text: Vec<String> = shown
        .map(|it| format!("{}:{}", it.address.value, it.port.value))
        .collect();
    if endpoints.len() > ENDPOINTS {
        text.push(format!("{} more", endpoints.len() - ENDPOINTS));
    }
    if let Some(first) = endpoints.first() {
        columns.row(
            out,
            &Row::new("endpoints", text.join(", "), &first.address.because),
        );
    }
}

fn outlier(out: &mut String, hop: &Hop, cluster: &ClusterFacts, columns: &Columns<'_>) {
    let text = match &cluster.outlier.value {
        None => "none: no host is ever ejected".to_owned(),
        Some(outlier) => detection(outlier, hop.result.handler == Some(Handler::Http)),
    };
    columns.row(out, &Row::new("outlier", text, &cluster.outlier.because));
}

fn detection(outlier: &OutlierFacts, http: bool) -> String {
    let number = |n: &Option<Traced<u32>>, or: u32| n.as_ref().map_or(or, |n| n.value);
    let by_5xx =
        (outlier.enforcing_consecutive_5xx != Some(0)).then(|| number(&outlier.consecutive_5xx, 5));
    let gateway = outlier.enforcing_consecutive_gateway_failure == Some(100);
    let by_gateway = gateway.then(|| number(&outlier.consecutive_gateway_failure, 5));
    let local = outlier.enforcing_consecutive_local_origin_failure != Some(0);
    let by_connect = match outlier.split_external_local {
        true => local.then(|| number(&outlier.consecutive_local_origin_failure, 5)),
        // Without the split a failed connect counts as a 5xx and as a gateway error.
        false => by_5xx.into_iter().chain(by_gateway).min(),
    };
    let all = [
        (by_connect, "failed connects"),
        (by_5xx.filter(|_| http), "5xx"),
        (by_gateway.filter(|_| http), "gateway errors"),
    ];
    let counts: Vec<String> = all
        .into_iter()
        .filter_map(|(count, what)| Some(format!("{} {what}", count?)))
        .collect();
    let time = outlier
        .base_ejection_ms
        .as_ref()
        .map_or(30_000, |time| time.value);
    let percent = number(&outlier.max_ejection_percent, 10);
    if counts.is_empty() {
        return "set, with every counter switched off".to_owned();
    }
    format!(
        "after {} in a row, for {}, at most {percent} % of the hosts",
        counts.join(" or "),
        span_of_time(time)
    )
}

fn tls(out: &mut String, cluster: &ClusterFacts, columns: &Columns<'_>) {
    let text = match &cluster.tls.value {
        None => "none: sent as it comes".to_owned(),
        Some(TlsFacts::Auto { .. }) => {
            "mutual TLS of the mesh, where the endpoint has it".to_owned()
        }
        Some(TlsFacts::Explicit(tls)) => {
            let sni = match &tls.sni {
                Some(sni) => format!(", SNI {}", sni.value),
                None if cluster.auto_sni => ", SNI from the Host header".to_owned(),
                None => ", no SNI".to_owned(),
            };
            let names = match tls.sans.value.as_slice() {
                [] if cluster.auto_san => ", name checked against the Host header".to_owned(),
                [] => ", certificate's name not checked".to_owned(),
                names => format!(", certificate for {}", names.join(" or ")),
            };
            format!("{}{sni}{names}", tls.mode.value)
        }
    };
    columns.row(out, &Row::new("tls", text, &cluster.tls.because));
}

fn maybe_time(out: &mut String, columns: &Columns<'_>, name: &str, time: Option<&Traced<i64>>) {
    if let Some(time) = time {
        columns.row(
            out,
            &Row::new(name, span_of_time(time.value), &time.because),
        );
    }
}
