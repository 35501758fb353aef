//! The rules, for programs: `rules --format json` and `explain --format json`.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::link;
use crate::diag::{Fixable, RuleInfo, Severity};

/// The rules that there are.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "egress-lint rules")]
struct Rules<'r> {
    /// The version of this format.
    schema: u32,
    /// By name.
    rules: Vec<Rule<'r>>,
}

#[derive(Serialize, JsonSchema)]
struct Rule<'r> {
    name: &'r str,
    /// The level of what the files prove.
    level: Severity,
    /// Whether its findings carry a fix.
    fix: Fixable,
    /// The version of egress-lint that brought it.
    since: &'r str,
    /// One line.
    summary: &'r str,
    /// Its page on the web.
    url: String,
    /// Its page, Markdown; only `explain` shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'r str>,
}

/// JSON Schema of what [`write_rules`] writes.
pub fn rules_schema() -> serde_json::Value {
    schemars::schema_for!(Rules<'_>).to_value()
}

/// Writes what there is to know about the rules, with their pages or without.
///
/// # Errors
/// The writer fails.
pub fn write_rules(rules: &[RuleInfo], pages: bool, out: &mut dyn Write) -> io::Result<()> {
    let rules = rules.iter().map(|rule| Rule {
        name: rule.name,
        level: rule.severity,
        fix: rule.fixable,
        since: rule.since,
        summary: rule.summary,
        url: link::rule_page(rule.name),
        page: pages.then_some(rule.page),
    });
    let all = Rules {
        schema: 1,
        rules: rules.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}
