//! All findings of a run.

use super::{Diagnostic, Severity};

/// Whether a rule's findings carry a fix, where the text allows to change it in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fixable {
    Always,
    Sometimes,
    Never,
}

/// The public facts of a rule: what `rules`, `explain` and every output format know of it.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The level of what the files prove.
    pub severity: Severity,
    pub fixable: Fixable,
    /// The version of egress-lint that brought it.
    pub since: &'static str,
    /// The page, Markdown: `rules/<name>.md`.
    pub page: &'static str,
}

/// The counts that end a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Summary {
    /// Files that were read.
    pub files: usize,
    /// Files and folders that could not be read.
    pub unread: usize,
    pub resources: usize,
    pub errors: usize,
    pub warnings: usize,
    pub advice: usize,
    pub suppressed: usize,
    pub templates: usize,
    pub placeholders: usize,
    pub patches: usize,
    /// Resources that Istio refuses: for the rules they do not exist.
    pub refused: usize,
    /// Resources of Istio's kinds of which nothing is said, such as `AuthorizationPolicy`.
    pub unjudged: usize,
    /// What a baseline has to do with it; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baselined>,
}

/// What became of the findings of a baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Baselined {
    /// Findings that it holds down; they are among the suppressed ones.
    pub known: usize,
    /// Findings that it names and that are no more.
    pub stale: usize,
}

/// What a run found, ordered by (path, start, rule).
#[derive(Debug)]
pub struct Report {
    pub istio_version: String,
    pub diagnostics: Vec<Diagnostic>,
    pub summary: Summary,
    /// The rules that exist, so that printers need not know the registry.
    pub rules: Vec<RuleInfo>,
}

impl Report {
    /// Counts the findings of each level, and those that are silenced.
    pub fn recount(&mut self) {
        let counts = &mut self.summary;
        (counts.errors, counts.warnings, counts.advice) = (0, 0, 0);
        counts.suppressed = 0;
        for finding in &self.diagnostics {
            *match (&finding.extras().suppressed, finding.severity) {
                (Some(_), _) => &mut counts.suppressed,
                (None, Severity::Error) => &mut counts.errors,
                (None, Severity::Warning) => &mut counts.warnings,
                (None, Severity::Advice) => &mut counts.advice,
            } += 1;
        }
    }
}
