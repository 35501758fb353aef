//! What `trace` says of a call, as Envoy's bootstrap configuration: the cluster and the route that Istio would hand over.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::bench::Block;

/// No limit, as Istio writes it where none is set.
const MOST: u32 = u32::MAX;

/// A listener of the sidecar, with what stands behind it.
pub(crate) struct Way {
    pub(crate) listener: Value,
    pub(crate) cluster: Value,
}

/// From a result of `trace --format json`: what comes in at `entry` goes that way.
pub(crate) fn way(
    result: &Value,
    entry: SocketAddr,
    block: Block,
    dns: SocketAddr,
) -> anyhow::Result<Way> {
    let name = result["clusters"][0]["name"].as_str();
    let name = name.with_context(|| format!("the call goes nowhere: {result}"))?;
    let facts = &result["cluster_facts"][name];
    // Statistics have the alternative name, and a `.` would end it.
    let cluster_name = stat_name(name);
    let filter = match result["handler"].as_str() {
        Some("http") => http_filter(&cluster_name, &result["route"]),
        Some("tcp") => tcp_filter(&cluster_name, &result["tcp"]),
        other => bail!("nothing handles the call: {other:?}"),
    };
    Ok(Way {
        listener: listener(&format!("to {name}"), entry, filter),
        cluster: cluster(&cluster_name, facts, block, dns)?,
    })
}

/// The name under which a cluster has its statistics here.
pub(crate) fn stat_name(cluster: &str) -> String {
    cluster.replace(['|', '.'], "_")
}

pub(crate) fn bootstrap(admin: SocketAddr, listeners: Vec<Value>, clusters: Vec<Value>) -> Value {
    json!({
        "admin": {"address": socket(admin)},
        "static_resources": {"listeners": listeners, "clusters": clusters},
    })
}

/// A server that answers every request with its name, as late as the request asks for. It knows one version of HTTP.
pub(crate) fn server(at: SocketAddr, name: &str, http2: bool) -> Value {
    let fault = json!({
        "name": "envoy.filters.http.fault",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
            "delay": {"header_delay": {}, "percentage": {"numerator": 100}},
        },
    });
    let route = json!({
        "match": {"prefix": "/"},
        "direct_response": {"status": 200, "body": {"inline_string": name}},
    });
    let codec = if http2 { "HTTP2" } else { "HTTP1" };
    listener(
        name,
        at,
        connection_manager(codec, vec![fault, router()], route),
    )
}

fn listener(name: &str, at: SocketAddr, filter: Value) -> Value {
    json!({
        "name": name,
        "address": socket(at),
        "filter_chains": [{"filters": [filter]}],
    })
}

fn connection_manager(codec: &str, filters: Vec<Value>, route: Value) -> Value {
    json!({
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "stat_prefix": "http",
            "codec_type": codec,
            "http_filters": filters,
            "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
        },
    })
}

fn router() -> Value {
    json!({
        "name": "envoy.filters.http.router",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"},
    })
}

fn http_filter(cluster: &str, route: &Value) -> Value {
    let mut action = json!({"cluster": cluster, "timeout": duration(&route["timeout_ms"])});
    if let Some(retry) = route["retry"].as_object() {
        action["retry_policy"] = retry_policy(retry);
    }
    let route = json!({"match": {"prefix": "/"}, "route": action});
    connection_manager("AUTO", vec![router()], route)
}

fn retry_policy(retry: &Map<String, Value>) -> Value {
    let on = retry["retry_on"].as_array();
    let on = on.into_iter().flatten().filter_map(Value::as_str);
    let mut policy = json!({
        "num_retries": retry["attempts"],
        "retry_on": on.collect::<Vec<_>>().join(","),
        "retriable_status_codes": retry["retriable_status_codes"],
    });
    if retry["previous_hosts"] == true {
        policy["retry_host_predicate"] = json!([{
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
            },
        }]);
    }
    let known = [
        (
            "host_selection_retry_max_attempts",
            retry["host_selection_attempts"].clone(),
        ),
        ("per_try_timeout", duration(&retry["per_try_timeout_ms"])),
    ];
    set(&mut policy, known);
    policy
}

fn tcp_filter(cluster: &str, facts: &Value) -> Value {
    let mut config = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        "stat_prefix": "tcp",
        "cluster": cluster,
    });
    let known = [
        ("idle_timeout", duration(&facts["idle_timeout_ms"])),
        (
            "max_downstream_connection_duration",
            duration(&facts["max_connection_duration_ms"]),
        ),
    ];
    set(&mut config, known);
    json!({"name": "envoy.filters.network.tcp_proxy", "typed_config": config})
}

