//! What becomes of one call.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Traced;
use super::because::{JsonBecause, Reasons};
use super::cluster::JsonCluster;
use crate::egress::call::Call;
use crate::egress::client::ProxyKind;
use crate::egress::facts::{
    CallError, Handler, Outcome, RetryPolicy, RouteFacts, Speaks, TcpFacts,
};
use crate::source::Sources;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub(super) struct JsonResult<'t> {
    call: JsonCall<'t>,
    outcome: Outcome,
    /// Why there is none.
    error: Option<CallError>,
    /// Of an answer that the proxy gives itself.
    status: Option<u32>,
    /// Which part of Envoy handles it; null where none does.
    handler: Option<Handler>,
    /// Which requests go this way, in words; null where all of them do.
    when: Option<&'t str>,
    clusters: Vec<JsonWeighted<'t>>,
    route: Option<JsonRoute<'t>>,
    tcp: Option<JsonTcp>,
    /// Null: the route names a cluster that does not exist, so requests fail.
    cluster_facts: BTreeMap<&'t str, Option<JsonCluster<'t>>>,
    because: Vec<JsonBecause>,
}

/// As it was given.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Call")]
struct JsonCall<'t> {
    client: JsonClient<'t>,
    host: &'t str,
    port: u32,
    protocol: Speaks,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'t str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Client")]
struct JsonClient<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<BTreeMap<&'t str, &'t str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WeightedCluster")]
struct JsonWeighted<'t> {
    name: &'t str,
    weight: u32,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Route")]
struct JsonRoute<'t> {
    /// 0: none.
    timeout_ms: i64,
    /// Null: nothing is retried.
    retry: Option<JsonRetry<'t>>,
    /// `auto`, or `literal:…`.
    host_rewrite: Option<&'t str>,
    prefix_rewrite: Option<&'t str>,
    mirrors: Vec<&'t str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Retry")]
struct JsonRetry<'t> {
    attempts: u32,
    retry_on: &'t [Cow<'static, str>],
    retriable_status_codes: &'t [u32],
    per_try_timeout_ms: Option<i64>,
    base_interval_ms: Option<i64>,
    /// A retry avoids the hosts that were tried.
    previous_hosts: bool,
    host_selection_attempts: Option<u32>,
    ignore_previous_localities: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tcp")]
struct JsonTcp {
    idle_timeout_ms: Option<i64>,
    max_connection_duration_ms: Option<i64>,
}

impl<'t> JsonResult<'t> {
    pub(super) fn new(trace: &'t Traced<'t>, sources: &Sources) -> Self {
        let mut why = Reasons::new(sources);
        let result = &trace.result;
        let outcome = *why.take("outcome", &result.outcome);
        for line in &result.handler_lines {
            why.line("handler", *line);
        }
        let when = why.maybe("when", &result.when).map(String::as_str);
        let mut clusters = Vec::new();
        for (at, cluster) in result.clusters.iter().enumerate() {
            clusters.push(JsonWeighted {
                name: why
                    .take(&format!("clusters[{at}].name"), &cluster.name)
                    .as_str(),
                weight: *why.take(&format!("clusters[{at}].weight"), &cluster.weight),
            });
        }
        let route = result.route.as_ref();
        let route = route.map(|route| JsonRoute::new(route, &mut why));
        let tcp = result.tcp.as_ref().map(|tcp| JsonTcp::new(tcp, &mut why));
        let mut cluster_facts = BTreeMap::new();
        for (name, facts) in &trace.clusters {
            let is = |cluster: &&JsonWeighted<'_>| cluster.name == name;
            let place = match clusters.iter().position(|cluster| is(&cluster)) {
                Some(at) => format!("clusters[{at}]"),
                None => format!("cluster_facts[\"{name}\"]"),
            };
            let facts = facts
                .as_ref()
                .map(|facts| JsonCluster::new(facts, &place, &mut why));
            cluster_facts.insert(name.as_str(), facts);
        }
        Self {
            call: JsonCall::new(trace.call),
            outcome,
            error: result.error,
            status: result.status,
            handler: result.handler,
            when,
            clusters,
            route,
            tcp,
            cluster_facts,
            because: why.into_list(),
        }
    }
}

impl<'t> JsonCall<'t> {
    fn new(call: &'t Call) -> Self {
        let labels = call.client.labels.iter();
        Self {
            client: JsonClient {
                namespace: call.client.namespace(),
                labels: (!call.client.labels.is_empty())
                    .then(|| labels.map(|(k, v)| (k.as_str(), v.as_str())).collect()),
                proxy: (call.client.proxy == ProxyKind::Gateway).then_some("gateway"),
            },
            host: &call.host,
            port: call.port,
            protocol: call.speaks,
            address: call.address.map(|address| address.to_string()),
            path: call.path.as_deref(),
        }
    }
}

impl<'t> JsonRoute<'t> {
    fn new(route: &'t RouteFacts, why: &mut Reasons<'_>) -> Self {
        let mut mirrors = Vec::new();
        for (at, mirror) in route.mirrors.iter().enumerate() {
            mirrors.push(why.take(&format!("route.mirrors[{at}]"), mirror).as_str());
        }
        Self {
            timeout_ms: *why.take("route.timeout_ms", &route.timeout_ms),
            retry: why
                .take("route.retry", &route.retry)
                .as_ref()
                .map(|retry| JsonRetry::new(retry, why)),
            host_rewrite: why
                .maybe("route.host_rewrite", &route.host_rewrite)
                .map(String::as_str),
            prefix_rewrite: why
                .maybe("route.prefix_rewrite", &route.prefix_rewrite)
                .map(String::as_str),
            mirrors,
        }
    }
}

impl<'t> JsonRetry<'t> {
    fn new(retry: &'t RetryPolicy, why: &mut Reasons<'_>) -> Self {
        let per_try = &retry.per_try_timeout_ms;
        let interval = &retry.base_interval_ms;
        Self {
            attempts: *why.take("route.retry.attempts", &retry.attempts),
            retry_on: why.take("route.retry.retry_on", &retry.retry_on).as_ref(),
            retriable_status_codes: &retry.retriable_status_codes,
            per_try_timeout_ms: why
                .maybe("route.retry.per_try_timeout_ms", per_try)
                .copied(),
            base_interval_ms: why.maybe("route.retry.base_interval_ms", interval).copied(),
            previous_hosts: retry.previous_hosts,
            host_selection_attempts: retry.host_selection_attempts,
            ignore_previous_localities: retry.ignore_previous_localities,
        }
    }
}

impl JsonTcp {
    fn new(tcp: &TcpFacts, why: &mut Reasons<'_>) -> Self {
        let duration = &tcp.max_connection_duration_ms;
        Self {
            idle_timeout_ms: why
                .maybe("tcp.idle_timeout_ms", &tcp.idle_timeout_ms)
                .copied(),
            max_connection_duration_ms: why
                .maybe("tcp.max_connection_duration_ms", duration)
                .copied(),
        }
    }
}
