//! The diagnostics that no rule file declares, because they are about the text, the configuration or the run itself.

use crate::diag::{Fixable, RuleInfo, Severity};

const fn built_in(name: &'static str, severity: Severity, summary: &'static str) -> RuleInfo {
    RuleInfo {
        name,
        summary,
        severity,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: "",
    }
}

/// By name.
pub const BUILT_IN: &[RuleInfo] = &[
    built_in(
        "config",
        Severity::Error,
        "the configuration says something that cannot be meant",
    ),
    built_in(
        "duplicate-resource",
        Severity::Warning,
        "one resource is defined twice in a file or a kustomization",
    ),
    built_in(
        "internal",
        Severity::Error,
        "a rule failed: a fault of egress-lint itself",
    ),
    built_in(
        "refused",
        Severity::Error,
        "the API server or Istio's webhook refuses the resource",
    ),
    built_in(
        "unknown-field",
        Severity::Error,
        "a field that the API server does not know",
    ),
    built_in(
        "unused-ignore",
        Severity::Warning,
        "a silencer that silences nothing",
    ),
    built_in(
        "yaml-syntax",
        Severity::Error,
        "the file is not what Kubernetes reads as YAML",
    ),
];

pub fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|rule| rule.name == name)
}