fn cluster(name: &str, facts: &Value, block: Block, dns: SocketAddr) -> anyhow::Result<Value> {
    if !facts["tls"].is_null() {
        bail!("nothing here speaks TLS");
    }
    let kind = match facts["type"].as_str() {
        // The control plane that would hand over the endpoints is not here.
        Some("EDS" | "STATIC") => "STATIC",
        Some(dns @ ("STRICT_DNS" | "LOGICAL_DNS")) => dns,
        other => bail!("a cluster of type {other:?} cannot be measured here"),
    };
    let mut cluster = json!({
        "name": name,
        "type": kind,
        "connect_timeout": duration(&facts["connect_timeout_ms"]),
        "lb_policy": facts["lb_policy"],
        "load_assignment": {"cluster_name": name, "endpoints": endpoints(facts, block)?},
        "circuit_breakers": {"thresholds": [{
            "max_connections": MOST, "max_pending_requests": MOST, "max_requests": MOST, "max_retries": MOST,
        }]},
    });
    if kind != "STATIC" {
        let of_dns = &facts["dns"];
        cluster["dns_refresh_rate"] = duration(&of_dns["refresh_rate_ms"]);
        cluster["respect_dns_ttl"] = of_dns["respect_ttl"].clone();
        cluster["dns_lookup_family"] = of_dns["family"].clone();
        cluster["dns_jitter"] = json!("0.1s");
        cluster["typed_dns_resolver_config"] = json!({
            "name": "envoy.network.dns_resolver.cares",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
                "resolvers": [socket(dns)],
                "udp_max_queries": 100,
            },
        });
    }
    if facts["outlier"].is_object() {
        cluster["outlier_detection"] = outlier_detection(&facts["outlier"]);
    }
    if let Some(percent) = facts["panic_threshold_percent"].as_u64() {
        cluster["common_lb_config"] = json!({"healthy_panic_threshold": {"value": percent}});
    }
    if facts["tcp_keepalive"].is_object() {
        cluster["upstream_connection_options"] =
            json!({"tcp_keepalive": keepalive(&facts["tcp_keepalive"])});
    }
    cluster["typed_extension_protocol_options"] = json!({
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol_options(facts),
    });
    Ok(cluster)
}

fn endpoints(facts: &Value, block: Block) -> anyhow::Result<Vec<Value>> {
    let endpoints = facts["endpoints"].as_array().context("no endpoints")?;
    let each = endpoints.iter().map(|endpoint| {
        let address = endpoint["address"].as_str().context("no address")?;
        let address = match address.parse::<Ipv4Addr>() {
            Ok(documented) => block.address_of(documented).to_string(),
            Err(_) => address.to_owned(),
        };
        let socket = json!({"address": address, "port_value": endpoint["port"]});
        Ok(json!({
            "priority": endpoint["priority"],
            "lb_endpoints": [{"endpoint": {"address": {"socket_address": socket}}}],
        }))
    });
    each.collect()
}

fn outlier_detection(facts: &Value) -> Value {
    let mut outlier = json!({
        "split_external_local_origin_errors": facts["split_external_local"],
    });
    let known = [
        ("consecutive_5xx", facts["consecutive_5xx"].clone()),
        (
            "enforcing_consecutive_5xx",
            facts["enforcing_consecutive_5xx"].clone(),
        ),
        (
            "consecutive_gateway_failure",
            facts["consecutive_gateway_failure"].clone(),
        ),
        (
            "enforcing_consecutive_gateway_failure",
            facts["enforcing_consecutive_gateway_failure"].clone(),
        ),
        (
            "consecutive_local_origin_failure",
            facts["consecutive_local_origin_failure"].clone(),
        ),
        (
            "enforcing_consecutive_local_origin_failure",
            facts["enforcing_consecutive_local_origin_failure"].clone(),
        ),
        (
            "enforcing_success_rate",
            facts["enforcing_success_rate"].clone(),
        ),
        (
            "max_ejection_percent",
            facts["max_ejection_percent"].clone(),
        ),
        ("interval", duration(&facts["interval_ms"])),
        ("base_ejection_time", duration(&facts["base_ejection_ms"])),
    ];
    set(&mut outlier, known);
    outlier
}

fn keepalive(facts: &Value) -> Value {
    let mut keepalive = json!({});
    let known = [
        ("keepalive_time", facts["time_s"].clone()),
        ("keepalive_interval", facts["interval_s"].clone()),
        ("keepalive_probes", facts["probes"].clone()),
    ];
    set(&mut keepalive, known);
    keepalive
}

fn protocol_options(facts: &Value) -> Value {
    let protocol = match facts["http2"] == true {
        true => "http2_protocol_options",
        false => "http_protocol_options",
    };
    let mut common = json!({});
    let known = [
        ("idle_timeout", duration(&facts["http_idle_timeout_ms"])),
        (
            "max_connection_duration",
            duration(&facts["max_connection_duration_ms"]),
        ),
        (
            "max_requests_per_connection",
            facts["max_requests_per_connection"].clone(),
        ),
    ];
    set(&mut common, known);
    json!({
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {protocol: {}},
        "common_http_protocol_options": common,
    })
}

/// Sets what is known; the rest is left to Envoy.
fn set<const N: usize>(config: &mut Value, known: [(&str, Value); N]) {
    for (name, value) in known {
        if !value.is_null() {
            config[name] = value;
        }
    }
}

/// Milliseconds as Envoy reads a duration; nothing of nothing.
fn duration(millis: &Value) -> Value {
    match millis.as_i64() {
        Some(millis) => json!(format!("{}.{:03}s", millis / 1000, millis % 1000)),
        None => Value::Null,
    }
}

fn socket(at: SocketAddr) -> Value {
    json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}})
}
