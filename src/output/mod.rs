//! Writes a report to a writer in one format. Every writer is pure: report and texts in, bytes out.

mod format;
mod json;
mod link;

pub use format::{Format, Options, write};
pub use link::rule_page;
