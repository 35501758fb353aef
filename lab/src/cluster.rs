//! What `trace` says of a cluster, as Envoy's.

use std::net::Ipv4Addr;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::bootstrap::{Places, duration, set, socket};
use crate::origination::transport_socket;

/// No limit, as Istio writes it where none is set.
const MOST: u32 = u32::MAX;

pub(crate) fn cluster(name: &str, facts: &Value, places: Places<'_>) -> anyhow::Result<Value> {
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
        "load_assignment": {"cluster_name": name, "endpoints": endpoints(facts, places)?},
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
                "resolvers": [socket(places.dns)],
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
    if let Some(tls) = transport_socket(facts, places.authorities)? {
        cluster["transport_socket"] = tls;
    }
    cluster["typed_extension_protocol_options"] = json!({
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol_options(facts),
    });
    Ok(cluster)
}

fn endpoints(facts: &Value, places: Places<'_>) -> anyhow::Result<Vec<Value>> {
    let endpoints = facts["endpoints"].as_array().context("no endpoints")?;
    if endpoints.is_empty() {
        // Pods of a Service of the mesh are in no manifest: there is only the egress gateway.
        let pod = json!({"address": socket(places.gateway)});
        return Ok(vec![json!({"lb_endpoints": [{"endpoint": pod}]})]);
    }
    let each = endpoints.iter().map(|endpoint| {
        let address = endpoint["address"].as_str().context("no address")?;
        let address = match address.parse::<Ipv4Addr>() {
            Ok(documented) => places.block.address_of(documented).to_string(),
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
    let same = [
        "consecutive_5xx",
        "enforcing_consecutive_5xx",
        "consecutive_gateway_failure",
        "enforcing_consecutive_gateway_failure",
        "consecutive_local_origin_failure",
        "enforcing_consecutive_local_origin_failure",
        "enforcing_success_rate",
        "max_ejection_percent",
    ];
    set(&mut outlier, same.map(|name| (name, facts[name].clone())));
    let known = [
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
        "upstream_http_protocol_options": {
            "auto_sni": facts["auto_sni"],
            "auto_san_validation": facts["auto_san"],
        },
    })
}
