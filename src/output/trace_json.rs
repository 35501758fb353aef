//! The trace that programs read.

mod because;
mod cluster;
mod forecast;
mod result;

use std::io::{self, Write};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::egress::call::Call;
use crate::egress::facts::{CallResult, ClusterFacts};
use crate::egress::forecast::Outlook;
use crate::egress::path::Hop;
use crate::source::Sources;

/// One call, what becomes of it, and the clusters it may go to: none where the proxy has no such cluster.
#[derive(Debug)]
pub struct Traced<'t> {
    pub call: &'t Call,
    pub result: Arc<CallResult>,
    pub clusters: Vec<(String, Option<Arc<ClusterFacts>>)>,
}

impl<'t> Traced<'t> {
    pub fn new(
        call: &'t Call,
        result: CallResult,
        clusters: Vec<(String, Option<ClusterFacts>)>,
    ) -> Self {
        let clusters = clusters.into_iter();
        Self {
            call,
            result: Arc::new(result),
            clusters: clusters
                .map(|(name, facts)| (name, facts.map(Arc::new)))
                .collect(),
        }
    }
}

/// What becomes of calls.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "egress-lint trace")]
struct JsonTrace<'t> {
    /// The version of this format.
    schema: u32,
    /// In the order of the calls.
    results: Vec<result::JsonResult<'t>>,
}

/// JSON Schema of the trace.
pub fn trace_schema() -> serde_json::Value {
    schemars::schema_for!(JsonTrace).to_value()
}

/// Writes the answers to calls.
pub fn write_trace(
    traces: &[Traced<'_>],
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let whole = JsonTrace {
        schema: 1,
        results: traces
            .iter()
            .map(|trace| result::JsonResult::new(trace, sources))
            .collect(),
    };
    serde_json::to_writer(&mut *out, &whole)?;
    writeln!(out)
}

/// The ways to destinations.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "egress-lint trace of paths")]
struct JsonPaths<'t> {
    /// The version of this format.
    schema: u32,
    /// What becomes of the client's call at its own proxy, and from there on.
    results: Vec<JsonPath<'t>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Path")]
struct JsonPath<'t> {
    #[serde(flatten)]
    first: result::JsonResult<'t>,
    /// What becomes of it at the gateways after that.
    hops: Vec<result::JsonResult<'t>>,
    /// What follows at the three events; empty where the way does not end at the host.
    forecast: Vec<forecast::JsonEvent<'t>>,
}

/// Writes the ways to destinations, hop by hop, with what follows.
pub fn write_paths_json(
    outlooks: &[Outlook<'_>],
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let traced: Vec<Vec<Traced<'_>>> = outlooks
        .iter()
        .map(|outlook| outlook.path.hops.iter().map(of_hop).collect())
        .collect();
    let results = outlooks.iter().zip(&traced).filter_map(|(outlook, hops)| {
        let (first, later) = hops.split_first()?;
        let json = |trace| result::JsonResult::new(trace, sources);
        let forecast = outlook.forecast.as_ref();
        Some(JsonPath {
            first: json(first),
            hops: later.iter().map(json).collect(),
            forecast: forecast.map_or_else(Vec::new, |it| forecast::events(it, sources)),
        })
    });
    let whole = JsonPaths {
        schema: 1,
        results: results.collect(),
    };
    serde_json::to_writer(&mut *out, &whole)?;
    writeln!(out)
}

fn of_hop(hop: &Hop) -> Traced<'_> {
    let name = hop.cluster_name().filter(|it| it.starts_with("outbound|"));
    Traced {
        call: &hop.call,
        result: Arc::clone(&hop.result),
        clusters: name
            .map(|name| (name.to_owned(), hop.cluster.clone()))
            .into_iter()
            .collect(),
    }
}
