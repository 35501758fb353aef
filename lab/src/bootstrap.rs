//! What `trace` says of a call, as Envoy's bootstrap configuration: the cluster and the route that Istio would hand over.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::bench::Block;
use crate::cluster::cluster;
use crate::origination;

/// Where what `trace` names lies on the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) block: Block,
    pub(crate) dns: SocketAddr,
    /// The file with the authorities that the system trusts.
    pub(crate) authorities: &'a Path,
    /// The pod of the egress gateway.
    pub(crate) gateway: SocketAddr,
}

/// A listener of a proxy, with what stands behind it.
pub(crate) struct Way {
    pub(crate) listener: Value,
    pub(crate) cluster: Value,
}

/// From a result of `trace --format json`, or one of its hops: what comes in at `entry` goes that way.
pub(crate) fn way(result: &Value, entry: SocketAddr, places: Places<'_>) -> anyhow::Result<Way> {
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
        cluster: cluster(&cluster_name, facts, places)?,
    })
}

/// The name under which a cluster has its statistics here.
pub(crate) fn stat_name(cluster: &str) -> String {
    cluster.replace(['|', '.'], "_")
}

pub(crate) fn bootstrap(
    admin: SocketAddr,
    listeners: Vec<Value>,
    mut clusters: Vec<Value>,
) -> Value {
    clusters.push(origination::agent());
    json!({
        "node": {"id": "lab", "cluster": "lab"},
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
    let mut filter = connection_manager("AUTO", vec![router()], route);
    // Before what Envoy says of a failure, why.
    filter["typed_config"]["local_reply_config"] = json!({
        "body_format": {"text_format_source": {"inline_string": "%RESPONSE_FLAGS% %LOCAL_REPLY_BODY%"}},
    });
    filter
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

/// Sets what is known; the rest is left to Envoy.
pub(crate) fn set<const N: usize>(config: &mut Value, known: [(&str, Value); N]) {
    for (name, value) in known {
        if !value.is_null() {
            config[name] = value;
        }
    }
}

/// Milliseconds as Envoy reads a duration; nothing of nothing.
pub(crate) fn duration(millis: &Value) -> Value {
    match millis.as_i64() {
        Some(millis) => json!(format!("{}.{:03}s", millis / 1000, millis % 1000)),
        None => Value::Null,
    }
}

pub(crate) fn socket(at: SocketAddr) -> Value {
    json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}})
}
