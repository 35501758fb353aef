//! Writes a report to a writer in one format. Every writer is pure: report and texts in, bytes out.

mod concise;
mod fingerprint;
mod format;
mod github;
mod gitlab;
mod json;
mod junit;
mod link;
mod number;
mod rules;
mod sarif;
mod statistics;
mod text;
mod trace_json;
mod trace_text;
mod visible;

pub use format::{Format, Options, write};
pub use json::report_schema;
pub use link::rule_page;
pub use number::number;
pub use rules::{rules_schema, write_rules};
pub use trace_json::{Traced, trace_schema, write_paths_json, write_trace};
pub use trace_text::{WIDEST_TRACE, write_paths};
pub use visible::visible;
