//! The trace that programs read.

mod because;
mod cluster;
mod result;

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::egress::call::Call;
use crate::egress::facts::{CallResult, ClusterFacts};
use crate::source::Sources;

/// One call, what becomes of it, and the clusters it may go to: none where the proxy has no such cluster.
#[derive(Debug)]
pub struct Traced<'t> {
    pub call: &'t Call,
    pub result: CallResult,
    pub clusters: Vec<(String, Option<ClusterFacts>)>,
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
