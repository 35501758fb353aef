//! How many findings there are of each rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::diag::{Report, Severity};
use crate::source::FileId;

/// The findings of one rule, counted.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "RuleCounts")]
pub(super) struct Counts {
    rule: &'static str,
    errors: usize,
    warnings: usize,
    advice: usize,
    /// Those that are silenced; the other numbers leave them out.
    suppressed: usize,
    /// Those with a fix, safe or not.
    fixable: usize,
    /// The files that they lie in.
    files: usize,
}

impl Counts {
    fn findings(&self) -> usize {
        self.errors + self.warnings + self.advice
    }
}

/// One for each rule that found something, the most frequent first.
pub(super) fn count(report: &Report) -> Vec<Counts> {
    let mut rules: BTreeMap<&'static str, (Counts, BTreeSet<FileId>)> = BTreeMap::new();
    for finding in &report.diagnostics {
        let (counts, files) = rules.entry(finding.rule).or_default();
        counts.rule = finding.rule;
        if finding.extras().suppressed.is_some() {
            counts.suppressed += 1;
            continue;
        }
        *match finding.severity {
            Severity::Error => &mut counts.errors,
            Severity::Warning => &mut counts.warnings,
            Severity::Advice => &mut counts.advice,
        } += 1;
        counts.fixable += usize::from(finding.extras().fix.is_some());
        files.insert(finding.span.file);
    }
    let counts = rules.into_values().map(|(counts, files)| Counts {
        files: files.len(),
        ..counts
    });
    let mut all: Vec<Counts> = counts.collect();
    // Stable: rules with as many stay in the order of their names.
    all.sort_by_key(|counts| std::cmp::Reverse(counts.findings()));
    all
}

/// What a column is called, and the number in it.
type Column = (&'static str, fn(&Counts) -> usize);

/// As a table, followed by an empty line; nothing where nothing is found.
pub(super) fn table(report: &Report) -> String {
    let all = count(report);
    let mut columns: Vec<Column> = vec![
        ("errors", |counts| counts.errors),
        ("warnings", |counts| counts.warnings),
        ("advice", |counts| counts.advice),
        ("fixable", |counts| counts.fixable),
        ("files", |counts| counts.files),
    ];
    if all.iter().any(|counts| counts.suppressed > 0) {
        columns.push(("silenced", |counts| counts.suppressed));
    }
    let mut out = String::new();
    if all.is_empty() {
        return out;
    }
    for (name, _) in &columns {
        let _ = write!(out, "{name:>8}  ");
    }
    out.push_str("rule\n");
    for counts in &all {
        for (_, of) in &columns {
            let number = match of(counts) {
                0 => "-".to_owned(),
                number => number.to_string(),
            };
            let _ = write!(out, "{number:>8}  ");
        }
        out.push_str(counts.rule);
        out.push('\n');
    }
    out.push('\n');
    out
}
